"""Busa-Fekete et al. (2021) as printed, against enumeration. Seeded tests fail by chance less than once in 10^6."""

import math
import sys
from dataclasses import replace
from itertools import pairwise, permutations, product
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from companion.printed import Printed
from companion.printed import busafekete2021 as paper
from dprank.audit.exact import privacy_loss
from dprank.data.rankings import Rankings
from dprank.models.mallows import Mallows, theta_at
from dprank.privacy.guarantee import Guarantee
from dprank.privacy.laws import exact
from dprank.uniformity.two_sample import TwoSample

EPSILON, DELTA = 1 / 3, 0.05
ALARM = 1e-6

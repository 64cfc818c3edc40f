"""Every example in a docstring runs and says what it says."""

import doctest
from importlib import import_module
from pkgutil import walk_packages

import pytest

import dprank

MODULES = ["dprank", *(module.name for module in walk_packages(dprank.__path__, "dprank."))]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    failed, _ = doctest.testmod(import_module(name), optionflags=doctest.ELLIPSIS)
    assert not failed

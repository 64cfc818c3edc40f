"""Tidy frame in, picture or table out; one style for the book, and no computing here."""

from companion.figures.slider import probability_slider
from companion.figures.style import Shown, show
from companion.figures.table import table

__all__ = ["Shown", "probability_slider", "show", "table"]

"""Tidy frame in, Matplotlib figure out; one style for the book, and no computing here."""

from companion.figures.style import Shown, show

__all__ = ["Shown", "show"]

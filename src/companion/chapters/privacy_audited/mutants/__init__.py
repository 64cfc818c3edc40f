"""Planted bugs, a module for each family of mechanisms."""

"""Figures of the chapters on Busa-Fekete, Fotakis and Zampetakis (2021), in modules as their experiments."""

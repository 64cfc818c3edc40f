"""Busa-Fekete, Fotakis and Zampetakis (2021): a module for each subject that the chapters compute."""

"""Qiao, Su and Zhang (2021): a module for each subject that the chapters compute."""

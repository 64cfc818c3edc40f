"""Cai, Chakraborty and Wang (2025): a module for each subject that the chapters compute."""

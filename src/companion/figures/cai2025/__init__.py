"""Figures of the chapters on Cai, Chakraborty and Wang (2025), in modules as their experiments."""

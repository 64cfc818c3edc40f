"""Figures of Qiao, Su and Zhang (2021)."""

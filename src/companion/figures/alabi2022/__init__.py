"""Figures of Alabi, Ghazi, Kumar and Manurangsi (2022)."""

"""Alabi, Ghazi, Kumar and Manurangsi (2022): a module for each subject that the chapters compute."""

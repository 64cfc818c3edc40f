"""Differentially private ranking: data types, models, mechanisms whose guarantees are derived, and an auditor."""

"""Private selection of the top k (Qiao, Su and Zhang 2021)."""

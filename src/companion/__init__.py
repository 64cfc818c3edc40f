"""The book's own code: its ledger of claims, its experiments and figures, and the press that builds it."""

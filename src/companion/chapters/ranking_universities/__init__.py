"""Chapter 1, Ranking universities: a module a section, with its frames, its figures and its claims."""

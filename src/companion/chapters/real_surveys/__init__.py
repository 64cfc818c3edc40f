"""Chapter 4, Real surveys: a module a section, with its frames, its figures and its claims."""

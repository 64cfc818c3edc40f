"""Chapter 5, Testing uniformity: a module a section, with its frames, its figures and its claims."""

"""Chapter 6, Private uniformity: a module a section, with its frames, its figures and its claims."""

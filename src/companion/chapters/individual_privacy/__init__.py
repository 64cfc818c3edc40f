"""Chapter 3, Individual privacy: a module a section, with its frames, its figures and its claims."""

"""Chapter 2, Edge privacy: a module a section, with its frames, its figures and its claims."""

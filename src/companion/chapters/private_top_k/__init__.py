"""Chapter 7, Private top k: a module a section, with its frames, its figures and its claims."""

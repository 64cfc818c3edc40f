"""Chapter 10, Lower bounds for aggregation: a module a section, with its frames, its figures and its claims."""

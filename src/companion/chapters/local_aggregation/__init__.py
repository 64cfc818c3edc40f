"""Chapter 10, Local aggregation: a module a section, with its frames, its figures and its claims."""

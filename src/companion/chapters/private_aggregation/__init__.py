"""Chapter 9, Private aggregation: a module a section, with its frames, its figures and its claims."""

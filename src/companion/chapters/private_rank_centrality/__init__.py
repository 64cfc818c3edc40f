"""Chapter 8, Private rank centrality: a module a section, with its frames, its figures and its claims."""

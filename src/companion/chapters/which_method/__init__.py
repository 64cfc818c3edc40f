"""Chapter 13, Which method: a module a section, with its frames, its figures and its claims."""

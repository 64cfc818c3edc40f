"""Chapter 11, Privacy, audited: a module a section, with its frames, its figures and its claims."""

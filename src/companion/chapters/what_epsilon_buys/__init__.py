"""Chapter 16, What does epsilon buy: a module a section, with its frames and its figures."""

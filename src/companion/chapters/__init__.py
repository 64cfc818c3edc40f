"""A package a chapter, a module a section: frames, figures and claims together."""

"""Chapter 17, Better than printed: a module a family, with its gains; all of them in one table and one picture."""

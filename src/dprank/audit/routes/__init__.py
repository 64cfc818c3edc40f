"""How each family of mechanisms is audited: exact laws, many releases at once, and the worst neighbours known."""

"""What Qiao, Su and Zhang (2021), "Oneshot Differentially Private Top-k Selection", print."""

from exact import Statements

STATEMENTS = Statements()
says = STATEMENTS.says

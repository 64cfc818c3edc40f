"""What Cai, Chakraborty and Wang (2025) print: Sections 3 and 4, Appendix B."""

from exact import Statements

STATEMENTS = Statements()
says = STATEMENTS.says

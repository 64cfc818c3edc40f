"""What Cai, Chakraborty and Wang (2025) print of edge privacy: Section 2 and Appendix A."""

from exact import Statements

STATEMENTS = Statements()
says = STATEMENTS.says

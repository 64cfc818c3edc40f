"""What Busa-Fekete et al. (2021) print of private tests: Sections 5, 6, 7.3 and 8."""

from exact import Statements

STATEMENTS = Statements()
says = STATEMENTS.says

"""What Busa-Fekete et al. (2021) print of private tests: Sections 5, 6, 7.3 and 8."""

from exact import Sides, Statements, exp, rational, whole

STATEMENTS = Statements()
says = STATEMENTS.says


@says("busafekete2021:sec-6:tanh", "(e^γ − 1)/(e^γ + 1) == 2ε₀/m to one part in a thousand, γ = 2ε₀/m")
def _(m, epsilon) -> Sides:
    g = 2 * rational(epsilon, "epsilon") / whole(m, 2, 10**6, "m")
    return abs((exp(g) - 1) / (exp(g) + 1) / g - 1), "<=", rational(1, "") / 1000

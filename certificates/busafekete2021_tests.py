"""What Busa-Fekete et al. (2021) print of the model and of tests without privacy: Sections 3, 4, 7.1 and 7.2."""

from exact import Sides, Statements, mahonian, need, rational, whole

STATEMENTS = Statements()
says = STATEMENTS.says


@says("busafekete2021:eq-z", "Σ p(π) == Π_i Σ_(j ≤ i) φ^j, where p(π) = φ^d(π) / Π_i Σ_(j ≤ i) φ^j")
def _(m, phi) -> Sides:
    m, phi = whole(m, 2, 60, "m"), rational(phi, "phi")
    need(0 < phi < 1, "phi")
    product = 1
    for i in range(m):
        product *= sum(phi**j for j in range(i + 1))
    return sum(n * phi**d for d, n in enumerate(mahonian(m))) / product, "==", product

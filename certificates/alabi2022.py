"""What Alabi, Ghazi, Kumar and Manurangsi (2022), "Private Rank Aggregation in Central and Local Models", print."""

from exact import Sides, Statements, kendall, need, whole

STATEMENTS = Statements()
says = STATEMENTS.says


def words_map(x: list[int], t: int, by_formula: bool = False) -> list[int]:
    """π^x: items j and j + d + t change places where x_j = 1 (by the words) or x_j = −1 (by the formula)."""
    d = len(x)
    order = list(range(2 * d + t))
    for j, sign in enumerate(x):
        if (sign == 1) != by_formula:
            order[j], order[j + d + t] = order[j + d + t], order[j]
    return order


def signs(x: list[int]) -> list[int]:
    need(isinstance(x, list) and 0 < len(x) <= 30 and all(it in (-1, 1) for it in x), "x must hold signs")
    return x


@says("alabi2022:obs-16", "K(π^y, π^x) <= t (d/2 − ⟨y, x⟩/2) + 2 d²")
def _(x: list[int], y: list[int], t: int) -> Sides:
    d, t = len(signs(x)), whole(t, 1, 1000, "t")
    need(len(signs(y)) == d, "x and y must be of one length")
    inner = sum(a * b for a, b in zip(x, y, strict=True))
    return kendall(words_map(y, t), words_map(x, t)), "<=", t * (d - inner) // 2 + 2 * d**2

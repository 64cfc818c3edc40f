from math import exp, log, prod, sqrt
c, eps, a = 100, 0.9, 0.9 / (8 * 1.001)  # a: one win, in noise scales
for n in 10, 100, 1000:
    gap = c * (sqrt(log(n) / n) + log(n) / (n * eps))
    wins = [1 / (1 + exp(-j * gap)) for j in range(1, n)]
    swap = prod(wins) * prod(wins[:-1]) * exp(-a) * (1 + a / 2) / 2
    print(f"{n} items: P(first two exchanged) >= {swap:.3f} > n⁻⁵")
    assert swap > n**-5

from math import exp, expm1, log, sqrt
m, k, mu, delta, eps0 = 1000, 1089, 0.1, 0.05, 1 / 3
def accepts(s):  # at least; s: how far one ranking leads its reverse
    p = 8 * (s**2 / k - 1) / (mu**2 * (k - 1))
    over = (s - sqrt(2 * k * log(2 / delta) / m)) * delta * eps0 / 4
    # the coin of line 4; then p, less what line 10 can reject (expm1)
    return delta / 2 + (1 - delta - delta / 2 * expm1(over)) * p
print(f"{accepts(35):.4f} > {exp(eps0):.2f} × {accepts(33):.4f}")
assert accepts(35) > exp(eps0) * accepts(33)

from math import exp, sqrt
eps, kappa1, kappa2, slope = 1 / 2, 1.1, 57, 1 / (2 + exp(2) + exp(-2))
printed = kappa1 / kappa2 * 3 / 4  # E|w₁ + w₂|/2 is 3λ/4
for C in 1, 10, 100:
    m = 10**5 * C**2
    other = (sqrt(m) + 2 / eps) / (4 * m * slope)
    print(f"m = {m:,}: {printed:.4f} > {C} × {other:.6f}")
    assert printed > C * other

from math import comb, log, sqrt
n, eps, kappa1, kappa2 = 10, 1 / 2, 1.1, 57
peak = comb(2 * n - 2, n - 1) / 2 ** (2 * n - 1)  # density of Σw/λ at 0
for C, m in (1, 10**6), (10, 10**8), (100, 10**10):
    error = C * (sqrt(n * log(n) / m) + n * log(n) / (m * eps))
    chance = 2 * peak * n * error * kappa2 / kappa1  # P(|Σw|/γ <= n·error)
    print(f"C = {C}, {m:,} users: {chance:.3f} < {1 - C / n**5}")
    assert chance < 1 - C / n**5

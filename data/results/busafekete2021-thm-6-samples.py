from math import ceil, log, sqrt
m, mu, delta, eps0 = 1000, 0.1, 0.05, 1 / 3
first = (delta**-1.5 / sqrt(m) + delta**-3 / m) / mu**2
second = (log(1 / delta) / (mu**4 * m * (eps0 * delta) ** 2)) ** (1 / 3)
k = ceil(max(first, second, sqrt(log(1 / delta)) / (mu * eps0 * delta)))
accepts = delta / 2 + (1 - delta) * 8 / (sqrt(m) * mu**2 * (k - 1))
print(f"{k} uniform rankings: P(Reject) >= {1 - accepts:.3f} > {delta}")
assert 1 - accepts > delta

from math import ceil, log, sqrt
m, phi = 2, 0.01
mu = (1 - phi ** (m / 8)) / (1 + phi ** (m / 8))
for C, delta in (1, 1e-3), (3, 1e-20), (10, 1e-200):
    k = 1 + ceil(C / mu**2 * sqrt(log(1 / delta) / m))
    power = delta * (2 / (1 + phi)) ** k
    print(f"C = {C}, k = {k}: power <= {power:.2g} < 1 − {delta}")
    assert power < 1 - delta

import numpy as np
u, mu = np.ones(1), []  # u: law of a shuffled ranking's distance
for m in range(1, 101):
    u = np.convolve(u, np.full(m, 1 / m))
    if phi := {10: 0.7819, 30: 0.9527, 100: 0.99198}.get(m):
        p = u * phi ** np.arange(len(u))
        mu.append((1 - phi ** (m / 8)) / (1 + phi ** (m / 8)))
        print(f"m = {m}: distance {abs(p / p.sum() - u).sum() / 2:.3f},",
              f"μ = {mu[-1]:.3f}, 1/(μ²√m) = {mu[-1]**-2 / m**0.5:.1f}")
assert mu[0] > 3 * mu[-1]

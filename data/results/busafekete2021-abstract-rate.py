import numpy as np
u = np.ones(1)  # law of a shuffled ranking's distance from the centre
for m in range(1, 101):
    u = np.convolve(u, np.full(m, 1 / m))
    if phi := {10: 0.78, 40: 0.968, 100: 0.9919}.get(m):
        p = u * phi ** np.arange(len(u))
        p /= p.sum()
        size, power = (np.convolve(law, law).cumsum() for law in (u, p))
        print(f"m = {m}: power {np.interp(0.05, size, power):.3f} < 0.95")
        assert abs(p - u).sum() > 1 and np.interp(0.05, size, power) < 0.95

m, k, mu, delta = 2, 2, 1 / 2, 0.05
def accepts(Y):
    p = min(1, 16 * (Y - m / 2) / (m * mu**2 * (k - 1)))
    return p, delta / 2 + (1 - delta) * max(p, 0)
for rankings, Y in ("opposed", 0), ("the same", 2):
    p, accept = accepts(Y)
    print(f"two rankings, {rankings}: p = {p:g}, P(Accept) = {accept:.3f}")
assert accepts(0)[0] < 0 and accepts(2)[1] > accepts(0)[1]

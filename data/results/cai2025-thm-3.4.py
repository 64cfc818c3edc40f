from math import comb
for n, k, u in (6, 3, 2), (14, 7, 6), (1000, 500, 275):
    sets = sum(comb(k, hit) * comb(n - k, k - hit) for hit in range(k - u))
    failure = sets / comb(n, k)
    print(f"n = {n}, k = {k}, u = {u}: {failure:.5f} < 1/10")
    assert failure < 1 / 10

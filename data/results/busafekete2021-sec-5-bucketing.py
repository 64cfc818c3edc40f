from math import exp, log, sqrt
limit = 1 + 2 * sqrt(2 * log(20))  # UNIF: m = 2, δ = 1/20
def rejects(batches):  # probability, one of three outcomes being returned
    return sum(sum(x) ** 2 / len(x) >= limit for x in batches) / 3
split = [1, 1, 1, -1, -1, -1]
data, other = ([[1, 1, 1, 1, 1, sign], split, split] for sign in (-1, 1))
print(f"{rejects(other):.3f} > e^(1/3) × {rejects(data):g} = 0")
assert rejects(other) > exp(1 / 3) * rejects(data)

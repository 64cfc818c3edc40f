from math import exp
eps, scale = 1, 2
def event(x):  # values x, −x: the first is chosen, its fresh value is <= 0
    chosen = exp(-2 * x / scale) * (1 + x / scale) / 2
    return chosen * exp(-x / scale) / 2
before, after = event(0), event(1)
print(f"{before:.4f} > e^ε × {after:.4f} = {exp(eps) * after:.4f}")
assert before > exp(eps) * after

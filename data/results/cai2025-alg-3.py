from math import exp, log
eps = 1 / 2
def second_ahead(lead):  # of the first count; Laplace(1/ε) noise on both
    return exp(-eps * lead) * (1 + eps * lead / 2) / 2
before, after = second_ahead(2), second_ahead(0)
print(f"{after:.3f} > e^ε × {before:.3f} = {exp(eps) * before:.3f}")
print(f"loss {log(after / before):.3f} > ε = {eps}")
assert after > exp(eps) * before

import numpy as np
eps, t = 1, np.linspace(-50, 50, 400_001)  # t in noise scales: λ = 2k/ε = 4
def below(t):
    return np.where(t < 0, np.exp(-abs(t)), 2 - np.exp(-abs(t))) / 2
def event(x):  # 4x, 4x, −4x, −4x: the first two chosen, fresh values <= 0
    two, rest = below(t - x) ** 2, (1 - below(t + x)) ** 2
    return np.diff(two) @ (rest[1:] + rest[:-1]) / 2 * below(-x) ** 2
before, after = event(0), event(1 / 4)
print(f"{before:.4f} > e^ε × {after:.4f} = {np.exp(eps) * after:.4f}")
assert before > np.exp(eps) * after

import numpy as np
for m, k in (4, 2), (1000, 1000):
    data = np.tile([1, -1], (k, m // 4))  # row: ranking, column: pair
    other = np.vstack([-data[:1], data[1:]])
    Y, Y_other = ((x.sum(0) ** 2).sum() / k for x in (data, other))
    printed = 4 / k * max(abs(x.sum()) for x in (data, other))
    print(f"Y moves by {Y - Y_other:g}; the printed sum is {printed:g}")
    assert Y - Y_other > printed == 0

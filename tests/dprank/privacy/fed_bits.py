"""A uniform number of 200 bits instead of the operating system's, to see on which side of a cut it falls."""

from contextlib import contextmanager
from unittest import mock

import numpy as np

from dprank.privacy import exact

BITS = 200


@contextmanager
def fed(number):
    """All that is drawn are the digits of one number, and zeros behind them."""
    rest = [number]

    def bits(n):
        held = rest[0]
        rest[0] = (held << n) % (1 << BITS)
        return held << n >> BITS

    def words(size, kind):
        assert size <= 1
        drawn = bits(16 if kind is np.uint16 else 48)
        # of 64 bits the last 16 are dropped
        return np.full(size, drawn if kind is np.uint16 else drawn << 16, kind)

    with mock.patch.object(exact, "fair_words", words), mock.patch.object(exact.secrets, "randbits", bits):
        yield


def reached(table, number):
    """What a table draws by that number."""
    with fed(number):
        (drawn,) = table.draw(1).tolist()
    return drawn

"""Shared by the tests of package heddle: networks, devices, and which functions were called."""
import os

import numpy as np
import pytest

import heddle
from heddle import _heddle

DIGITS = os.path.join(os.path.dirname(__file__), "..", "models", "digits")
CALLED = set()


def count(name, function):
    def counted(*args):
        CALLED.add(name)
        return function(*args)
    return counted


def pytest_configure():
    for name in dir(_heddle):
        function = getattr(_heddle, name)
        if not name.startswith("_") and callable(function) and not isinstance(function, type):
            setattr(_heddle, name, count(name, function))


def usable(device):
    return next(row["available"] for row in heddle.devices() if row["device"] == device)


DEVICES = [d for d in ("golden", "cpu", "iss", "rtl") if usable(d)]


@pytest.fixture(scope="session")
def digits():
    return heddle.compile(DIGITS, "tiny")


@pytest.fixture
def image():
    return np.random.default_rng(7).uniform(0, 16, (1, 1, 8, 8)).astype(np.float32)


def conv(graph, x, m, c, k=3, seed=1):
    """A convolution in integers, as the machine computes it."""
    r = np.random.default_rng(seed)
    return graph.qconv(x, r.integers(-128, 127, (m, c, k, k), dtype=np.int8),
                       np.zeros(m, np.int32), np.full(m, 1 / (64 * c * k * k), np.float32),
                       kernel_shape=[k, k], pads=[k // 2] * 4, lo=-128, hi=127)


LONG_SHAPE = (1, 32, 256, 256)


def long_network():
    """One that the ISS of tiny works at for some seconds: 4.8 G MACs, 64 a cycle."""
    g = heddle.Graph("long")
    x = g.input("x", LONG_SHAPE, "i8")
    y = x
    for i in range(8):
        y = conv(g, y, 32, 32, seed=i)
    g.output(y, "y")
    return g

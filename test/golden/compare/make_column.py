#!/usr/bin/env python3
"""A depthwise QLinearConv of a column between two products: line buffers, whose rows every second window makes.

usage: make_column.py OUT.onnx
"""
import os
import random
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from onnx_writer import *  # noqa: E402,F403

INT8, CHANNELS, ROWS, COLUMNS = 3, 64, 39, 5


def main(out):
    rng = random.Random(1)
    scales = [tensor(n, (), struct.pack("<f", v)) for n, v in (("s", 0.02), ("ws", 0.02))]
    constants = [*scales, tensor("z", (), b"\0", INT8)]

    def layer(x, y, group, taps, *attributes):
        inner = CHANNELS // group
        w = bytes(rng.randrange(256) for _ in range(CHANNELS * inner * taps))
        constants.append(tensor(y + ".w", (CHANNELS, inner, taps, 1), w, INT8))
        return node("QLinearConv", [x, "s", "z", y + ".w", "ws", "z", "s", "z"], [y], y, ints("kernel_shape", taps, 1),
                    number("group", group), *attributes)

    layers = [layer("x", "a", 1, 1),
              layer("a", "b", CHANNELS, 2, ints("dilations", 2, 1), ints("pads", 1, 0, 1, 0)),
              layer("b", "y", 1, 1)]
    shape = (1, CHANNELS, ROWS, COLUMNS)
    graph = message(*[(1, n) for n in layers], (2, "g"), *[(5, t) for t in constants],
                    (11, value("x", *shape, type=INT8)), (12, value("y", *shape, type=INT8)))
    with open(out, "wb") as f:
        f.write(message((1, 8), (8, message((1, ""), (2, 13))), (7, graph)))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])

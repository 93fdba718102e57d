#!/usr/bin/env python3
"""A QLinearConv of large dilation between two of one tap, so that its windows are taken apart on the machine.

usage: make_dilated.py CHANNELS ROWS COLUMNS DILATION_Y DILATION_X PAD OUT.onnx
"""
import os
import random
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from onnx_writer import *  # noqa: E402,F403

INT8 = 3


def main(channels, rows, columns, dy, dx, pad, out):
    rng = random.Random(rows)
    consts = [tensor("s", (), struct.pack("<f", 0.02)), tensor("z", (), bytes([-7 & 255]), INT8), tensor("wz", (), b"\0", INT8)]
    size, nodes, x, many = [rows, columns], [], "x", 8
    for i, (n, k, y_scale) in enumerate(((channels, 1, 0.03), (16, 3, 0.2), (8, 1, 0.05))):
        consts.append(tensor(f"w{i}", (n, many, k, k), bytes(rng.randrange(256) for _ in range(n * many * k * k)), INT8))
        consts.append(tensor(f"ys{i}", (), struct.pack("<f", y_scale)))
        window = [ints("kernel_shape", k, k)]
        if k == 3:
            window += [ints("dilations", dy, dx), ints("pads", pad, dx, dy, dx)]
            size[0] += pad + dy - 2 * dy
        nodes.append(node("QLinearConv", [x, "s", "z", f"w{i}", "s", "wz", f"ys{i}", "z"], [f"y{i}"], f"layer{i}", *window))
        x, many = f"y{i}", n
    graph = message(*[(1, n) for n in nodes], (2, "g"), *[(5, t) for t in consts],
                    (11, value("x", 1, 8, rows, columns, type=INT8)), (12, value(x, 1, 8, *size, type=INT8)))
    with open(out, "wb") as f:
        f.write(message((1, 8), (8, message((1, ""), (2, 13))), (7, graph)))


if __name__ == "__main__":
    if len(sys.argv) != 8:
        sys.exit(__doc__)
    main(*map(int, sys.argv[1:7]), sys.argv[7])

#!/usr/bin/env python3
"""A depthwise QLinearConv, stride 2, whose input does not fit on chip: pairs of columns, padding by VX.

usage: make_depthwise.py CHANNELS SIZE TYPE ZERO_POINT KERNEL OUT.onnx      TYPE: int8 or uint8
"""
import os
import random
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from onnx_writer import *  # noqa: E402,F403

INT8, UINT8 = 3, 2


def main(channels, size, kind, zero, kernel, out):
    type = {"int8": INT8, "uint8": UINT8}[kind]
    byte = lambda v: bytes([v & 255])
    rng = random.Random(channels)
    w = bytes(rng.randrange(256) for _ in range(channels * kernel * kernel))
    scales = [tensor(n, (), struct.pack("<f", v)) for n, v in (("s", 0.02), ("ws", 0.02), ("ys", 0.1))]
    zeros = [tensor("z", (), byte(zero), type), tensor("wz", (), b"\0", INT8), tensor("yz", (), byte(3), type)]
    weights = tensor("w", (channels, 1, kernel, kernel), w, INT8)
    conv = node("QLinearConv", ["x", "s", "z", "w", "ws", "wz", "ys", "yz"], ["y"], "layer",
                ints("pads", 1, 1, 1, 1), ints("strides", 2, 2), ints("kernel_shape", kernel, kernel),
                number("group", channels))
    y = (size + 2 - kernel) // 2 + 1
    graph = message((1, conv), (2, "g"), *[(5, t) for t in [*scales, *zeros, weights]],
                    (11, value("x", 1, channels, size, size, type=type)),
                    (12, value("y", 1, channels, y, y, type=type)))
    model = message((1, 8), (8, message((1, ""), (2, 13))), (7, graph))
    with open(out, "wb") as f:
        f.write(model)


if __name__ == "__main__":
    a = sys.argv
    if len(a) != 7:
        sys.exit(__doc__)
    main(int(a[1]), int(a[2]), a[3], int(a[4]), int(a[5]), a[6])

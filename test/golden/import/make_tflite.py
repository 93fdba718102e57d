#!/usr/bin/env python3
"""Writes the TFLite models of these tests: python3 test/golden/import/make_tflite.py"""
import os
import struct
from tflite_writer import *

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "models")
CORPUS = os.path.join(HERE, "../../../fuzz/corpus/fuzz_tflite")


def save(name, data):
    for folder in (HERE, CORPUS):
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, name + ".tflite"), "wb") as f:
            f.write(data)


# int8 convolution 3x3, SAME, one scale for each channel, fused RELU; then mean of the image.
weights = bytes((i * 7) % 251 for i in range(2 * 9 * 3))
conv = model(
    [tensor("x", I8, [1, 4, 4, 3], 0, [0.5], [-3]),
     tensor("w", I8, [2, 3, 3, 3], 1, [0.25, 0.125], [0, 0]),
     tensor("b", I32, [2], 2, [0.125, 0.0625], [0, 0]),
     tensor("y", I8, [1, 4, 4, 2], 0, [2.0], [-128]),
     tensor("axes", I32, [2], 3), tensor("m", I8, [1, 2], 0, [2.0], [-128])],
    [0], [5],
    [(0, [0, 1, 2], [3], [N("b", 0), N("i", 1), N("i", 1), N("b", 1)]), (1, [3, 4], [5], [None])],
    [weights, struct.pack("<2i", 5, -9), struct.pack("<2i", 1, 2)], [3, 40])
save("conv", conv)

# int4 weights, activations of floats.
save("int4", model(
    [tensor("x", F32, [1, 4]), tensor("w", I4, [2, 4], 1, [0.5], [0]), tensor("y", F32, [1, 2])],
    [0], [2], [(0, [0, 1, -1], [2], [None])], [bytes([0x71, 0x8F, 0x21, 0x43])], [9]))

# A variable: y = x + v, v = y; it begins with 3.
handle = [None, "v"]
save("variable", model(
    [tensor("x", F32, [2]), tensor("h", RESOURCE, [1]), tensor("v", F32, [2]), tensor("y", F32, [2])],
    [0], [3],
    [(4, [], [], [N("i", 1)]), (0, [], [1], handle), (1, [1], [2], None), (2, [0, 2], [3], None),
     (3, [1, 3], [], None)],
    [struct.pack("<2f", 3, 3)], [142, 143, 0, 144, 129],
    [([tensor("h", RESOURCE, [1]), tensor("c", F32, [2], 1)], [], [],
      [(0, [], [0], handle), (3, [0, 1], [], None)])]))

# Damaged: cut short, an offset out of the file, an operation that does not exist, a constant too short.
save("cut", conv[:200])
save("offset", b"\xff\xff\xff\x7f" + conv[4:])
save("no_such_op", model([tensor("x", F32, [2]), tensor("y", F32, [2])], [0], [1],
                         [(0, [0], [1], None)], [], [33]))
save("short", model(
    [tensor("x", F32, [2]), tensor("c", F32, [2], 1), tensor("y", F32, [2])], [0], [2],
    [(0, [0, 1], [2], None)], [bytes(7)], [0]))

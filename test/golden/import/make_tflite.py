#!/usr/bin/env python3
"""Writes the TFLite models of these tests: python3 test/golden/import/make_tflite.py"""
import math
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

# A transposed convolution as MediaPipe's custom operation, and as TFLite's own with a sum behind it: y - z = 0.
spread = struct.pack("<54f", *[(i * 5 % 11 - 5) / 8 for i in range(54)])
bias = struct.pack("<2f", 0.5, -1.25)


def transposed(options):
    return model(
        [tensor("x", F32, [1, 3, 4, 3]), tensor("w", F32, [2, 3, 3, 3], 1), tensor("b", F32, [2], 2),
         tensor("y", F32, [1, 6, 8, 2]), tensor("shape", I32, [4], 3), tensor("t", F32, [1, 6, 8, 2]),
         tensor("z", F32, [1, 6, 8, 2]), tensor("d", F32, [1, 6, 8, 2])],
        [0], [7],
        [(0, [0, 1, 2], [3], None, options), (1, [4, 1, 0], [5], [N("b", 0), N("i", 2), N("i", 2)]),
         (2, [5, 2], [6], None), (3, [3, 6], [7], None)],
        [spread, bias, struct.pack("<4i", 1, 6, 8, 2)], ["Convolution2DTransposeBias", 67, 0, 41])


save("custom", transposed(struct.pack("<3i", 1, 2, 2)))
save("custom_short", transposed(bytes(8)))

# Control flow: y = c ? x + x : x * x; then y doubles while one of its numbers is below 100; then x + x again, since the
# condition is constant. 3, 4 make 6, 8, which become 192, 256; else 9, 16, which become 144, 256.
pair = [tensor("a", F32, [2]), tensor("b", F32, [2])]
double = (pair, [0], [1], [(0, [0, 0], [1], [N("b", 0)])])
square = (pair, [0], [1], [(1, [0, 0], [1], [N("b", 0)])])
below = ([tensor("a", F32, [2]), tensor("most", F32, [], 1), tensor("l", BOOL, [2]), tensor("axes", I32, [1], 2),
          tensor("any", BOOL, [])],
         [0], [4], [(2, [0, 1], [2], None), (3, [2, 3], [4], [None])])
flow_codes = [0, 18, 58, 91, 118, 119, 2, 142, 143]
flow_data = [struct.pack("<f", 100), struct.pack("<i", 0), b"\1"]


def flow(ops, graphs, *more):
    return model([tensor("x", F32, [2]), tensor("c", BOOL, [1]), tensor("y", F32, [2]), tensor("z", F32, [2]),
                  tensor("true", BOOL, [1], 3), tensor("w", F32, [2]), *more],
                 [0, 1], [2 if len(ops) == 1 else 5], ops, flow_data, flow_codes, graphs)


def one_of(then, other):
    return (4, [1, 0], [2], [N("i", then), N("i", other)])


save("flow", flow([one_of(1, 2), (5, [2], [3], [N("i", 3), N("i", 1)]), (4, [4, 3], [5], [N("i", 1), N("i", 2)])],
                  [double, square, below]))
# A graph that is not there; one that calls itself; a loop whose value grows; a variable in a branch.
save("flow_index", flow([one_of(1, 3)], [double, square]))
save("flow_self", flow([one_of(1, 2)], [
    double, ([*pair, tensor("c", BOOL, [1], 3)], [0], [1], [(4, [2, 0], [1], [N("i", 2), N("i", 2)])])]))
save("flow_grows", flow([(5, [0], [2], [N("i", 3), N("i", 2)])], [
    double, ([tensor("a", F32, [2]), tensor("b", F32, [4])], [0], [1], [(6, [0, 0], [1], [N("i", 0)])]), below]))
save("flow_variable", flow([one_of(1, 2)], [double, (
    [*pair, tensor("h", RESOURCE, [1]), tensor("v", F32, [2])], [0], [1],
    [(7, [], [2], handle), (8, [2], [3], None), (0, [0, 3], [1], [N("b", 0)])])]))

# Damaged: cut short, an offset out of the file, an operation that does not exist, a constant too short.
save("cut", conv[:200])
save("offset", b"\xff\xff\xff\x7f" + conv[4:])
save("no_such_op", model([tensor("x", F32, [2]), tensor("y", F32, [2])], [0], [1],
                         [(0, [0], [1], None)], [], [33]))
save("short", model(
    [tensor("x", F32, [2]), tensor("c", F32, [2], 1), tensor("y", F32, [2])], [0], [2],
    [(0, [0, 1], [2], None)], [bytes(7)], [0]))


# Elementwise layers and a mean of int8, with what TFLite's kernels give: the arithmetic of gemmlowp, once more.
def high(p):  # of twice a product of 32 bits, halves away from zero
    return (p + (1 << 30)) >> 31 if p >= 0 else -((-p + (1 << 30) - 1) >> 31)


def shifted(v, s):
    rest, half = v & ((1 << s) - 1), ((1 << s) - 1) >> 1
    return (v >> s) + (rest > half + (v < 0))


def factor(scale):
    part, power = math.frexp(scale)
    return round(part * (1 << 31)), power


def scaled(v, m, power):
    return shifted(high((v << max(power, 0)) * m), max(-power, 0))


def clamp(v):
    return max(-128, min(127, v))


def npy(path, values, shape, kind="|i1", code="b"):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (kind, shape)
    head = head.ljust(128 - 10 - 1) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() +
                struct.pack(f"<{len(values)}{code}", *values))


def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


n, h, w, c = 1, 5, 3, 4
shape = (n, h, w, c)
a = [(i * 37 + 11) % 256 - 128 for i in range(h * w * c)]
b = [(i * 91 + 5) % 256 - 128 for i in range(h * w * c)]
sa, sb, sp, sq, sm, alpha = map(f32, (0.3, 0.7, 31.0, 22.5, 4.75, 0.3))
za, zb, zp, zq, zm = -3, 7, 10, -20, 4
p = [clamp(scaled((x - za) * (y - zb), *factor(f32(f32(sa * sb) / sp))) + zp) for x, y in zip(a, b)]
plain, slope = factor(f32(sp / sq)), factor(f32(f32(sp * alpha) / sq))
q = [clamp(scaled(v - zp, *(plain if v >= zp else slope)) + zq) for v in p]
m, power = factor(sq / sm)
bits = (h * w).bit_length() - 1
m, power = (m << bits) // (h * w), power - bits
r = [clamp(scaled(sum(q[k::c]) - h * w * zq, m, power) + zm) for k in range(c)]
folder = os.path.join(HERE, "../rounding_cases/elem")
os.makedirs(folder + "/test_data_set_0", exist_ok=True)
data = model(
    [tensor("a", I8, shape, 0, [sa], [za]), tensor("b", I8, shape, 0, [sb], [zb]),
     tensor("p", I8, shape, 0, [sp], [zp]), tensor("q", I8, shape, 0, [sq], [zq]),
     tensor("axes", I32, [2], 1), tensor("r", I8, [n, c], 0, [sm], [zm])],
    [0, 1], [2, 3, 5],
    [(0, [0, 1], [2], [N("b", 0)]), (1, [2], [3], [N("f", alpha)]), (2, [3, 4], [5], [None])],
    [struct.pack("<2i", 1, 2)], [18, 98, 40])
with open(folder + "/model.tflite", "wb") as f:
    f.write(data)
for name, values, of in (("input_0", a, shape), ("input_1", b, shape), ("output_0", p, shape), ("output_1", q, shape),
                         ("output_2", r, (n, c))):
    npy(f"{folder}/test_data_set_0/{name}.npy", values, of)

# What control flow makes of 3, 4, either way.
folder = os.path.join(HERE, "../flow_cases/flow")
for i, (c, w) in enumerate(((1, (384, 512)), (0, (288, 512)))):
    os.makedirs(f"{folder}/test_data_set_{i}", exist_ok=True)
    npy(f"{folder}/test_data_set_{i}/input_0.npy", (3, 4), (2,), "<f4", "f")
    npy(f"{folder}/test_data_set_{i}/input_1.npy", (c,), (1,), "|b1", "b")
    npy(f"{folder}/test_data_set_{i}/output_0.npy", w, (2,), "<f4", "f")
with open(os.path.join(HERE, "flow.tflite"), "rb") as f, open(folder + "/model.tflite", "wb") as to:
    to.write(f.read())

# The end of a detector: four anchors, a background and two classes, scores in bytes. Options are what flatbuffers'
# own flexbuffers (Python, 2.0.8) writes. Box 1 overlaps box 0 by more than a half; box 3 is below the threshold, but
# for the second class. What is expected is worked out by hand.
FAST = """6d61785f646574656374696f6e73006d61785f636c61737365735f7065725f646574656374696f6e006e756d5f636c6173736573
007573655f726567756c61725f6e6d73006e6d735f73636f72655f7468726573686f6c64006e6d735f696f755f7468726573686f6c6400795f7363
616c6500785f7363616c6500685f7363616c6500775f7363616c65000a117e8e364b685d10212a00000c000000010000000a0000000000a0400200
0000030000000000003f0000803e02000000000000000000a04000002041000020410e06060e0e066a0e0e0e322601"""
BY_CLASS = """6d61785f646574656374696f6e73006d61785f636c61737365735f7065725f646574656374696f6e006e756d5f636c61737365
7300646574656374696f6e735f7065725f636c617373007573655f726567756c61725f6e6d73006e6d735f73636f72655f7468726573686f6c6400
6e6d735f696f755f7468726573686f6c6400795f7363616c6500785f7363616c6500685f7363616c6500775f7363616c65000b6c1294a4374c7e5e
11222b0b000000010000000b000000010000000000a04001000000030000000000003f0000803e02000000010000000000a0400000204100002041
060e06060e0e066a0e0e0e372601"""
anchors = [0.5, 0.5, 0.4, 0.4, 0.5, 0.5, 0.4, 0.4, 0.2, 0.2, 0.2, 0.2, 0.8, 0.8, 0.2, 0.2]
encodings = [0] * 16
encodings[4] = 0.5  # box 1 lies 0.5 / 10 * 0.4 = 0.02 lower
bytes_of = [10, 200, 20, 10, 150, 180, 0, 90, 30, 0, 20, 60]
corners = {0: [0.3, 0.3, 0.7, 0.7], 1: [0.32, 0.3, 0.72, 0.7], 2: [0.1, 0.1, 0.3, 0.3]}


def detections(options, most):
    return model(
        [tensor("e", F32, [1, 4, 4]), tensor("s", U8, [1, 4, 3], 0, [1 / 256], [0]), tensor("a", F32, [4, 4], 1),
         tensor("boxes", F32, [1, most, 4]), tensor("classes", F32, [1, most]), tensor("scores", F32, [1, most]),
         tensor("number", F32, [1])],
        [0, 1], [3, 4, 5, 6], [(0, [0, 1, 2], [3, 4, 5, 6], None, options)],
        [struct.pack("<16f", *anchors)], ["TFLite_Detection_PostProcess"])


for name, options, found, most in (("fast", FAST, [(0, 0, 200), (0, 1, 20), (2, 0, 90), (2, 1, 30)], 6),
                                   ("by_class", BY_CLASS, [(0, 0, 200), (1, 1, 180)], 3)):
    folder = os.path.join(HERE, "../detection_cases", name)
    os.makedirs(folder + "/test_data_set_0", exist_ok=True)
    with open(folder + "/model.tflite", "wb") as f:
        f.write(detections(bytes.fromhex(options), most))
    none = most - len(found)
    for path, values, of, kind in (
            ("input_0", encodings, (1, 4, 4), ("<f4", "f")), ("input_1", bytes_of, (1, 4, 3), ("|u1", "B")),
            ("output_0", sum((corners[b] for b, _, _ in found), []) + [0] * 4 * none, (1, most, 4), ("<f4", "f")),
            ("output_1", [c for _, c, _ in found] + [0] * none, (1, most), ("<f4", "f")),
            ("output_2", [s / 256 for _, _, s in found] + [0] * none, (1, most), ("<f4", "f")),
            ("output_3", [2], (1,), ("<f4", "f"))):
        npy(f"{folder}/test_data_set_0/{path}.npy", values, of, *kind)
save("detection_cut", detections(bytes.fromhex(FAST)[:-9], 6))

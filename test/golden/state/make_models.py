#!/usr/bin/env python3
"""Writes the networks of these golden tests to models/: a recurrent cell in QDQ form, whose state has one scale for what
comes in and what goes out, or two. Standard library only; the files are committed."""
import random
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from onnx_writer import *

INT8, CELLS = 3, 32
random.seed(1)


def weights(name, rows, columns):
    return tensor(name, [rows, columns], bytes(random.randrange(-60, 60) & 255 for _ in range(rows * columns)), INT8)


constants = [tensor("s", [], floats(0.02)), tensor("z", [], bytes([3]), INT8), tensor("ws", [], floats(0.01)),
             tensor("wz", [], bytes([0]), INT8), weights("Wx", 16, CELLS), weights("Wh", CELLS, CELLS),
             weights("Wy", CELLS, 10)]


def quantize(x, y, s="s", z="z"):
    return node("QuantizeLinear", [x, s, z], [y], "q_" + y)


def dequantize(x, y, s="s", z="z"):
    return node("DequantizeLinear", [x, s, z], [y], "dq_" + y)


def cell(scale):
    return [quantize("x", "xq"), dequantize("xq", "xf"), quantize("h", "hq", scale), dequantize("hq", "hf", scale),
            *[dequantize("W" + i, f"w{i}f", "ws", "wz") for i in "xhy"],
            node("MatMul", ["xf", "wxf"], ["a"], "mm_x"), quantize("a", "aq"), dequantize("aq", "af"),
            node("MatMul", ["hf", "whf"], ["b"], "mm_h"), quantize("b", "bq"), dequantize("bq", "bf"),
            node("Add", ["af", "bf"], ["c"], "add"), quantize("c", "cq"), dequantize("cq", "hn"),
            node("MatMul", ["hn", "wyf"], ["d"], "mm_y"), quantize("d", "yq"), dequantize("yq", "y")]


folder = Path(__file__).resolve().parent / "models"
folder.mkdir(exist_ok=True)
for name, scale in ("cell", "s"), ("cell_two_scales", "ws"):
    (folder / f"{name}.onnx").write_bytes(model(cell(scale), [value("h", 1, CELLS), value("x", 1, 16)],
                                                [value("hn", 1, CELLS), value("y", 1, 10)], constants))

# Float networks for heddle quantize: a convolution over the last three frames, of which two are kept, and a gated cell.


def weight(name, *dims):
    n = 1
    for d in dims:
        n *= d
    return tensor(name, dims, floats(*[random.uniform(-0.3, 0.3) for _ in range(n)]))


frames = [node("Concat", ["cache", "x"], ["c"], "join", number("axis", 2)),
          node("Conv", ["c", "Wc"], ["k"], "conv"), node("Relu", ["k"], ["r"], "relu"),
          node("Slice", ["c", "one", "many", "two"], ["cache_out"], "keep"),
          node("Reshape", ["r", "flat"], ["f"], "row"),
          node("MatMul", ["f", "Wz"], ["za"], "mm_zx"), node("MatMul", ["h", "Uz"], ["zb"], "mm_zh"),
          node("Add", ["za", "zb"], ["zs"], "add_z"), node("Sigmoid", ["zs"], ["z"], "gate"),
          node("MatMul", ["f", "Wh"], ["ha"], "mm_hx"), node("Tanh", ["ha"], ["n"], "new"),
          node("Sub", ["h", "n"], ["d"], "sub"), node("Mul", ["z", "d"], ["m"], "mul"),
          node("Add", ["n", "m"], ["h_out"], "add"), node("MatMul", ["h_out", "Wo"], ["y"], "mm_y")]
(folder / "frames.onnx").write_bytes(model(
    frames, [value("x", 1, 16, 1, 8), value("cache", 1, 16, 2, 8), value("h", 1, 32)],
    [value("y", 1, 10), value("cache_out", 1, 16, 2, 8), value("h_out", 1, 32)],
    [weight("Wc", 16, 16, 3, 1), weight("Wz", 128, 32), weight("Uz", 32, 32), weight("Wh", 128, 32),
     weight("Wo", 32, 10), *[tensor(name, [len(v)], longs(*v), INT64) for name, v in
                               (("flat", (1, 128)), ("one", (1,)), ("many", (3,)), ("two", (2,)))]]))
header = "{'descr': '<f4', 'fortran_order': False, 'shape': (6, 16, 1, 8), }"
header = header.ljust(117) + "\n"
(folder / "frames.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() +
                                    floats(*[random.uniform(-1, 1) for _ in range(6 * 128)]))

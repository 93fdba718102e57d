#!/usr/bin/env python3
"""Writes the networks of these golden tests to models/: a recurrent cell in QDQ form, whose state has one scale for what
comes in and what goes out, or two. Standard library only; the files are committed."""
import random
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

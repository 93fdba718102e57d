#!/usr/bin/env python3
"""Writes the networks of docs/custom.md, with cases for heddle test. Standard library only; the files are
committed."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from onnx_writer import *

INT8 = 3
HEDDLE = dict(domain="heddle")
folder = Path(__file__).resolve().parent


def expression(inputs, outputs, name, text, *attrs):
    return node("Expression", inputs, outputs, name, string("expression", text), *attrs, domain="heddle")


def case(name, network, inputs, outputs):
    data_set = folder / "cases" / name / "test_data_set_0"
    data_set.mkdir(parents=True, exist_ok=True)
    (data_set.parent / "model.onnx").write_bytes(network)
    for kind, tensors in (("input", inputs), ("output", outputs)):
        for i, t in enumerate(tensors):
            (data_set / f"{kind}_{i}.pb").write_bytes(t)


# 1. correlation of two feature maps over 5 displacements, as stereo networks have it
a = [((7 * i) % 11) - 5 for i in range(2 * 2 * 6)]
b = [((5 * i) % 9) - 4 for i in range(2 * 2 * 6)]


def at(v, c, i, j):
    return v[(c * 2 + i) * 6 + j] if 0 <= j < 6 else 0


correlation = [sum(at(a, c, i, j) * at(b, c, i, j + d - 2) for c in range(2)) / 2
               for d in range(5) for i in range(2) for j in range(6)]
TEXT = """(a: [N,C,H,W], b: [N,C,H,W], taps: int) -> y
sum[n,d,i,j] += a[n,c,i,j] * pad(b[n,c,i,j + d - taps/2], 0) where d < taps
y[n,d,i,j] = sum[n,d,i,j] / C"""
case("correlation",
     model([expression(["a", "b"], ["y"], "correlation", TEXT, number("taps", 5))],
           [value("a", 1, 2, 2, 6), value("b", 1, 2, 2, 6)], [value("y", 1, 5, 2, 6)]),
     [tensor("a", [1, 2, 2, 6], floats(*a)), tensor("b", [1, 2, 2, 6], floats(*b))],
     [tensor("y", [1, 5, 2, 6], floats(*correlation))])

# 2. int8 in, int8 out: the nearest of four levels, and which one it is
TEXT = """(x: i8[N], level: i8[L]) -> y, which
which[i] argmin= abs(i32(x[i]) - i32(level[l]))
y[i] = level[which[i]]"""
x = [-100, -60, -1, 0, 30, 77, 127]
levels = [-90, -10, 40, 90]
best = [min(range(4), key=lambda l: abs(v - levels[l])) for v in x]
case("levels",
     model([expression(["x", "level"], ["y", "which"], "nearest", TEXT)], [value("x", 7, type=INT8)],
           [value("y", 7, type=INT8), value("which", 7, type=INT64)],
           [tensor("level", [4], bytes(v & 255 for v in levels), INT8)]),
     [tensor("x", [7], bytes(v & 255 for v in x), INT8)],
     [tensor("y", [7], bytes(levels[k] & 255 for k in best), INT8), tensor("which", [7], longs(*best), INT64)])

# 3. a product that is an operation of the graph, between quantised tensors: it goes to the machine
w = [((3 * i) % 17) - 8 for i in range(8 * 4)]
xs = [((5 * i) % 13) - 6 for i in range(2 * 8)]
product = [max(-128, min(127, sum(xs[n * 8 + k] * w[k * 4 + m] for k in range(8)) // 1)) for n in range(2) for m in range(4)]
one, zero = tensor("one", [], floats(1)), tensor("zero", [], b"\0", INT8)
case("product",
     model([node("QuantizeLinear", ["x", "one", "zero"], ["xq"], "xq"),
            node("DequantizeLinear", ["xq", "one", "zero"], ["xf"], "xf"),
            node("DequantizeLinear", ["w", "one", "zero"], ["wf"], "wf"),
            expression(["xf", "wf"], ["p"], "product", "y[n,m] += x[n,k] * w[k,m]"),
            node("QuantizeLinear", ["p", "one", "zero"], ["yq"], "yq"),
            node("DequantizeLinear", ["yq", "one", "zero"], ["y"], "y")],
           [value("x", 2, 8)], [value("y", 2, 4)],
           [one, zero, tensor("w", [8, 4], bytes(v & 255 for v in w), INT8)]),
     [tensor("x", [2, 8], floats(*xs))], [tensor("y", [2, 4], floats(*product))])

# refused: the mistake is named with its node
(folder / "wrong.onnx").write_bytes(
    model([expression(["x"], ["y"], "blur", "y[i] += x[i+k] / 3 where i < 8, k < 3")], [value("x", 8)], [value("y", 8)]))

#!/usr/bin/env python3
"""make_encoder.py SEQ DIM HEADS HIDDEN OUT.onnx [first|decomposed|last|causal|padded|rms..]: a float transformer encoder layer, as
exporters write it; weights from a seed. first: the sequence is the first dimension, a batch of 1 the second;
decomposed: layer norm written out; rms: root mean square written out; last: softmax of the transposed scores;
causal: a constant mask is added to them; padded: one that an input says is. Standard library only."""
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from onnx_writer import *

seq, dim, heads, hidden = map(int, sys.argv[1:5])
how = sys.argv[6:]
batch = [seq, 1] if "first" in how else [1, seq]
r = random.Random(seq * 1000 + dim)
nodes, constants = [], []


def const(data, dims, type=FLOAT):
    name = f"c{len(constants)}"
    constants.append(tensor(name, dims, floats(*data) if type == FLOAT else longs(*data), type))
    return name


def normal(n, mean, deviation):
    return [r.gauss(mean, deviation) for _ in range(n)]


def op(kind, inputs, *attrs):
    name = f"{kind}_{len(nodes)}"
    nodes.append(node(kind, inputs, [name], name, *attrs))
    return name


def dense(x, n_in, n_out):
    y = op("MatMul", [x, const(normal(n_in * n_out, 0, n_in ** -0.5), [n_in, n_out])])
    return op("Add", [y, const(normal(n_out, 0, 0.1), [n_out])])


def norm(x):
    scale, bias = const(normal(dim, 1, 0.1), [dim]), const(normal(dim, 0, 0.1), [dim])
    if "decomposed" not in how and "rms" not in how:
        return op("LayerNormalization", [x, scale, bias], number("axis", -1))
    d = x if "rms" in how else op("Sub", [x, op("ReduceMean", [x], ints("axes", -1))])
    v = op("ReduceMean", [op("Pow", [d, const([2], [])])], ints("axes", -1))
    if "rms" in how:
        return op("Mul", [op("Div", [d, op("Sqrt", [op("Add", [v, const([1e-5], [])])])]), scale])
    return op("Add", [op("Mul", [op("Div", [d, op("Sqrt", [op("Add", [v, const([1e-5], [])])])]), scale]), bias])


def split(x, *perm):
    return op("Transpose", [op("Reshape", [x, const([*batch, heads, dim // heads], [4], INT64)])], ints("perm", *perm))


b, s = (1, 0) if "first" in how else (0, 1)
q, k, v = (dense("x", dim, dim) for _ in range(3))
if "last" in how:  # keys by queries: softmax over another dimension than the last
    scores = op("MatMul", [split(k, b, 2, s, 3), split(q, b, 2, 3, s)])
else:
    scores = op("MatMul", [split(q, b, 2, s, 3), split(k, b, 2, 3, s)])
scores = op("Div", [scores, const([(dim // heads) ** 0.5], [])])
if "causal" in how:
    mask = [0 if j <= i else float("-inf") for i in range(seq) for j in range(seq)]
    scores = op("Add", [scores, const(mask, [1, 1, seq, seq])])
if "padded" in how:
    mask = op("Mul", [op("Sub", [const([1], []), "mask"]), const([-1e4], [])])
    scores = op("Add", [scores, mask])
if "last" in how:
    scores = op("Transpose", [op("Softmax", [scores], number("axis", 2))], ints("perm", 0, 1, 3, 2))
else:
    scores = op("Softmax", [scores], number("axis", -1))
y = op("MatMul", [scores, split(v, b, 2, s, 3)])  # [batch, heads, seq, d]
y = op("Transpose", [y], ints("perm", *([2, 0, 1, 3] if "first" in how else [0, 2, 1, 3])))
y = op("Reshape", [y, const([*batch, dim], [3], INT64)])
x = norm(op("Add", ["x", dense(y, dim, dim)]))
f = dense(x, dim, hidden)
g = op("Add", [op("Erf", [op("Div", [f, const([2 ** 0.5], [])])]), const([1], [])])
f = op("Mul", [op("Mul", [f, g]), const([0.5], [])])
norm(op("Add", [x, dense(f, hidden, dim)]))
out = f"y"
inputs = [value("x", *batch, dim)] + ([value("mask", 1, 1, 1, seq)] if "padded" in how else [])
nodes.append(node("Identity", [f"{'Mul' if 'rms' in how else 'Add' if 'decomposed' in how else 'LayerNormalization'}_{len(nodes) - 1}"], [out], "end"))
Path(sys.argv[5]).write_bytes(model(nodes, inputs, [value(out, *batch, dim)], constants, opset=17))

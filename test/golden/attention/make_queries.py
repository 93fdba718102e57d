#!/usr/bin/python3
"""make_queries.py OUT.onnx: pixels as tokens, as many as channels; a layer over tokens beside a residual; then learned
queries with a factor for each head, and the mean of what [1,4,4,16] rows hold. Standard library only."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from onnx_writer import *


def weights(name, *dims):
    n = 1
    for d in dims:
        n *= d
    return tensor(name, dims, floats(*[(i * 37 % 23 - 11) / 44 for i in range(n)]))


def ints64(name, *v):
    return tensor(name, (len(v),), longs(*v), INT64)


nodes = [node("Conv", ["x", "w0", "b0"], ["c"], "patches", ints("kernel_shape", 4, 4), ints("strides", 4, 4)),
         node("Reshape", ["c", "tokens"], ["f"], "flat"), node("Transpose", ["f"], ["t"], "turn", ints("perm", 0, 2, 1)),
         node("Transpose", ["t"], ["u"], "over", ints("perm", 0, 2, 1)), node("MatMul", ["u", "w1"], ["m"], "mix"),
         node("Transpose", ["m"], ["n"], "back", ints("perm", 0, 2, 1)), node("Add", ["t", "n"], ["z"], "sum"),
         node("MatMul", ["z", "w2"], ["k"], "keys"), node("Reshape", ["k", "heads"], ["kh"], "split"),
         node("Transpose", ["kh"], ["kt"], "columns", ints("perm", 0, 2, 3, 1)), node("MatMul", ["q", "kt"], ["s"], "scores"),
         node("Mul", ["s", "by"], ["ss"], "factors"), node("Softmax", ["ss"], ["p"], "softmax", number("axis", -1)),
         node("Transpose", ["kh"], ["v"], "values", ints("perm", 0, 2, 1, 3)), node("MatMul", ["p", "v"], ["a"], "sums"),
         node("MatMul", ["z", "w3"], ["d"], "dense"), node("Add", ["z", "d"], ["e"], "residual"),
         node("Reshape", ["e", "square"], ["g"], "rows"), node("ReduceMean", ["g"], ["mean"], "mean", ints("axes", 1, 2)),
         node("MatMul", ["mean", "w2"], ["y"], "last")]
constants = [weights("w0", 16, 3, 4, 4), weights("b0", 16), weights("w1", 16, 16), weights("w2", 16, 16), weights("w3", 16, 16),
             weights("q", 1, 2, 5, 8), tensor("by", (2, 1, 1), floats(2, 3)), ints64("tokens", 1, 16, 16),
             ints64("heads", 1, 16, 2, 8), ints64("square", 1, 4, 4, 16)]
with open(sys.argv[1], "wb") as out:
    out.write(model(nodes, [value("x", 1, 3, 16, 16)], [value("a", None), value("y", None)], constants))

#!/usr/bin/python3
"""Networks that the quantiser reads in forms of their own: half.onnx has float16 weights, branch.onnx
an If of two convolutions, batch.onnx an open batch; in wide.onnx a large tensor
comes to a small one and is taken off again, so that their sum needs more than 8 bits; doubt.onnx has a root of squares that
8 bits hold, and a reciprocal that they do not. Inputs that come in as images do: bytes.onnx reads pixels of
bytes less 127.5, mean.onnx the same with a mean and deviation for each channel, order.onnx floats with these, blue first; last.onnx has
floats with channels last. The classes of ties.onnx differ by less than a step of 8 bits. whole.onnx takes means of a
whole image and of its squares, channels last. image_mean.onnx has the mean of a large image of few channels. Run in this folder; standard library only."""
import struct
import sys

sys.path.insert(0, "..")
from onnx_writer import *


def halves(*v):
    return struct.pack(f"<{len(v)}e", *v)


def weights(n, step):
    return [(i * 7 % 13 - 6) * step for i in range(n)]


def branch(name, weight):
    body = [node("Conv", ["x", weight], [name], name)]
    return subgraph(f"{name}_branch", graph(body, [], [value(name, None)], name=name))


def layer(x, pads):
    """A convolution of three channels; its tensors are `taps`."""
    return [node("Conv", [x, "w", "b"], ["c"], "conv", ints("pads", *[pads] * 4)), node("Relu", ["c"], ["y"], "relu")]


def words(*v):
    return struct.pack(f"<{len(v)}q", *v)


taps = [tensor("w", (4, 3, 3, 3), floats(*weights(108, 0.125))), tensor("b", (4,), floats(*weights(4, 0.5)))]
pixels = node("Cast", ["x"], ["f"], "cast", number("to", FLOAT))
turn = ints("perm", 0, 3, 1, 2)

forms = {
    "bytes": model([node("Transpose", ["x"], ["t"], "turn", turn), node("Cast", ["t"], ["f"], "cast", number("to", FLOAT)),
                    node("Sub", ["f", "mean"], ["s"], "sub"), node("Div", ["s", "by"], ["n"], "div"), *layer("n", 1)],
                   [value("x", 1, 6, 6, 3, type=UINT8)], [value("y", None)],
                   [tensor("mean", (), floats(127.5)), tensor("by", (), floats(127.5)), *taps]),
    "mean": model([pixels, node("Sub", ["f", "mean"], ["s"], "sub"), node("Div", ["s", "by"], ["n"], "div"),
                   node("Transpose", ["n"], ["t"], "turn", turn), *layer("t", 1)],
                  [value("x", 1, 6, 6, 3, type=UINT8)], [value("y", None)],
                  [tensor("mean", (3,), floats(124, 116, 104)), tensor("by", (3,), floats(58, 57, 56)), *taps]),
    "last": model([node("Transpose", ["x"], ["t"], "turn", turn), node("Sub", ["t", "mean"], ["s"], "sub"),
                   node("Mul", ["s", "by"], ["n"], "mul"), *layer("n", 0)],
                  [value("x", 1, 20, 20, 3)], [value("y", None)],
                  [tensor("mean", (1, 3, 1, 1), floats(.125, .25, .5)), tensor("by", (3, 1, 1), floats(2, 3, 4)), *taps]),
    "whole": model([node("Conv", ["x", "w1"], ["c"], "conv"), node("Transpose", ["c"], ["t"], "turn", ints("perm", 0, 2, 3, 1)),
                    node("Mul", ["t", "t"], ["q"], "square"), node("ReduceMean", ["t"], ["m"], "mean", ints("axes", 1, 2, 3)),
                    node("ReduceMean", ["q"], ["v"], "power", ints("axes", 1, 2, 3)), node("Add", ["c", "m"], ["a"], "moved"),
                    node("Add", ["a", "v"], ["y"], "more")],
                   [value("x", 1, 2, 32, 32)], [value("y", None)], [tensor("w1", (6, 2, 1, 1), floats(*weights(12, 0.25)))]),
    "image_mean": model([node("Conv", ["x", "w1"], ["c"], "conv"), node("GlobalAveragePool", ["c"], ["m"], "mean"),
                     node("Sigmoid", ["m"], ["s"], "gate"), node("Mul", ["c", "s"], ["y"], "gated")],
                    [value("x", 1, 2, 32, 32)], [value("y", None)], [tensor("w1", (6, 2, 1, 1), floats(*weights(12, 0.25)))]),
    "order": model([node("Slice", ["x", "at", "to", "axis", "step"], ["r"], "blue_first"),
                    node("Sub", ["r", "mean"], ["s"], "sub"), node("Mul", ["s", "by"], ["n"], "mul"), *layer("n", 1)],
                   [value("x", 1, 3, 6, 6)], [value("y", None)],
                   [tensor("mean", (1, 3, 1, 1), floats(.125, .25, .5)), tensor("by", (3, 1, 1), floats(2, 3, 4)),
                    tensor("at", (1,), words(-1), INT64), tensor("to", (1,), words(-9), INT64),
                    tensor("axis", (1,), words(1), INT64), tensor("step", (1,), words(-1), INT64), *taps]),
    "half": model([node("Conv", ["x", "w"], ["c"], "conv"), node("Relu", ["c"], ["y"], "relu")],
                  [value("x", 1, 2, 4, 4, type=FLOAT16)], [value("y", None, type=FLOAT16)],
                  [tensor("w", (3, 2, 1, 1), halves(*weights(6, 0.25)), FLOAT16)]),
    "branch": model([node("If", ["c"], ["t"], "choose", branch("then", "w1"), branch("else", "w2")),
                     node("Relu", ["t"], ["y"], "relu")],
                    [value("x", 1, 2, 4, 4), value("c", 1, type=BOOL)], [value("y", None)],
                    [tensor("w1", (3, 2, 1, 1), floats(*weights(6, 0.25))),
                     tensor("w2", (3, 2, 1, 1), floats(*weights(6, -0.5)))]),
    "picks": model([node("Conv", ["x", "w"], ["c"], "conv"), node("Relu", ["c"], ["r"], "relu"),
                    node("NonZero", ["r"], ["y"], "picks")],
                   [value("x", 1, 2, 4, 4)], [value("y", 4, "n", type=INT64)],
                   [tensor("w", (3, 2, 1, 1), floats(*weights(6, 0.25)))]),
    "batch": model([node("Conv", ["x", "w1"], ["c"], "conv"), node("Relu", ["c"], ["r"], "relu"),
                    node("Flatten", ["r"], ["f"], "flat"), node("MatMul", ["f", "w2"], ["y"], "classes")],
                   [value("x", "N", 2, 4, 4)], [value("y", "N", 5)],
                   [tensor("w1", (3, 2, 1, 1), floats(*weights(6, 0.25))),
                    tensor("w2", (48, 5), floats(*weights(240, 0.125)))]),
    "ties": model([node("MatMul", ["x", "w"], ["y"], "classes")], [value("x", 1, 16)], [value("y", 1, 8)],
                  [tensor("w", (16, 8), floats(*[(i // 8 * 7 % 13 - 6) / 4 + (i * 5 % 7 - 3) / 8192 for i in range(128)]))]),
    "wide": model([node("Conv", ["x", "w1"], ["small"], "small"), node("Conv", ["x", "w2"], ["large"], "large"),
                   node("Add", ["large", "small"], ["both"], "both"), node("Sub", ["both", "large"], ["rest"], "rest"),
                   node("Conv", ["rest", "w3"], ["y"], "last")],
                  [value("x", 1, 2, 8, 8)], [value("y", None)],
                  [tensor("w1", (6, 2, 1, 1), floats(*weights(12, 0.25))),
                   tensor("w2", (6, 2, 1, 1), floats(*[-40 * (i * i % 7) for i in range(12)])),
                   tensor("w3", (3, 6, 3, 3), floats(*weights(162, 0.0625)))]),
    "doubt": model([node("Conv", ["x", "w1", "b1"], ["c"], "conv"),
                    node("ReduceL2", ["c"], ["n"], "length", ints("axes", 2, 3)),
                    node("Mul", ["c", "n"], ["m"], "scaled"), node("Conv", ["m", "w3"], ["d"], "next"),
                    node("Abs", ["d"], ["a"], "abs"), node("Add", ["a", "e"], ["p"], "above"),
                    node("Reciprocal", ["p"], ["r"], "inverse"), node("Mul", ["d", "r"], ["s"], "signs"),
                    node("Conv", ["s", "w4"], ["y"], "last")],
                   [value("x", 1, 2, 8, 8)], [value("y", None)],
                   [tensor("w1", (6, 2, 1, 1), floats(*weights(12, 0.25))), tensor("b1", (6,), floats(*weights(6, 0.125))),
                    tensor("w3", (3, 6, 1, 1), floats(*weights(18, 0.0625))), tensor("e", (1, 3, 1, 1), floats(.02, .02, .02)),
                    tensor("w4", (2, 3, 1, 1), floats(*weights(6, 0.0625)))])}
for name, data in forms.items():
    with open(f"{name}.onnx", "wb") as f:
        f.write(data)

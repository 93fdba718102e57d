#!/usr/bin/env python3
"""Writes the ONNX files of these golden tests to models/. Standard library only; the files are committed."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from onnx_writer import *


def relu(x, y):
    return node("Relu", [x], [y], y)


x, y = value("x", 2), value("y", 2)
c = value("c", type=BOOL)
open_y = value("y", None)


def branch(op, inputs, out="b", shape=(2,), initializers=()):
    return graph([node(op, inputs, [out], out)], [], [value(out, *shape)], initializers, name=op.lower())


def choose(then, other):
    return node("If", ["c"], ["y"], "choose", subgraph("then_branch", then), subgraph("else_branch", other))


def nested(depth):
    g = branch("Relu", ["x"])
    for _ in range(depth):
        g = graph([choose(g, branch("Neg", ["x"]))], [], [value("y", 2)], name="deep")
    return g


no = tensor("c", [], b"\0", BOOL)
loop_body = graph([node("Cast", ["i"], ["f"], "f", number("to", FLOAT)), node("Add", ["s", "f"], ["t"], "t"),
                   node("Add", ["t", "step"], ["u"], "u"), node("Identity", ["go"], ["go_on"], "go_on")],
                  [value("i", type=INT64), value("go", type=BOOL), value("s", 2)],
                  [value("go_on", type=BOOL), value("u", 2), value("t", 2)], name="body")
growing = graph([node("Concat", ["s", "s"], ["u"], "u", number("axis", 0)), node("Identity", ["go"], ["go_on"], "g")],
                [value("i", type=INT64), value("go", type=BOOL), value("s", 2)],
                [value("go_on", type=BOOL), value("u", None)], name="growing")
files = {
    "open_dims": model([relu("x", "y")], [value("x", "batch", "length", 3)], [open_y]),
    "no_shape": model([relu("x", "y")], [value("x", None)], [open_y]),
    "if_run_time": model([choose(branch("Add", ["x", "w"], initializers=[tensor("w", [2], floats(1, 2))]),
                                 branch("Mul", ["x", "z"]))],
                         [c, x, value("z", 1)], [y]),
    # the branch that is not taken does not fit, and is not looked at
    "if_constant": model([choose(branch("Frobnicate", ["x"]), branch("Neg", ["x"]))], [x], [y], [no]),
    "if_nested": model([choose(nested(2), branch("Abs", ["x"]))], [c, x], [y]),
    "if_too_deep": model([choose(nested(30), branch("Abs", ["x"]))], [c, x], [y]),
    "loop": model([node("Loop", ["n", "", "x"], ["last", "all"], "repeat", subgraph("body", loop_body))],
                  [x, value("step", 1)], [value("last", 2), value("all", 3, 2)], [tensor("n", [], longs(3), INT64)]),
    "loop_open": model([node("Loop", ["n", "", "x"], ["last", "all"], "repeat", subgraph("body", loop_body))],
                       [value("n", type=INT64), x, value("step", 1)], [value("last", 2), value("all", "n", 2)]),
    "loop_growing": model([node("Loop", ["n", "", "x"], ["y"], "repeat", subgraph("body", growing))],
                          [value("n", type=INT64), x], [open_y]),
    "nonzero": model([node("NonZero", ["x"], ["at"], "at"), node("Cast", ["at"], ["y"], "y", number("to", FLOAT))],
                     [value("x", 2, 3)], [open_y]),
    "external": model([node("Add", ["x", "w"], ["y"], "add")], [x], [y],
                      [external("w", [2], "weights.bin", offset=4, length=8)]),
    "external_up": model([node("Add", ["x", "w"], ["y"], "add")], [x], [y],
                         [external("w", [2], "../make_models.py")]),
    "external_absolute": model([node("Add", ["x", "w"], ["y"], "add")], [x], [y],
                               [external("w", [2], "/etc/hostname")]),
    "external_short": model([node("Add", ["x", "w"], ["y"], "add")], [x], [y],
                            [external("w", [2], "weights.bin", offset=8)]),
    "external_missing": model([node("Add", ["x", "w"], ["y"], "add")], [x], [y], [external("w", [2], "nowhere.bin")]),
    "external_length": model([node("Add", ["x", "w"], ["y"], "add")], [x], [y],
                             [external("w", [2], "weights.bin", length="many")]),
    "half": model([node("Exp", ["x"], ["e"], "e"), node("Add", ["e", "w"], ["y"], "add")],
                  [value("x", 2, type=FLOAT16)], [value("y", 2, type=FLOAT16)],
                  [tensor("w", [2], b"\x00\x3c\x00\xc0", FLOAT16)]),
    "other_domain": model([node("Fancy", ["x"], ["y"], "fancy", domain="com.example")], [x], [y]),
}
folder = Path(__file__).resolve().parent / "models"
folder.mkdir(exist_ok=True)
for name, data in files.items():
    (folder / f"{name}.onnx").write_bytes(data)
(folder / "weights.bin").write_bytes(floats(9, 1, 2))


def case(name, inputs, outputs):
    """A folder for heddle test."""
    data_set = folder.parent / "cases" / name / "test_data_set_0"
    data_set.mkdir(parents=True, exist_ok=True)
    (data_set.parent / "model.onnx").write_bytes(files[name])
    for kind, tensors in (("input", inputs), ("output", outputs)):
        for i, t in enumerate(tensors):
            (data_set / f"{kind}_{i}.pb").write_bytes(t)


ab = tensor("x", [2], floats(1, -2))
case("if_run_time", [tensor("c", [], b"\0", BOOL), ab, tensor("z", [1], floats(3))], [tensor("y", [2], floats(3, -6))])
case("loop_open", [tensor("n", [], longs(2), INT64), ab, tensor("step", [1], floats(10))],
     [tensor("last", [2], floats(22, 19)), tensor("all", [2, 2], floats(1, -2, 12, 9))])
case("loop_growing", [tensor("n", [], longs(2), INT64), ab], [tensor("y", [8], floats(*[1, -2] * 4))])
case("nonzero", [tensor("x", [2, 3], floats(0, 1, 0, 0, 0, 5))], [tensor("y", [2, 2], floats(0, 1, 1, 2))])
case("open_dims", [tensor("x", [1, 2, 3], floats(-1, 0, 1, 2, -2, 3))], [tensor("y", [1, 2, 3], floats(0, 0, 1, 2, 0, 3))])
# exp(0) = 1, exp(0.5) = 1.6487 -> 0x3e98 in binary16; plus 1 and -2
case("half", [tensor("x", [2], b"\x00\x00\x00\x38", FLOAT16)], [tensor("y", [2], b"\x00\x40\xa0\xb5", FLOAT16)])

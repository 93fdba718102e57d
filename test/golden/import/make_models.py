#!/usr/bin/env python3
"""Writes the ONNX files of these golden tests to models/. Standard library only; the files are committed."""
import math
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


# Forms of QONNX's Quant: result, scale, zero point, bits, domain, attributes. Values are exact in binary32.
quants = [("q3", 0.5, 0, 3, "qonnx.custom_op.general", dict(signed=1, narrow=0)),
          ("q3_narrow", 0.5, 0, 3, "onnx.brevitas", dict(signed=1, narrow=1, rounding_mode="ROUND")),
          ("q4_unsigned", 0.25, 2, 4, "finn.custom_op.general", dict(signed=0, narrow=1)),
          ("q8", 0.25, 0, 8, "onnx.brevitas", dict(signed=1)),
          ("q10", 0.25, 0, 10, "onnx.brevitas", dict(signed=1)),
          ("q4_odd", 0.5, 1, 4, "onnx.brevitas", dict(signed=1))]
quants += [(f"q4_{m.lower()}", 0.5, 0, 4, "qonnx.custom_op.general", dict(signed=1, rounding_mode=m))
           for m in ("FLOOR", "CEIL", "UP", "DOWN", "ROUND_TO_ZERO", "HALF_UP", "HALF_DOWN", "HALF_EVEN")]
quant_x = [-100, -2.25, -1.25, -0.75, -0.375, -0.25, 0, 0.25, 0.375, 0.75, 1.25, 2.25, 100]


def rounded(v, mode):
    size = {"UP": math.ceil, "DOWN": math.floor, "ROUND_TO_ZERO": math.floor, "HALF_UP": lambda a: math.floor(a + 0.5),
            "HALF_DOWN": lambda a: math.ceil(a - 0.5)}
    whole = {"FLOOR": math.floor, "CEIL": math.ceil, "ROUND": round, "HALF_EVEN": round}
    return whole[mode](v) if mode in whole else math.copysign(size[mode](abs(v)), v)


def quant(v, scale, zero, bits, signed=1, narrow=0, rounding_mode="ROUND"):
    """As QONNX's document has it."""
    least = -2 ** (bits - 1) + narrow if signed else 0
    most = 2 ** (bits - 1) - 1 if signed else 2 ** bits - 1 - narrow
    return (min(max(rounded(v / scale + zero, rounding_mode), least), most) - zero) * scale


def attrs(of):
    return [string(k, v) if isinstance(v, str) else number(k, v) for k, v in of.items()]


def qonnx():
    nodes, results, consts = [], [], []
    for name, scale, zero, bits, domain, a in quants:
        nodes.append(node("Quant", ["x", f"{name}.s", f"{name}.z", f"{name}.b"], [name], name, *attrs(a), domain=domain))
        consts += [tensor(f"{name}.{k}", [], floats(v)) for k, v in (("s", scale), ("z", zero), ("b", bits))]
        results.append(value(name, len(quant_x)))
    nodes += [node("BipolarQuant", ["x", "s"], ["sign"], "sign", domain="onnx.brevitas"),
              node("BipolarQuant", ["w", "s"], ["sign_w"], "sign_w", domain="onnx.brevitas"),
              node("Add", ["sign", "sign_w"], ["signs"], "signs"),
              node("Trunc", ["x", "s", "z", "b8", "b4"], ["upper"], "upper", domain="onnx.brevitas"),
              node("Quant", ["w2", "each", "z", "b4"], ["w3"], "w3", domain="onnx.brevitas")]
    consts += [tensor("s", [], floats(0.25)), tensor("z", [], floats(0)), tensor("b8", [], floats(8)),
               tensor("b4", [], floats(4)), tensor("w", [13], floats(*range(-6, 7))),
               tensor("w2", [2, 2], floats(1, -9, 3, 5)), tensor("each", [2, 1], floats(1, 0.5))]
    return model(nodes, [value("x", len(quant_x))],
                 results + [value("signs", len(quant_x)), value("upper", len(quant_x)), value("w3", 2, 2)], consts)


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
    "long_name": model([node("Relu", ["x"], ["y"], "model/activation;" + "model/batch_norm/resource;" * 3 + "Relu_7")],
                       [value("x", 1, 4)], [value("y", 1, 4)]),
    "unsorted": model([node("Relu", ["b"], ["y"], "last"), node("Add", ["a", "x"], ["b"], "middle"),
                       node("Neg", ["x"], ["a"], "first")], [value("x", 1, 4)], [value("y", 1, 4)]),
    "constant_out": model([relu("x", "y"), node("Add", ["w", "w"], ["twice"], "twice"),
                           node("Pad", ["x"], ["p"], "pad", ints("paddings", 1, 0))],
                          [value("x", 2)], [value("y", 2), value("twice", 2), value("w", 2), value("p", 3)],
                          [tensor("w", [2], floats(1, 2))]),
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
    "functions": model([node("Outer", ["x", "w"], ["p"], "first", number("alpha_of", 1), domain="local"),
                        node("Outer", ["p"], ["y"], "second", domain="local")],
                       [x], [y], [tensor("w", [], floats(2))], functions=[
        function("Inner", ["a", "b"], ["r"], [node("Concat", ["a", "b"], ["c"], "", refer("axis", "to")),
                                             node("ReduceMax", ["c"], ["r"], "", ints("axes", 0), refer("keepdims", "keep"))],
                 ["to"], [number("keep", 1)]),
        function("Outer", ["x", "y"], ["z"], [node("Relu", ["x"], ["r"]),
                                             node("Clip", ["r", "y"], ["c"], "limit"),
                                             node("Inner", ["c", "x"], ["i"], "inner", number("to", 0), domain="local"),
                                             node("Add", ["i", "x"], ["z"])], ["alpha_of"])]),
    "function_forever": model([node("F", ["x"], ["y"], "f", domain="local")], [x], [y], functions=[
        function("F", ["x"], ["y"], [node("F", ["x"], ["y"], "again", domain="local")])]),
    "function_bomb": model([node("F0", ["x"], ["y"], "f", domain="local")], [x], [y], functions=[
        function(f"F{i}", ["x"], ["y"], [node(f"F{i + 1}", ["x" if k == 0 else f"t{k - 1}"], [f"t{k}"], f"n{k}", domain="local")
                                        for k in range(30)] + [node("Relu", ["t29"], ["y"])]) for i in range(10)] +
        [function("F10", ["x"], ["y"], [node("Relu", ["x"], ["y"])])]),
    "function_operands": model([node("F", ["x", "x"], ["y"], "f", domain="local")], [x], [y], functions=[
        function("F", ["x"], ["y"], [node("Relu", ["x"], ["y"])])]),
    "sequence": model([node("SplitToSequence", ["x"], ["s"], "split", number("axis", 1)),
                       node("SequenceAt", ["s", "at"], ["last"], "last"),
                       node("SequenceErase", ["s", "at"], ["t"], "erase"),
                       node("SequenceInsert", ["t", "last", "zero"], ["u"], "insert"),
                       node("ConcatFromSequence", ["u"], ["y"], "join", number("axis", 1))],
                      [value("x", 2, 3)], [value("y", 2, 3)],
                      [tensor("at", [], longs(-1), INT64), tensor("zero", [], longs(0), INT64)]),
    "sequence_position": model([node("SequenceConstruct", ["x", "x"], ["s"], "s"),
                                node("SequenceAt", ["s", "at"], ["y"], "at")], [x, value("at", type=INT64)], [y]),
    "sequence_as_tensor": model([node("SequenceConstruct", ["x", "x"], ["s"], "s"), node("Relu", ["s"], ["y"], "relu")],
                                [x], [y]),
    "sequence_beyond": model([node("SequenceConstruct", ["x", "x"], ["s"], "s"), node("SequenceAt", ["s", "at"], ["y"], "at")],
                             [x], [y], [tensor("at", [], longs(2), INT64)]),
    "sequence_out": model([node("SequenceConstruct", ["x", "x"], ["y"], "s")], [x], [y]),
    "gradient_elsewhere": model([node("Mul", ["x", "w"], ["p"], "product"),
                                 node("Gradient", ["p", "w"], ["y"], "gradient", strings("xs", "x"), strings("zs", "w"),
                                      string("y", "p"), domain="ai.onnx.preview.training")],
                                [x, value("w", 2)], [y]),
    "qonnx": qonnx(),
    "qonnx_bits": model([node("Quant", ["x", "s", "s", "b"], ["y"], "few", domain="onnx.brevitas")], [x], [y],
                        [tensor("s", [], floats(1)), tensor("b", [], floats(2.5))]),
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
# 3, -4: relu 3 0, clip from 2: 3 2, largest with x: 3, plus x: 6 -1; again, without a bound: largest 6, plus: 12 5
case("functions", [tensor("x", [2], floats(3, -4))], [tensor("y", [2], floats(12, 5))])
case("sequence", [tensor("x", [2, 3], floats(1, 2, 3, 4, 5, 6))], [tensor("y", [2, 3], floats(3, 1, 2, 6, 4, 5))])
outs = [tensor(name, [13], floats(*[quant(v, s, z, b, **a) for v in quant_x])) for name, s, z, b, _, a in quants]
outs.append(tensor("signs", [13], floats(*[(0.25 if v >= 0 else -0.25) + (0.25 if w >= 0 else -0.25)
                                           for v, w in zip(quant_x, range(-6, 7))])))
outs.append(tensor("upper", [13], floats(*[math.floor(round(v / 0.25) / 16) * 0.25 for v in quant_x])))
outs.append(tensor("w3", [2, 2], floats(1, -8, 3, 3.5)))
case("qonnx", [tensor("x", [13], floats(*quant_x))], outs)

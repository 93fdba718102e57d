#!/usr/bin/env python3
"""Writes the damaged ONNX files of these golden tests to bad/. Standard library only; the files are committed.

A protobuf message is a row of (field number, value): int = varint, bytes = length-delimited.
"""
from pathlib import Path


def varint(v):
    out = b""
    while v > 0x7F:
        out += bytes([v & 0x7F | 0x80])
        v >>= 7
    return out + bytes([v])


def message(*fields):
    out = b""
    for number, v in fields:
        if isinstance(v, int):
            out += varint(number << 3) + varint(v & (1 << 64) - 1)
        else:
            v = v.encode() if isinstance(v, str) else v
            out += varint(number << 3 | 2) + varint(len(v)) + v
    return out


FLOAT = 1


def value(name, *dims):
    shape = message(*[(1, message((1, d))) for d in dims])
    return message((1, name), (2, message((1, message((1, FLOAT), (2, shape))))))


def node(op, inputs, outputs, name):
    return message(*[(1, i) for i in inputs], *[(2, o) for o in outputs], (3, name), (4, op))


def tensor(name, dims, data):
    return message(*[(1, d) for d in dims], (2, FLOAT), (8, name), (9, data))


def model(nodes, inputs, outputs, initializers=()):
    graph = message(*[(1, n) for n in nodes], (2, "bad"), *[(5, t) for t in initializers],
                    *[(11, i) for i in inputs], *[(12, o) for o in outputs])
    return message((1, 7), (8, message((2, 13))), (7, graph))


good = model([node("Relu", ["x"], ["y"], "act")], [value("x", 1, 4)], [value("y", 1, 4)])
gemm = node("Gemm", ["x", "w"], ["y"], "dense")
files = {
    "good": good,
    "cut_short": good[:-9],
    "wrong_magic": b"PK\x03\x04" + good[4:],
    "empty": b"",
    "unknown_op": model([node("Frobnicate", ["x"], ["y"], "frob")], [value("x", 1, 4)], [value("y", 1, 4)]),
    "bad_shape": model([gemm], [value("x", 1, 4)], [value("y", 1, 3)], [tensor("w", [5, 3], bytes(60))]),
    "huge_dim": model([node("Relu", ["x"], ["y"], "act")], [value("x", 1, 1 << 40)], [value("y", 1, 1 << 40)]),
    "huge_weight": model([gemm], [value("x", 1, 4)], [value("y", 1, 3)], [tensor("w", [1 << 40, 3], bytes(60))]),
    "negative_dim": model([node("Relu", ["x"], ["y"], "act")], [value("x", 1, -4)], [value("y", 1, 4)]),
    "short_weight": model([gemm], [value("x", 1, 4)], [value("y", 1, 3)], [tensor("w", [4, 3], bytes(40))]),
    "no_such_input": model([node("Relu", ["z"], ["y"], "act")], [value("x", 1, 4)], [value("y", 1, 4)]),
    "cycle": model([node("Relu", ["b"], ["a"], "first"), node("Relu", ["a"], ["b"], "second")], [value("x", 1, 4)],
                   [value("b", 1, 4)]),
}
folder = Path(__file__).resolve().parent / "bad"
folder.mkdir(exist_ok=True)
for name, data in files.items():
    (folder / f"{name}.onnx").write_bytes(data)
(folder / "cut_short.hdl").write_bytes(b"HDL\x1a" + bytes(20))
(folder / "not_hdl.hdl").write_bytes(b"hello, world\n")

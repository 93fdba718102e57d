#!/usr/bin/env python3
"""Writes the damaged ONNX files of these golden tests to bad/. Standard library only; the files are committed.
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from onnx_writer import model as any_model, node, tensor, value


def model(*parts):
    return any_model(*parts, name="bad")


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
    "lfs_pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 1024\n",
}
folder = Path(__file__).resolve().parent / "bad"
folder.mkdir(exist_ok=True)
for name, data in files.items():
    (folder / f"{name}.onnx").write_bytes(data)
(folder / "cut_short.hdl").write_bytes(b"HDL\x1a" + bytes(20))
(folder / "not_hdl.hdl").write_bytes(b"hello, world\n")

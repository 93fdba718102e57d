"""Quantising by arrays; the example."""
import os
import subprocess
import sys

import numpy as np
import pytest

import heddle
from conftest import DEVICES, usable

EXAMPLE = os.path.join(os.path.dirname(__file__), "../../runtime/python/examples/numpy_to_rtl.py")


def network():
    r = np.random.default_rng(5)
    g = heddle.Graph("float")
    x = g.input("x", (1, 3, 8, 8))
    w = r.normal(0, 0.3, (8, 3, 3, 3)).astype(np.float32)
    y = g.relu(g.conv(x, w, r.normal(0, 0.1, 8).astype(np.float32), pads=[1] * 4, name="conv"))
    y = g.reducemean(y, np.array([2, 3]), keepdims=0, name="pool")
    g.output(g.matmul(y, r.normal(0, 0.3, (8, 4)).astype(np.float32), name="dense"), "scores")
    return g


def data(n):
    r = np.random.default_rng(9)
    for _ in range(n):
        yield r.normal(size=(1, 3, 8, 8)).astype(np.float32)


def test_any_iterator():
    g = network()
    q = heddle.quantize(g, data(6))  # a generator
    assert q.score["sets"] == 6 and 0 <= q.score["same_top"] <= 6 and q.score["db"] > 15
    assert {"conv", "dense"} <= set(q.layers.column("node"))
    assert all(r["db"] > 15 and r["from"] <= 0 <= r["to"] for r in q.layers)
    assert "quantize" in q.nodes.column("op") and "conv" in q.nodes.column("op")
    same = [g.quantize([{"x": x} for x in data(6)]), g.quantize([[x] for x in data(6)])]
    assert same[0].text() == same[1].text() == q.text()


def test_runs_on_the_machine(tmp_path):
    g = network()
    q = g.quantize(data(6))
    model = q.compile("tiny")
    x = next(data(1))
    want = g.run(x)["scores"]
    got = [model.run(x, device=d)["scores"] for d in DEVICES]
    assert all(np.array_equal(y, got[0]) for y in got)
    assert np.abs(got[0] - want).max() < 0.1 * np.abs(want).max()
    assert len(model.layers) >= 3
    q.save(tmp_path / "q.onnx")
    assert np.array_equal(heddle.load(tmp_path / "q.onnx").compile("tiny").run(x)["scores"], got[0])


def test_options():
    g = network()
    kept = g.quantize(data(3), keep="#dense", range="percentile:99.9", activations="uint8")
    assert "dense" in kept.in_float.column("node") and "keep" in str(kept.in_float)
    assert len(kept.layers) < len(g.quantize(data(3), bias_correction=True, equalize=True,
                                             symmetric=True, range="entropy").layers)


def test_errors():
    g = network()
    for call, words in (
            (lambda: g.quantize([]), "no data"),
            (lambda: g.quantize([np.zeros((1, 3, 8, 8))]), "got f64"),
            (lambda: heddle._heddle.net_quantize(g._net, [[1, 2]], None, *[False] * 4, None, None),
             "2 inputs"),
            (lambda: g.quantize(data(1), range="most"), "range: got 'most'"),
            (lambda: g.quantize(data(1), device="iss"), "device: got 'iss'"),
            (lambda: g.quantize(data(1)).quantize(data(1)), "nothing to quantise")):
        with pytest.raises(heddle.Error, match=words):
            call()
    with pytest.raises(ValueError, match="int9"):
        g.quantize(data(1), activations="int9")
    with pytest.raises(ZeroDivisionError):
        g.quantize(x / 0 for x in [1])


def test_example():
    with open(EXAMPLE, encoding="utf-8") as f:
        lines = [line for line in f if line.strip()]
    assert len(lines) <= 20
    out = {}
    for device in [d for d in ("iss", "rtl") if usable(d)]:
        out[device] = subprocess.run([sys.executable, "-X", "dev", "-W", "error", EXAMPLE, device],
                                     check=True, capture_output=True, text=True).stdout
        assert "cycles, class" in out[device] and "conv" in out[device]
    assert len(set(out.values())) == 1

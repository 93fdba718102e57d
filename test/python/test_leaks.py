"""Nothing stays behind: blocks of Python, references, memory of the process."""
import gc
import sys

import numpy as np
import pytest

import heddle
from conftest import DIGITS


def pages():
    with open("/proc/self/statm", encoding="ascii") as f:
        return int(f.read().split()[1])


def settle(work, rounds):
    for _ in range(rounds):
        work()
    gc.collect()
    return sys.getallocatedblocks(), pages()


def build(_digits, _image):
    g = heddle.Graph("g")
    x = g.input("x", (1, 2, 4, 4), axes=(None, "c", None, None))
    y = g.conv(x, np.ones((2, 2, 1, 1), np.float32), kernel_shape=[1, 1], pads=[0, 0, 0, 0])
    g.output(g.relu(y, name="r") * 2, "y")
    g.text(True), g.nodes, g.inputs, g.outputs
    g.run(np.ones((1, 2, 4, 4), np.float32))


def run(digits, image):
    with digits.open("iss") as s:
        r = s.run(image)
        r.read()
        r.value("logits")
        s.queue(2)
        s.submit(image).wait()
        s.submit(image)
        s.timeline()


def fail(digits, image):
    for bad in (lambda: digits.run(image[:, :, :3]), lambda: digits.run(image, image),
                lambda: heddle.load("/no/such.onnx"), lambda: heddle.Graph("g").node("relu", 1, 2),
                lambda: heddle.compile(DIGITS, {"k": 1}),
                lambda: digits.run(image, out=np.zeros(3, np.int8)),
                lambda: heddle.parse("graph", "x")):
        with pytest.raises(heddle.Error):
            bad()


def compile(digits, image):
    m = heddle.compile(DIGITS, "tiny")
    m.layers, m.on_host, m.inputs
    heddle.compare(m, image, devices=("golden", "iss"))


@pytest.mark.parametrize("work,rounds", [(build, 100), (run, 100), (fail, 100), (compile, 20)])
def test_nothing_stays(digits, image, work, rounds):
    def once():
        work(digits, image)
    settle(once, rounds)
    blocks, before = settle(once, rounds)
    more_blocks, after = settle(once, 2 * rounds)
    assert more_blocks - blocks < rounds / 2  # less than one for four rounds
    assert after - before < 512  # pages: 2 MB


def test_references(digits, image):
    out = np.zeros((1, 10), np.float32)
    counts = [sys.getrefcount(o) for o in (image, out, None, digits._model)]
    with digits.open("iss") as s:
        for _ in range(50):
            s.run(image, out=out)
        s.queue(2)
        for _ in range(50):
            s.submit(image, out=out).wait()
    del s
    gc.collect()
    after = [sys.getrefcount(o) for o in (image, out, None, digits._model)]
    assert all(abs(a - b) < (20 if i == 2 else 1) for i, (a, b) in enumerate(zip(after, counts)))

"""What goes wrong says what, where, got, allowed."""
import numpy as np
import pytest

import heddle
from heddle import _heddle
from conftest import DIGITS


def error(call, *words, status="invalid", node=None):
    with pytest.raises(heddle.Error) as e:
        call()
    for word in words:
        assert word in str(e.value)
    assert e.value.status == status and e.value.node == node and e.value.reason == str(e.value)


def test_files(tmp_path):
    error(lambda: heddle.load(tmp_path / "absent.onnx"), "absent.onnx", status="io")
    (tmp_path / "bad.onnx").write_bytes(b"not a network")
    error(lambda: heddle.load(tmp_path / "bad.onnx"), "bad.onnx")
    error(lambda: heddle.load(tmp_path), "a folder without model.onnx", status="io")
    error(lambda: heddle.Model.loads(b"rubbish"), "model.hdl")
    error(lambda: heddle.loads(b"rubbish"))
    error(lambda: heddle.parse("graph g {", "mine"), "mine:1")
    error(lambda: heddle.load(DIGITS).save(tmp_path / "no" / "such.onnx"), status="io")


def test_machines():
    error(lambda: heddle.compile(DIGITS, "enormous"), "enormous", "tiny, base, big, nano")
    error(lambda: heddle.compile(DIGITS, {"k": 3}), "k")
    error(lambda: heddle.compile(DIGITS, {"colour": 3}), "colour")


def test_nodes():
    g = heddle.Graph("g")
    x = g.input("x", (1, 4, 8, 8))
    error(lambda: g.conv(x, np.ones((8, 3, 3, 3), np.float32), name="c1"), "c1", "(conv)",
          node="c1")
    error(lambda: g.node("teleport", x), "teleport", status="unsupported", node="teleport")
    error(lambda: g.node("conv", x), "1 operands, want 2 to 3", node="conv")
    error(lambda: g.node("relu", x, results=2), "2 results", node="relu")
    error(lambda: _heddle.add_node(g._net, "relu", None, [99], {}, 1), "tensor 99", node="relu")
    error(lambda: g.check(), "no outputs")
    assert not g.nodes  # what failed is not in it
    y = g.relu(x, name="c1")  # and its name is free for the tensor
    g.output(y)
    error(lambda: g.output(y), "already")
    g.check()


def test_axes():
    g = heddle.Graph("g")
    g.input("x", (2, 3), axes=("a", "b"))
    error(lambda: g.input("y", (4,), axes=("a",)), "axis a of length 4, it has 2")
    error(lambda: g.input("y", (2, 2), axes=("a", "a")), "twice")
    with pytest.raises(ValueError, match="1 axes for 2 dimensions"):
        g.input("y", (2, 2), axes=("a",))
    with pytest.raises(ValueError, match="another graph"):
        heddle.Graph("h").relu(g.input("z", (2,)))


def test_inputs(digits, image):
    error(lambda: digits.run(image.astype(np.float64)), "input image: got f64[1,1,8,8], want f32")
    error(lambda: digits.run(image[:, :, :7]), "got f32[1,1,7,8], want f32[1,1,8,8]")
    error(lambda: digits.run(), "image: missing")
    error(lambda: digits.run(image, image), "2 inputs given, it has 1")
    error(lambda: digits.run(image, picture=image), "picture")
    error(lambda: digits.run(image, out=np.zeros(10, np.int8)), "output logits: got i8[10]")
    error(lambda: digits.run(image, device="toaster"), "toaster", status="unsupported")
    with digits.open() as s:
        error(lambda: _heddle.session_run(s._session, [image.T], [np.zeros((1, 10), np.float32)]),
              "row-major")


def test_closed(digits, image):
    s = digits.open()
    r = s.run(image)
    s.close()
    s.close()
    error(lambda: s.run(image), "closed")
    error(lambda: r.layers, "closed")


def test_device(digits, image, tmp_path, monkeypatch):
    monkeypatch.setenv("HEDDLE_RTL_DIR", str(tmp_path))
    error(lambda: digits.open("rtl"), "rtl", "make rtl", status="device")


def test_arguments(digits):
    with pytest.raises(TypeError):
        _heddle.net_name(digits._model)
    with pytest.raises(TypeError):
        _heddle.array()
    with pytest.raises(ValueError):
        _heddle.array("f99", (1,))
    with pytest.raises(ValueError):
        _heddle.array("f32", (-1,))
    with pytest.raises(ValueError):
        _heddle.array("f32", (1 << 40, 1 << 40))
    with pytest.raises(IndexError):
        _heddle.net_tensor(heddle.Graph("g")._net, 7)
    with pytest.raises(TypeError):
        type(digits._model)()  # handles come from the library only
    with pytest.raises(AttributeError, match="teleport"):
        heddle.Graph("g").teleport


def test_attributes_of_the_class():
    e = heddle.Error("by hand")
    assert e.status is None and e.node is None and isinstance(e, Exception)

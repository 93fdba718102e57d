"""Networks that are built: operators, named axes, every operation as a method."""
import numpy as np
import pytest

import heddle


def run(graph, *inputs):
    return graph.run(*inputs, device="golden")["y"]


def test_operators():
    g = heddle.Graph("ops")
    a, b = g.input("a", (2, 3)), g.input("b", (2, 3))
    y = -((a + b) * 2 - b / 4) ** 2 + 1.5 - (3 - a) + 2 * b + 8 / (b + 4) + 1
    g.output(y, "y")
    x, z = np.arange(6, dtype=np.float32).reshape(2, 3), np.ones((2, 3), np.float32)
    want = -((x + z) * 2 - z / 4) ** 2 + 1.5 - (3 - x) + 2 * z + 8 / (z + 4) + 1
    assert np.allclose(run(g, x, z), want)


def test_numpy_on_the_left():
    g = heddle.Graph("left")
    w = np.ones((4, 3), np.float32)
    x = g.input("x", (3, 2))
    g.output(w @ x + np.full((4, 2), 2, np.float32), "y")
    assert (run(g, np.ones((3, 2), np.float32)) == 5).all()


def test_named_axes():
    g = heddle.Graph("axes")
    x = g.input("x", (2, 3), axes=("batch", "in"))
    w = g.constant(np.ones((3, 5), np.float32), name="w", axes=("in", "out"))
    y = x @ w
    assert y.axes == ("batch", "out") and y.shape == (2, 5) and "batch=2" in repr(y)
    z = y + g.constant(np.arange(5, dtype=np.float32), axes=("out",)) + \
        g.constant(np.arange(2, dtype=np.float32), axes=("batch",))
    assert z.axes == ("batch", "out")
    g.output(z, "y")
    want = 3 + np.arange(5) + np.arange(2)[:, None]
    assert np.array_equal(run(g, np.ones((2, 3), np.float32)), want)


def test_methods():
    ops = heddle.ops()
    assert len(ops) > 100 and ops["conv"][:3] == (2, 3, 1)
    g = heddle.Graph("m")
    assert "conv" in dir(g) and g.conv.__doc__ == ops["conv"][3]
    x = g.input("x", (1, 2, 4, 4))
    first, place = g.maxpool(x, kernel_shape=[2, 2], strides=[2, 2], results=2)
    assert first.shape == (1, 2, 2, 2) and place.dtype == "i64"
    y = g.clip(x, None, g.constant(1.0), name="cut")  # an operand left out
    assert y.name == "cut" and y.info.name == "cut"
    g.output(y, "y")
    assert run(g, np.full((1, 2, 4, 4), 3, np.float32)).max() == 1


def test_attributes():
    g = heddle.Graph("a")
    x = g.input("x", (1, 2, 4))
    y = g.transpose(x, perm=[2, 0, 1])
    z = g.leakyrelu(y, alpha=0.5)
    g.output(g.reshape(z, np.array([8], np.int64)), "y")
    want = np.where(np.arange(-4, 4) < 0, 0.5, 1) * np.arange(-4, 4)
    got = run(g, np.arange(-4, 4, dtype=np.float32).reshape(1, 2, 4))
    assert np.array_equal(got, want.reshape(2, 4).T.reshape(8))
    assert "perm=[2,0,1]" in g.text() and "alpha=0x1p-1" in g.text()


def test_branch():
    g = heddle.Graph("b")
    c, x = g.input("c", (), "bool"), g.input("x", (3,))
    y, n = g.branch(c, lambda b, v: [b.relu(v), v * 2], lambda b, v: [-v, b.constant([7, 7, 7.0])], x)
    g.output(y, "y")
    g.output(n, "n")
    data = np.array([-1, 0, 2], np.float32)
    yes, no = (g.run(np.array(v), data, device="cpu") for v in (True, False))
    assert yes["y"].tolist() == [0, 0, 2] and yes["n"].tolist() == [-2, 0, 4]
    assert no["y"].tolist() == [1, 0, -2] and no["n"].tolist() == [7, 7, 7]


def test_branch_errors():
    g = heddle.Graph("b")
    c, x = g.input("c", (), "bool"), g.input("x", (3,))
    with pytest.raises(ValueError, match="1 results of then, 2 of otherwise"):
        g.branch(c, lambda b, v: v, lambda b, v: [v, v], x)
    with pytest.raises(ValueError, match="of another graph"):
        g.branch(c, lambda b, v: v + x, lambda b, v: v, x)


def test_repeat():
    g = heddle.Graph("r")
    x, step = g.input("x", (2,)), g.input("step", (2,))
    n = g.input("n", (), "i64")
    total, power = g.repeat(n, lambda b, i, s, p, k: [s + k * b.cast(i, to="f32"), p * 2], x,
                            np.ones(2, np.float32), operands=[step])
    g.output(total + power, "y")
    run_n = [g.run(np.zeros(2, np.float32), np.array([1, 10], np.float32), np.array(t, np.int64),
                   device="golden")["y"].tolist() for t in (0, 1, 4)]
    assert run_n == [[1, 1], [2, 2], [6 + 16, 60 + 16]]
    once = heddle.Graph("once")
    v = once.input("v", (1,))
    once.output(once.repeat(3, lambda b, i, s: s + 1, v), "y")
    assert run(once, np.zeros(1, np.float32)).tolist() == [3]


def test_expression():
    g = heddle.Graph("e")
    x, w = g.input("x", (2, 5)), np.array([1, 2, 3], np.float32)
    y = g.expression(x, w, expression="(x: [N,L], w: [K], gain: float) -> y\n"
                     "y[n,i] += x[n,i + k]*w[k]*gain", gain=0.5)
    assert y.shape == (2, 3)
    g.output(y, "y")
    data = np.arange(10, dtype=np.float32).reshape(2, 5)
    want = [[0.5 * np.dot(r[i:i + 3], w) for i in range(3)] for r in data]
    assert np.allclose(run(g, data), want)
    with pytest.raises(heddle.Error, match="line 1"):
        g.expression(x, expression="y[i] = x[i")


def test_text_and_file(tmp_path):
    g = heddle.Graph("file")
    x = g.input("x", (1, 3))
    g.output(g.softmax(x @ np.eye(3, dtype=np.float32), axis=1), "y")
    g.save(tmp_path / "g.onnx")
    again = heddle.load(tmp_path / "g.onnx")
    data = np.array([[1, 2, 3]], np.float32)
    assert np.array_equal(run(again, data), run(g, data))
    assert [n["op"] for n in g.nodes] == ["matmul", "softmax", "identity"]

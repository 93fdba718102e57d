"""Layers and training."""
import pathlib
import subprocess

import numpy
import pytest

import heddle
from heddle.train import prefetch


def network(training, batch=16):
    g = heddle.Graph("points")
    g.layers(seed=3, training=training)
    x = g.input("x", (batch, 2), axes=("N", "features"))
    y = g.relu(g.layer("dense", x, n=16))
    y = g.layer("dropout", y, keep=0.9)
    y = g.layer("dense", y, n=2)
    if not training:
        g.output(y, "logits")
        return g
    classes = g.input("classes", (batch,), "i64", axes=("N",))
    g.output(g.layer("loss_classes", y, classes))
    g.output(g.layer("metric_right", y, classes))
    return g


def batches(n, batch=16):
    rng = numpy.random.default_rng(1)
    for _ in range(n):
        x = rng.normal(size=(batch, 2)).astype(numpy.float32)
        yield x, (x[:, 0] * x[:, 1] > 0).astype(numpy.int64)


def test_a_network_learns_and_runs():
    trainer = heddle.Trainer(network(True), optimizer="adam", rate=0.02, threads=1)
    assert trainer.results == ["loss", "right"]
    seen = []
    trainer.fit(batches(400), lambda t, r: seen.append(r["loss"]))
    assert trainer.steps == 400 and len(seen) == 400
    assert numpy.mean(seen[-50:]) < 0.6 * numpy.mean(seen[:50])
    runs = network(False)
    trainer.weights(runs)
    right = 0
    with heddle.compile(runs, host_only=True).open("cpu") as session:
        for x, classes in batches(10):
            right += int((session.run(x)["logits"].argmax(axis=1) == classes).sum())
    assert right > 140


def test_a_call_ends_the_loop_and_a_checkpoint_goes_on(tmp_path):
    first, second = (heddle.Trainer(network(True), threads=1) for _ in range(2))
    data = list(batches(5))
    first.fit(data, lambda t, r: t.steps < 3)
    assert first.steps == 3
    first.save(str(tmp_path / "c"))
    second.load(str(tmp_path / "c"))
    assert [first.step(*b) for b in data[3:]] == [second.step(*b) for b in data[3:]]


def test_steps_go_to_tensorboard(tmp_path):
    trainer = heddle.Trainer(network(True), threads=1)
    data = list(batches(3))
    trainer.step(*data[0])
    trainer.events(str(tmp_path / "run"))
    trainer.fit(data[1:])
    trainer.events(None)
    trainer.step(*data[0])
    (file,) = (tmp_path / "run").iterdir()
    assert file.name.startswith("events.out.tfevents.")
    text = file.read_bytes()
    assert text.count(b"loss") == 2 and text.count(b"right") == 2
    with pytest.raises(heddle.Error):
        trainer.events("/proc/nowhere")


def test_batches_are_read_ahead():
    assert list(prefetch(range(50))) == list(range(50))
    read = []

    def fails(n):
        for i in range(n):
            read.append(i)
            yield i
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        list(prefetch(fails(4)))
    assert read == [0, 1, 2, 3]
    ahead = prefetch(fails(100))
    assert next(ahead) == 0
    ahead.close()  # ends the thread, which has read some more at most
    assert len(read) < 10


def test_every_layer_is_told_of():
    names = heddle.layers()
    assert names["conv"] == (1, "channels size=3 stride=1") and names["attention"][0] == 2
    assert names["residual"] == (1, "channels stride=1")


def test_refusals():
    g = heddle.Graph("g")
    x = g.input("x", (4, 3))
    with pytest.raises(heddle.Error, match="no layer 'densest'"):
        g.layer("densest", x, n=2)
    with pytest.raises(heddle.Error, match="layer dense: number 'n' is missing; it has: n"):
        g.layer("dense", x)
    with pytest.raises(heddle.Error, match="1 numbers that it does not have"):
        g.layer("dense", x, n=2, m=3)
    with pytest.raises(heddle.Error, match="layer dense: 2 operands, want 1"):
        g.layer("dense", x, x, n=2)
    g.output(g.layer("dense", x, n=2))
    with pytest.raises(heddle.Error, match="optimizer 'best'"):
        heddle.Trainer(g, optimizer="best")
    trainer = heddle.Trainer(g, optimizer="sgd", threads=1)
    with pytest.raises(heddle.Error, match="input 0 of a step: 8 bytes, want 48"):
        trainer.step(numpy.zeros(2, numpy.float32))
    with pytest.raises(heddle.Error, match="a step of 1 inputs, want more"):
        trainer.step(numpy.zeros((4, 3), numpy.float32))


def test_half_precision_and_limits():
    data = list(batches(60))
    plain = heddle.Trainer(network(False), optimizer="momentum", rate=0.01, momentum=0.5, threads=1)
    half = heddle.Trainer(network(False), optimizer="momentum", rate=0.01, momentum=0.5, threads=1,
                          precision="f16", loss_scale=2**24, scale_steps=1000)
    first, then = network(False), network(False)
    assert (half.loss_scale, half.skipped, plain.loss_scale, plain.skipped) == (2**24, 0, 1, 0)
    half.step(*data[0])
    assert (half.loss_scale, half.skipped) == (2**23, 1)
    half.weights(then)
    assert then.text(True) == first.text(True)  # the factor is too large: the step is left out
    for t in (plain, half):
        t.fit(data)
    assert abs(half.step(*data[0])["loss"] - plain.step(*data[0])["loss"]) < 0.1
    half.weights(then)
    assert then.text(True) != first.text(True)
    less = heddle.Trainer(network(True), threads=1, memory="80%")
    assert less.step(*data[0]) == heddle.Trainer(network(True), threads=1).step(*data[0])
    for options, match in (({"precision": "f8"}, "precision 'f8'"), ({"memory": "x"}, "x"),
                           ({"scale_steps": 5}, "scale_steps is 5")):
        with pytest.raises(heddle.Error, match=match):
            heddle.Trainer(network(False), threads=1, **options)
    with pytest.raises(heddle.Error, match="networks of logits"):
        heddle.Trainer(network(True), threads=1, precision="bf16")


SCRIPT = """
def network(g, x):
    x = g.reshape(x, g.constant((x.shape[0], 1, 4, 4), "i64"))
    x = g.relu(g.layer("batchnorm", g.layer("conv", x, channels=8)))
    return g.layer("dense", g.layer("dropout", x, keep=0.9), n=2)
"""


def train(tmp_path, script, *options):
    """heddle train of a script on squares that are bright above or below."""
    rng = numpy.random.default_rng(1)
    classes = rng.integers(2, size=200)
    x = rng.normal(size=(200, 4, 4)).astype(numpy.float32)
    x[numpy.arange(200), 2 * classes] += 2
    numpy.savez(tmp_path / "data.npz", x=x, classes=classes)
    (tmp_path / "net.py").write_text(script)
    program = pathlib.Path(heddle.__file__).parents[2] / "heddle"
    return subprocess.run([program, "train", tmp_path / "net.py", "--data", tmp_path / "data.npz",
                           "--threads", "1", *options], capture_output=True, text=True, check=False)


def test_the_program_trains_a_script(tmp_path):
    done = train(tmp_path, SCRIPT, "--set", "epochs=4", "-o", tmp_path / "a.onnx")
    assert done.returncode == 0, done.stderr
    right = float(done.stdout.split("held out")[1].split("%")[0])
    assert right > 90
    net = heddle.load(str(tmp_path / "a.onnx"))
    assert [i.shape for i in net.inputs] == [(1, 4, 4)] and [o.shape for o in net.outputs] == [(1, 2)]
    # the file runs with the statistics that were followed: it is as right as was said
    with numpy.load(tmp_path / "data.npz") as data:
        x, classes = data["x"], data["classes"]
    with heddle.compile(net, host_only=True).open("cpu") as session:
        own = numpy.mean([session.run(i[None])[0].argmax() == k for i, k in zip(x, classes)])
    assert own > 0.9
    # what a checkpoint goes on to are the same bits
    kept = ("--set", f"checkpoint={tmp_path / 'c'}", "--set", "schedule=constant")
    train(tmp_path, SCRIPT, *kept, "--set", "epochs=1")
    more = train(tmp_path, SCRIPT, "--resume", tmp_path / "c", *kept[2:], "--set", "epochs=3", "-o", tmp_path / "b.onnx")
    assert "goes on behind step 5" in more.stdout
    train(tmp_path, SCRIPT, *kept[2:], "--set", "epochs=3", "-o", tmp_path / "c.onnx")
    assert (tmp_path / "b.onnx").read_bytes() == (tmp_path / "c.onnx").read_bytes()


def test_scripts_that_cannot_be_trained(tmp_path):
    for script, match in (("def network(g, x):\n    return g.layer('dens', x, n=2)",
                           "net.py\", line 2, in network"),
                          ("def network(g, x) x", "SyntaxError"),
                          ("", "there is no function network(g, x)"),
                          ("def network(g, x):\n    pass", "gave None, want a tensor of g")):
        done = train(tmp_path, script)
        assert done.returncode == 1 and match in done.stderr, done.stderr
        assert "/heddle/script.py" not in done.stderr

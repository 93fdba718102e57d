"""Load, compile, run: every way in, every device, memory in place."""
import os
import subprocess
import sys

import numpy as np
import pytest

import heddle
from conftest import DEVICES, DIGITS, conv

FILE = os.path.join(DIGITS, "model.onnx")


def test_version_devices_machines():
    assert heddle.__version__[0].isdigit() and "." in heddle.__version__
    assert {"golden", "cpu", "iss", "rtl"} <= set(heddle.devices().column("device"))
    assert heddle.machines() == ["tiny", "base", "big", "nano", "lean", "k26"]
    rows = {r["parameter"]: r for r in heddle.machine({"base": "tiny", "queue_ops": 8})}
    assert rows["queue_ops"]["value"] == 8 and rows["queue_ops"]["least"] <= 8


def test_load():
    net = heddle.load(FILE)
    assert net.name == "digits" and "digits" in repr(net)
    assert [(i.name, i.dtype, i.shape) for i in net.inputs] == [("image", "f32", (1, 1, 8, 8))]
    assert [o.name for o in net.outputs] == ["logits"]
    assert "DequantizeLinear" not in net.nodes.column("op") and len(net.nodes) > 7
    again = heddle.parse(net.text(full=True))
    assert again.text() == net.text()
    with open(FILE, "rb") as f:
        assert heddle.loads(f.read()).text() == net.text()
    net.check()


def test_any_size():
    net = heddle.AnySize(os.path.join(DIGITS, "../../golden/quantize/batch.onnx"), "golden", most=2)
    x = np.linspace(-1, 1, 4 * 32, dtype=np.float32).reshape(4, 2, 4, 4)
    results = []
    for n, compiled in (1, 1), (3, 2), (1, 2), (4, 3), (1, 3), (3, 4):  # 4 takes the place of 3
        results.append(net.run(x[:n]))
        assert net.compiled == compiled and results[-1]["y"].shape == (n, 5)
        assert np.array_equal(results[-1]["y"][0], results[0]["y"][0])
    assert np.array_equal(results[1]["y"], results[-1]["y"])  # also of a session that went
    assert np.array_equal(net.run(x=x[:3])["y"], net.run({"x": x[:3]})["y"]) and net.compiled == 4
    assert "2 of 2 sizes" in repr(net)
    with pytest.raises(heddle.Error):
        net.run(np.zeros((1, 3, 4, 4), np.float32))
    with pytest.raises(TypeError):
        net.run(x, x)
    with pytest.raises(ValueError):
        heddle.AnySize(DIGITS, most=0)


def test_open_dimensions():
    text = "graph g {\n  input x f32[2,3]\n  y f32[2,3] = relu(x)\n  output y\n}\n"
    g = heddle.parse(text)
    assert g.run(np.full((2, 3), -1, np.float32), device="golden")["y"].max() == 0


def test_sizes(tmp_path):
    path = str(tmp_path / "g.onnx")
    heddle.load(FILE).save(path)
    assert heddle.load(path, sizes={"image": (1, 1, 8, 8)}).inputs[0].shape == (1, 1, 8, 8)
    with pytest.raises(heddle.Error) as e:
        heddle.load(path, sizes={"nobody": 3})
    assert "nobody" in str(e.value)


@pytest.mark.parametrize("device", DEVICES)
def test_devices(digits, image, device):
    want = digits.run(image, device="golden")[0]
    with digits.open(device) as session:
        result = session.run(image)
        assert np.array_equal(result["logits"], want) and np.array_equal(result[0], want)
        assert np.array_equal(np.asarray(result), want)
        machine = device in ("iss", "rtl")
        assert (result.cycles > 0) == machine and session.cycles == result.cycles
        assert sum(row["cycles"] for row in result.layers) <= result.cycles
        assert bool(result.steps) == (device == "cpu")
        assert [u["unit"] for u in result.units][:2] == ["seq", "lx"]
        assert list(result) == ["logits"] and len(result) == 1 and device in repr(session)


@pytest.mark.skipif("rtl" not in DEVICES, reason="its model is not built")
def test_cycles_agree(digits, image):
    iss, rtl = (digits.run(image, device=d) for d in ("iss", "rtl"))
    assert iss.layers == rtl.layers and iss.totals == rtl.totals


def test_inputs_by_name(digits, image):
    want = digits.run(image)[0]
    assert np.array_equal(digits.run(image=image)[0], want)
    assert np.array_equal(digits.run({"image": image})[0], want)
    assert np.array_equal(digits.run(image.tolist())[0], want)
    assert np.array_equal(digits.run(image[0])[0], want)  # leading dimensions of 1
    assert np.array_equal(digits.run(memoryview(image))[0], want)
    assert np.array_equal(digits.run(np.asfortranarray(image).transpose(0, 1, 2, 3))[0], want)


def test_outputs_in_place(digits, image):
    want = digits.run(image)[0]
    mine = np.zeros((1, 10), np.float32)
    with digits.open() as s:
        for out in (mine, [mine], {"logits": mine}):
            mine[:] = 0
            r = s.run(image, out=out)
            assert np.array_equal(mine, want)
            assert r[0].ctypes.data == mine.ctypes.data  # no copy
        with pytest.raises(heddle.Error, match="writable"):
            frozen = mine.copy()
            frozen.flags.writeable = False
            s.run(image, out=frozen)


def test_results_are_views(digits, image):
    r = digits.run(image)
    memory = memoryview(r[0].base if r[0].base is not None else r[0])
    assert memory.format == "f" and memory.shape == (1, 10)


def test_options(digits, image):
    plain = digits.run(image).cycles
    with digits.open("iss", memory_latency=300) as s:
        assert s.run(image).cycles > plain
    with digits.open("iss", jitter_seed=3) as s:
        assert s.run(image).cycles != plain
    with digits.open("iss", functional=True) as s:
        assert np.array_equal(s.run(image)[0], digits.run(image)[0])
    with digits.open("cpu", timed=True, threads=1) as s:
        assert sum(s.run(image).steps.column("seconds")) > 0
    assert heddle.compile(DIGITS, "tiny", in_order=True).run(image).cycles > plain


def test_compiled_before(image, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    plain = heddle.compile(DIGITS, "tiny").run(image)
    assert not list(tmp_path.rglob("*"))
    for _ in range(2):
        r = heddle.compile(DIGITS, "tiny", cache_mib=8).run(image)
        assert np.array_equal(r[0], plain[0]) and r.cycles == plain.cycles
        kept = [f for f in (tmp_path / "heddle" / "compiled").iterdir() if f.stat().st_size > 1000]
        assert len(kept) == 1
    with pytest.raises(heddle.Error, match="cache_mib is -1"):
        heddle.compile(DIGITS, "tiny", cache_mib=-1)


def test_files(digits, image, tmp_path):
    path = tmp_path / "digits.hdl"
    digits.save(path)
    a, b = heddle.Model.load(path), heddle.Model.loads(path.read_bytes())
    assert np.array_equal(a.run(image)[0], b.run(image)[0])
    assert a.machine == "tiny" and a.layers == digits.layers and a.on_host == digits.on_host
    machine = tmp_path / "mine.machine"
    machine.write_text("base = tiny\nqueue_ops = 8\n")
    assert heddle.compile(DIGITS, machine).run(image).cycles == \
        heddle.compile(DIGITS, {"base": "tiny", "queue_ops": 8}).run(image).cycles


def test_tables(digits, image):
    layers = digits.run(image).layers
    assert layers.columns[:3] == ["layer", "op", "cycles"] and len(layers) == 7
    assert "conv1" in str(layers) and "<td>conv1</td>" in layers._repr_html_()
    assert sum(layers.column("macs")) == 378176
    assert str(heddle.Table()) == "(empty)"
    assert {"image_q", "dense_dq"} <= set(digits.on_host.column("node"))
    assert "reads float" in digits.on_host[0]["reason"]


def test_result_of_an_earlier_run(digits, image):
    with digits.open() as s:
        first = s.run(image)
        first.read()
        second = s.run(image)
        third = s.run(image)
        assert first.layers == third.layers
        with pytest.raises(heddle.Error, match="begun run 3"):
            second.layers


def test_rounding():
    case = os.path.join(os.path.dirname(DIGITS), "../golden/import/rounding_cases/elem")
    inputs = [np.load(f"{case}/test_data_set_0/input_{i}.npy") for i in range(2)]
    want = np.load(f"{case}/test_data_set_0/output_2.npy")
    got = {r: heddle.load(f"{case}/model.tflite", rounding=r).compile(host_only=True)
           .run(*inputs, device="cpu")["r"] for r in ("float", "tflite")}
    assert np.array_equal(got["tflite"], want) and not np.array_equal(got["float"], want)
    with pytest.raises(heddle.Error, match="want float or tflite"):
        heddle.load(f"{case}/model.tflite", rounding="up")


def test_values():
    model = os.path.join(os.path.dirname(DIGITS), "../golden/import/models/if_run_time.onnx")
    net = heddle.load(model, values={"c": 0})
    assert [t.name for t in net.inputs] == ["x", "z"]
    y = net.compile(host_only=True).run(np.float32([3, -4]), np.float32([2]), device="golden")["y"]
    assert np.array_equal(y, [6, -8])
    with pytest.raises(heddle.Error, match="nosuch"):
        heddle.load(model, values={"nosuch": 1})
    with pytest.raises(TypeError):
        heddle.load(model, values={"c": "no"})


def test_parts(digits, image):
    parts = digits.run(image, device="iss").parts
    assert {"iss", "golden"} == set(parts.column("device")) and sum(parts.column("nodes")) > 7
    assert all(r["out_bytes"] > 0 and r["seconds"] >= 0 for r in parts)


def test_report(digits, image, tmp_path):
    page = tmp_path / "page.html"
    with digits.open(profile=True) as s:
        s.run(image).report(page)
    text = page.read_text()
    assert "conv1" in text and '"ops":{' in text and '"places":[{' in text
    with digits.open() as s, pytest.raises(heddle.Error, match="with profile"):
        s.run(image).report(page)
    with digits.open("golden", profile=True) as s, pytest.raises(heddle.Error, match="golden"):
        s.run(image).report(page)
    with digits.open(profile=True) as s, pytest.raises(heddle.Error, match="no/such"):
        s.run(image).report("no/such/page.html")


def test_values(image):
    model = heddle.compile(DIGITS, "tiny", keep_all=True)
    with model.open() as s, model.open("golden") as g:
        r, want = s.run(image), g.run(image)
        for name in ("conv1", "res_add", "dense_q"):
            names = [v.name for v in model.values]
            value = next(n for n in names if n.startswith(name))
            assert np.array_equal(r.value(value), want.value(value))
        with pytest.raises(KeyError):
            r.value("nobody")


def test_compare(digits, image):
    c = heddle.compare(digits, image, devices=DEVICES)
    assert c.equal and c.first is None
    assert {"logits", "dense_q"} <= set(c.column("value"))
    assert set(c.column("device")) == set(DEVICES[1:])
    i = [v.name for v in digits.values].index("logits")
    from heddle import _heddle
    a, b = np.zeros((1, 10), np.float32), np.zeros((1, 10), np.float32)
    b[0, 3] = 2
    d = _heddle.model_compare(digits._model, i, a, b)
    assert (d["n"], d["differ"], d["first"], d["max"]) == (10, 1, 3, 2)


def test_queue(digits, image):
    want = digits.run(image)[0]
    with digits.open() as s:
        s.queue(4)
        requests = [s.submit(image) for _ in range(4)]
        with pytest.raises(heddle.Error, match="in flight"):
            s.submit(image)
        for r in requests:
            assert np.array_equal(r.wait()["logits"], want)
            assert np.array_equal(r.wait()["logits"], want)  # done is done
        assert {row["on_machine"] for row in s.timeline()} == {True, False}
        s.submit(image)  # given up by nobody, waited for by its end


def test_types():
    """Every type that Python has goes in and out, and those that it lacks as their bits."""
    from heddle import _heddle
    types = _heddle.types()
    assert types["f32"] == 4 and types["i4"] == 1 and types["bf16"] == 2
    for name in ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "f32", "f64", "bool"):
        g = heddle.Graph("t")
        x = g.input("x", (3,), name)
        g.output(g.identity(x), "y")
        data = np.array([0, 1, 1], heddle.arrays.NUMPY[name])
        y = g.run(data, device="golden")["y"]
        assert y.dtype == data.dtype and np.array_equal(y, data)
        assert heddle.arrays.dtype_of(data) == name
    g = heddle.Graph("t")
    x = g.input("x", (2,), "bf16")
    g.output(g.cast(x, to="f32"), "y")
    bits = np.array([0x3f80, 0x4000], np.uint16)
    assert g.run(bits, device="golden")["y"].tolist() == [1, 2]


def test_scalars():
    g = heddle.Graph("s")
    g.output(g.input("x", ()) * 2, "y")
    assert g.run(3, device="golden")["y"] == 6 and g.run(3.0)["y"].shape == ()


def test_two_outputs():
    g = heddle.Graph("two")
    x = g.input("x", (4,))
    g.output(g.relu(x), "a")
    g.output(-x, "b")
    r = g.run([1.0, -1.0, 0.5, 2.0])
    assert r["a"].tolist() == [1, 0, 0.5, 2] and r["b"].tolist() == [-1, 1, -0.5, -2]
    with pytest.raises(TypeError, match="a, b"):
        np.asarray(r)
    with pytest.raises(KeyError):
        r["c"]


def test_without_numpy():
    code = """
import sys
sys.modules["numpy"] = None
import heddle
m = heddle.compile(sys.argv[1], "tiny")
r = m.run([[[[0.0] * 8] * 8]])
assert type(r[0]) is memoryview and r[0].shape == (1, 10) and r.cycles > 0
g = heddle.Graph("g")
g.output(g.input("x", ()) + 1, "y")
assert g.run(2)["y"].tolist() == 3
"""
    subprocess.run([sys.executable, "-X", "dev", "-W", "error", "-c", code, DIGITS], check=True)


def test_states():
    text = ("graph g {\n  input x f32[1]\n  input h f32[1]\n  variable h f32[1] = {0x1p+1}\n"
            "  y f32[1] = relu(x)\n  next f32[1] = add(y, h)\n  output y\n  output next\n}\n")
    model = heddle.parse(text).compile(host_only=True)
    assert model.states == {"h": "next"}
    with model.open("golden") as s:
        first = s.run([1.0])
        assert first["next"] == 3 and s.run([1.0], h=first["next"])["next"] == 4
        assert s.run([1.0])["next"] == 5  # the session keeps it
        saved = s.save_state()
        assert s.run([1.0])["next"] == 6
        s.load_state(saved)
        assert s.run([1.0])["next"] == 6
        s.reset()
        assert s.run([1.0])["next"] == 3
        with pytest.raises(heddle.Error, match="damaged|cut short"):
            s.load_state(saved[:-1])
    net = heddle.parse(text.replace("  variable h f32[1] = {0x1p+1}\n", ""))
    net.keep({"next": "h"})
    with net.compile(host_only=True).open("cpu") as s:
        assert [s.run([1.0])["next"][0] for _ in range(3)] == [1, 2, 3]
    with pytest.raises(heddle.Error, match="no output 'other'"):
        net.keep({"other": "h"})


def test_integer_network_on_machine():
    g = heddle.Graph("int")
    x = g.input("x", (1, 8, 6, 6), "i8")
    g.output(conv(g, x, 16, 8), "y")
    model = g.compile("tiny")
    data = np.random.default_rng(3).integers(-128, 127, (1, 8, 6, 6), dtype=np.int8)
    assert np.array_equal(model.run(data)["y"], model.run(data, device="golden")["y"])
    assert not model.on_host and len(model.layers) == 1

"""The package as such: stubs, docstrings, tables with pandas, pictures with matplotlib."""
import ast
import importlib
import importlib.util
import inspect
import os
import subprocess
import sys
import types

import pytest

import heddle
from conftest import DIGITS

FOLDER = os.path.dirname(heddle.__file__)
STUBS = ["arrays", "graph", "model", "network", "plot", "table"]


def parameters(function):
    """Names of a stub's parameters, with their kind: *, ** or none."""
    a = function.args
    names = [x.arg for x in a.posonlyargs + a.args]
    names += ["*" + a.vararg.arg] if a.vararg else []
    names += [x.arg for x in a.kwonlyargs]
    return names + (["**" + a.kwarg.arg] if a.kwarg else [])


def actual(function):
    marks = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return [marks.get(p.kind, "") + p.name for p in inspect.signature(function).parameters.values()]


def own(thing, module):
    """Public names that a module or class defines itself."""
    for name, value in vars(thing).items():
        defined = getattr(value, "__module__", module) == module or isinstance(value, property)
        if not name.startswith("_") and defined and not isinstance(value, types.ModuleType):
            if callable(value) or isinstance(value, (property, classmethod)):
                yield name


def check(stub, thing, module, where):
    found = set()
    for node in stub.body:
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            continue
        found.add(node.name)
        value = inspect.getattr_static(thing, node.name)
        if isinstance(node, ast.ClassDef):
            check(node, value, module, f"{where}.{node.name}")
        elif not isinstance(value, property):
            function = getattr(thing, node.name)
            bound = isinstance(value, classmethod)
            stands = parameters(node)[1 if bound else 0:]
            options = "**options" in actual(function)  # handed on; the stub has them all
            assert options or stands == actual(function), f"{where}.{node.name}"
    assert {n for n in own(thing, module)} <= found | {"_fields"}, where


@pytest.mark.parametrize("name", STUBS)
def test_stubs(name):
    module = importlib.import_module("heddle." + name)
    with open(os.path.join(FOLDER, name + ".pyi"), encoding="utf-8") as f:
        check(ast.parse(f.read()), module, "heddle." + name, name)


def test_stub_of_the_package():
    with open(os.path.join(FOLDER, "__init__.pyi"), encoding="utf-8") as f:
        text = f.read()
    for name in heddle.__all__:
        assert hasattr(heddle, name) and (f"{name} as {name}" in text or f"def {name}(" in text)
    assert os.path.exists(os.path.join(FOLDER, "py.typed"))


def test_docstrings():
    assert heddle.__doc__ and heddle.Error.__doc__
    for name in heddle.__all__:
        thing = getattr(heddle, name)
        assert thing.__doc__, name
        for member in own(thing, thing.__module__) if isinstance(thing, type) else []:
            assert inspect.getdoc(getattr(thing, member)), f"{name}.{member}"


def test_explore(image):
    rows = heddle.explore(DIGITS, ["tiny", {"base": "tiny", "queue_ops": 8}, {"k": 3}], image)
    assert rows[0]["cycles"] > 0 and rows[1]["machine"] == "tiny+queue_ops=8"
    assert rows[2]["cycles"] is None and "k" in rows[2]["why_not"]


def elsewhere(module, code):
    """In a process of its own, without -W error: what others warn of is not ours."""
    if not importlib.util.find_spec(module):
        pytest.skip(f"{module} is not installed")
    start = (f"import heddle, numpy\nm = heddle.compile({DIGITS!r}, 'tiny')\n"
             "layers = m.run(numpy.zeros((1, 1, 8, 8), numpy.float32)).layers\n")
    subprocess.run([sys.executable, "-c", start + code], check=True, env={
        **os.environ, "PYTHONWARNINGS": "", "PYTHONDEVMODE": "", "MPLBACKEND": "Agg"})


def test_pandas():
    elsewhere("pandas", """
import pandas
frame = layers.to_pandas()
assert list(frame.columns) == layers.columns and frame["macs"].sum() == 378176
assert pandas.DataFrame(layers).equals(frame)
""")


class Recorder:
    """In place of matplotlib's axes."""

    def __init__(self):
        self.calls = []

    def __getattr__(self, name):
        return lambda *a, **k: self.calls.append((name, a))


@pytest.fixture
def pyplot(monkeypatch):
    """matplotlib, or what stands for it where it is not installed."""
    axes = Recorder()
    module = types.ModuleType("matplotlib")
    module.pyplot = types.SimpleNamespace(subplots=lambda: (None, axes))
    monkeypatch.setitem(sys.modules, "matplotlib", module)
    return axes


def test_pictures(digits, image, pyplot):
    from heddle import plot
    layers = digits.run(image).layers
    assert layers.plot(y="cycles") is pyplot
    name, (_, heights) = pyplot.calls[0]
    assert name == "bar" and heights == layers.column("cycles")
    plot.layers(layers)
    plot.roofline(layers, peak=64, bandwidth=16)
    assert sum(c[0] == "plot" for c in pyplot.calls) == sum(m > 0 for m in layers.column("macs")) + 1
    assert heddle.Table().plot() is pyplot


def test_pictures_for_real():
    elsewhere("matplotlib", """
from heddle import plot
for axes in (layers.plot(), plot.layers(layers), plot.roofline(layers, 64, 16)):
    axes.figure.canvas.draw()
""")


def test_without_matplotlib(digits, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match="python3-matplotlib"):
        digits.layers.plot()

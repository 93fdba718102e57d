"""Networks that a script describes, for `heddle train SCRIPT.py`.

The script has a function network(g, x): x is the input of a Graph, and what it gives are logits
[batch, classes]. It is called for the network that is trained, where g.layer() drops and follows
statistics, and for the one that runs; both have to get the same layers in the same order.

    python3 -m heddle.script SCRIPT.py FOLDER SEED BATCH DIMENSION...

writes the text forms (docs/ir.md) FOLDER/train, FOLDER/score and FOLDER/run: the first two for a
batch, the last for one sample.
"""
import os
import runpy
import sys
import traceback

from heddle.graph import Graph, Tensor

NAMES = {3: ("C", "H", "W")}


def build(network, name, shape, seed, training):
    """The Graph of network(g, x), whose input has this shape, batch first."""
    g = Graph(name)
    g.layers(seed, training)
    axes = NAMES.get(len(shape) - 1, (None,) * (len(shape) - 1))
    y = network(g, g.input("x", shape, axes=("N", *axes)))
    if not isinstance(y, Tensor) or y.graph is not g:
        raise TypeError(f"network(g, x) gave {y!r}, want a tensor of g: logits [batch, classes]")
    g.output(y)
    return g


def main(path, folder, seed, batch, *dimensions):
    """Runs the script, and writes the three networks."""
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    network = runpy.run_path(path).get("network")
    if not callable(network):
        raise TypeError(f"{path}: there is no function network(g, x), which gives logits")
    name, sample = os.path.splitext(os.path.basename(path))[0], [int(n) for n in dimensions]
    for file, n, training in ("train", int(batch), True), ("score", int(batch), False), ("run", 1, False):
        g = build(network, name, (n, *sample), int(seed), training)
        with open(os.path.join(folder, file), "w", encoding="utf-8") as f:
            f.write(g.text(True))


def _told(error):
    """An exception, with the lines of the script that led to it, and none of this package."""
    here = os.path.dirname(os.path.abspath(__file__))
    lines = [f for f in traceback.extract_tb(error.__traceback__)
             if not f.filename.startswith((here, "<frozen"))]
    return "".join(traceback.format_list(lines) + traceback.format_exception_only(error))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Exception as e:  # pylint: disable=broad-except
        sys.exit(_told(e).rstrip())

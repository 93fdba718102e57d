#!/usr/bin/env python3
"""make_decoder.py OUT.onnx: a float network that doubles an image, resizes that to 13 x 9 between its corners and that
to half, with a convolution in front of each; weights from a seed. Standard library only."""
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from onnx_writer import *

r = random.Random(5)
nodes, constants, c, x = [], [], 3, "x"
ways = [("half_pixel", None, (2, 2)), ("align_corners", (13, 9), None), ("asymmetric", None, (0.5, 0.5))]
for i, (mode, sizes, scales) in enumerate(ways):
    to = 6 + 7 * i
    weights = [r.gauss(0, (9 * c) ** -0.5) for _ in range(to * c * 9)]
    constants.append(tensor(f"w{i}", [to, c, 3, 3], floats(*weights)))
    nodes.append(node("Conv", [x, f"w{i}"], [f"c{i}"], f"conv{i}", ints("pads", 1, 1, 1, 1)))
    if scales:
        constants.append(tensor(f"s{i}", [4], floats(1, 1, *scales)))
    else:
        constants.append(tensor(f"s{i}", [4], longs(1, to, *sizes), INT64))
    operands = [f"c{i}", "", f"s{i}"] if scales else [f"c{i}", "", "", f"s{i}"]
    x = "y" if i == 2 else f"r{i}"
    nodes.append(node("Resize", operands, [x], f"resize{i}", string("mode", "linear"),
                      string("coordinate_transformation_mode", mode)))
    c = to
Path(sys.argv[1]).write_bytes(model(nodes, [value("x", 1, 3, 8, 10)], [value("y", 1, c, 6, 4)], constants, opset=17))

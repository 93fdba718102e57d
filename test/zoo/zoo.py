#!/usr/bin/env python3
"""Small networks of the architectures that people bring, as exporters write them: zoo.py FOLDER [SEED] [batches]

Each public function of images.py and sequences.py is one network, with random weights, in the opset and with the operations
that PyTorch's exporter gives it; sizes are drawn from SEED (1). Below FOLDER every network gets a folder with model.onnx
and one set of inputs; with `batches` the number of samples is left open. Standard library only.
"""
import inspect
import sys

import images
import sequences
from network import Network

OPSET = {"mobilenet_v3": 14, "yolo": 11}  # others: 13
CLOSED = {"denoiser", "mobilevit", "separation", "sound_events", "swin"}  # samples and places share a dimension


def networks(module):
    return [f for _, f in inspect.getmembers(module, inspect.isfunction)
            if f.__module__ == module.__name__ and not f.__name__.startswith("_")]


def main():
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    for build in networks(images) + networks(sequences):
        g = Network(build.__name__, OPSET.get(build.__name__, 13), seed, "batches" in sys.argv[3:] and build.__name__ not in CLOSED)
        g.write(sys.argv[1], *build(g))


main()

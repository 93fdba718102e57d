"""Heddle: from a network to results and cycles on an int8 machine.

    import heddle
    net = heddle.load("model.onnx")                 # ONNX, TensorFlow Lite, Caffe, StableHLO
    model = heddle.compile(net, machine="base")     # a name, a file, or a dict
    result = model.run(image, device="iss")         # golden, cpu, iss, rtl
    print(result[0], result.cycles)
    print(result.layers)                            # a table; pandas.DataFrame(result.layers) works

Arrays are whatever has the buffer protocol: numpy arrays, memoryviews, array.array. They are read
and written in place. Results are numpy arrays where numpy is installed, else memoryviews.

Every failure of the library is a heddle.Error. Work that takes long gives the interpreter's lock
away, and Ctrl-C ends it.
"""
from heddle import _heddle
from heddle._heddle import Error
from heddle.any_size import AnySize
from heddle.graph import Graph, Tensor, ops
from heddle.model import Comparison, Model, Request, Result, Session, compare, explore
from heddle.network import (Network, Quantized, TensorInfo, compile, load, loads, parse,
                            quantize)
from heddle.table import Table
from heddle.train import Trainer, layers

__version__ = _heddle.version()


def devices():
    """Table of the devices: name, whether it can be used here, and if not why."""
    return Table({"device": name, "available": why is None, "why_not": why}
                 for name, why in _heddle.devices())


def machines():
    """Names of the machines that compile() knows without a file."""
    return _heddle.machines()


def machine(machine="base"):
    """Table of the parameters of a machine: a name, a file, or a dict as in compile()."""
    from heddle.network import machine_of
    return Table({"parameter": name, "value": value, "least": least, "most": most, "doc": doc}
                 for name, value, least, most, doc in _heddle.machine_values(*machine_of(machine)))


__all__ = ["AnySize", "Comparison", "Error", "Graph", "Model", "Network", "Quantized", "Request",
           "Result", "Session", "Table", "Tensor", "TensorInfo", "Trainer", "compare", "compile",
           "devices", "explore", "layers", "load", "loads", "machine", "machines", "ops", "parse",
           "quantize"]

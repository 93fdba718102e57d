#!/usr/bin/python3
"""contrast.onnx: its classes differ by a part of the input that int8 steps of the whole swallow, so
that the first product has to stay float. contrast.npy: data. Run in this folder."""
import numpy as np
import onnx
from onnx import helper, numpy_helper

def const(name, v):
    return numpy_helper.from_array(np.array(v, np.float32), name)

nodes = [
    helper.make_node("Gemm", ["x", "w1", "b1"], ["h1"], "contrast"),
    helper.make_node("Relu", ["h1"], ["r1"], "relu"),
    helper.make_node("Gemm", ["r1", "w2", "b2"], ["y"], "classes"),
]
consts = [const("w1", [[0.02, 0, 0], [0, 50, -50]]), const("b1", [0, 0, 0]),
          const("w2", [[1, 1], [1, 0], [0, 1]]), const("b2", [0, 0])]
info = helper.make_tensor_value_info
graph = helper.make_graph(nodes, "contrast", [info("x", 1, [1, 2])], [info("y", 1, [1, 2])], consts)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
          "contrast.onnx")
np.save("contrast.npy", np.array([[100, 0.05], [100, -0.05], [50, 0.04], [50, -0.04], [5, 0.03],
                                  [-80, -0.03]], np.float32))

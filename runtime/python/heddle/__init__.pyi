from heddle._heddle import Error as Error
from heddle.any_size import AnySize as AnySize
from heddle.graph import Graph as Graph, Tensor as Tensor, ops as ops
from heddle.model import (Comparison as Comparison, Model as Model, Request as Request,
                          Result as Result, Session as Session, compare as compare,
                          explore as explore)
from heddle.network import (Machine, Network as Network, Quantized as Quantized,
                            TensorInfo as TensorInfo, compile as compile, load as load,
                            loads as loads, parse as parse, quantize as quantize)
from heddle.table import Table as Table
from heddle.train import Trainer as Trainer, layers as layers

__version__: str
__all__: list[str]

def devices() -> Table: ...
def machines() -> list[str]: ...
def machine(machine: Machine = "base") -> Table: ...

"""Networks: read, look at, compile."""
import os
from typing import NamedTuple, Optional, Tuple

from heddle import _heddle, arrays
from heddle.table import Table


class TensorInfo(NamedTuple):
    """What is known of a tensor. dtype and shape are None while only a run knows them."""
    name: str
    dtype: Optional[str]
    shape: Optional[Tuple[int, ...]]
    axes: Tuple[Optional[str], ...] = ()


def machine_of(machine):
    """A machine as the library takes it: name or file, and settings. A dict is the settings, and
    its item "base" what they are applied to."""
    if isinstance(machine, dict):
        settings = dict(machine)
        base = settings.pop("base", "base")
        return os.fspath(base), [f"{name}={value}" for name, value in settings.items()]
    return os.fspath(machine), []


class Network:
    """A network as it was read or built. load(), loads() and parse() give one; Graph is one."""

    def __init__(self, handle):
        self._net = handle

    def _info(self, tensor):
        (name, dtype, shape), axes = _heddle.net_tensor(self._net, tensor)
        return TensorInfo(name, dtype, shape, axes)

    @property
    def name(self):
        """Name of the network."""
        return _heddle.net_name(self._net)

    @property
    def inputs(self):
        """TensorInfo of each input."""
        return [self._info(t) for t in _heddle.net_inputs(self._net)]

    @property
    def outputs(self):
        """TensorInfo of each output."""
        return [self._info(t) for t in _heddle.net_outputs(self._net)]

    @property
    def nodes(self):
        """Table of the nodes, in an order in which they may run."""
        rows = Table()
        for name, op, tensor in _heddle.net_nodes(self._net):
            info = self._info(tensor) if tensor >= 0 else TensorInfo("", None, None)
            rows.append({"node": name, "op": op, "dtype": info.dtype, "shape": info.shape})
        return rows

    def text(self, full=False):
        """The text form (docs/ir.md); large constants as a hash unless full. parse() reads it."""
        return _heddle.net_text(self._net, full)

    def save(self, path):
        """Writes it as ONNX."""
        _heddle.net_save(self._net, path)

    def keep(self, states):
        """Makes states of outputs and inputs, {output: input}: what an output is in one run, the input
        is in the next one of a session. They begin with zero, and go to the ends of the lists."""
        for output, name in states.items():
            _heddle.net_state(self._net, output, name)

    def check(self):
        """Raises heddle.Error where the network is not well formed."""
        _heddle.net_check(self._net)

    def compile(self, machine="base", **options):
        """See heddle.compile."""
        return compile(self, machine, **options)

    def quantize(self, data, **options):
        """See heddle.quantize."""
        return quantize(self, data, **options)

    def run(self, *inputs, device="cpu", **named):
        """Runs the network as it is, on golden or cpu. Compile it to run it more than once."""
        return compile(self, host_only=True).run(*inputs, device=device, **named)

    def __repr__(self):
        def ends(list_):
            return ", ".join(f"{t.name} {t.dtype}{list(t.shape or ())}" for t in list_)
        return f"<heddle.Network {self.name}: {ends(self.inputs)} -> {ends(self.outputs)}>"


def load(path, sizes=None, *, rounding=None, values=None):
    """Reads a network: a file of ONNX, TensorFlow Lite, Caffe or StableHLO, or a folder with one.

    sizes: of open dimensions, {input: shape} or {name of the dimension: size}. Without, the first
    dimension of an input is a batch of 1. rounding: of integer layers of TensorFlow Lite, "float"
    or "tflite", which rounds as its kernels do, for devices golden and cpu. values: {input: number},
    inputs of an ONNX file that become constants.
    """
    sizes = {name: size if isinstance(size, (list, tuple)) else (size,)
             for name, size in (sizes or {}).items()}
    return Network(_heddle.net_load(path, sizes, rounding, dict(values or {})))


def loads(data, name="model.onnx"):
    """Reads a network from bytes; the extension of name tells the format."""
    return Network(_heddle.net_load_memory(data, name))


def parse(text, name="text"):
    """Reads a network from its text form."""
    return Network(_heddle.net_parse(text, name))


def compile(network, machine="base", *, host_only=False, keep_all=False, in_order=False,
            memory_latency=0, devices=None, cache_mib=0):
    """Compiles a network for a machine, which stays as it is.

    network: a Network, or what load() takes. machine: a name (heddle.machines()), a file, or a dict
    of parameters with "base" for what they change. host_only: for devices golden and cpu alone.
    keep_all: the result of every layer can be read after a run. in_order: every operation waits for
    the one before it. memory_latency: cycles that tiles are chosen for; 0 is the default. devices:
    "iss,cpu": each node is placed on one of them, by cost; open the model with the same list.
    cache_mib: a model that was compiled before, from the same network and options, comes from
    heddle/compiled of the user's cache, which keeps at most so many MiB; 0: none. Not with keep_all,
    nor devices.
    """
    from heddle.model import Model
    if not isinstance(network, Network):
        network = load(network)
    return Model(_heddle.compile(network._net, *machine_of(machine), host_only, keep_all, in_order,
                                 memory_latency, devices, cache_mib))


class Quantized(Network):
    """An int8 network. layers: table of the layers in integers, with the range of each result and
    its signal to error. in_float: table of what stays float, and why. score: dict of sets,
    same_top (sets whose largest output keeps its place, -1: no row of classes), db of the first
    output, trials and kept_in_float of the search."""

    def __init__(self, handle, rows, score):
        super().__init__(handle)
        self.layers = Table({k: r[k] for k in r if k != "why"} for r in rows if r["why"] is None)
        self.in_float = Table({"node": r["node"], "op": r["op"], "why": r["why"]}
                              for r in rows if r["why"] is not None)
        self.score = score


def inputs_of(network, item):
    """One set of inputs: an array, a dict by name, or a sequence of arrays."""
    infos = network.inputs
    if isinstance(item, dict):
        item = [item[i.name] for i in infos]
    elif len(infos) == 1 and not (isinstance(item, (list, tuple)) and len(item) == 1):
        item = [item]
    return [arrays.buffer(x, i.dtype) for x, i in zip(item, infos)] + list(item)[len(infos):]


def quantize(network, data, *, range="minmax", symmetric=False, activations="int8",
             bias_correction=False, equalize=False, keep=None, device="cpu"):
    """An int8 network of a float one, as Quantized, a Network.

    data: any iterable; an item is the inputs of one run: an array, a list of arrays, or a dict.
    range: "minmax", "entropy", "percentile" or "percentile:99.9". activations: "int8" or "uint8".
    keep: selector of nodes that stay float (docs/query.md). device: that calibrates, golden or cpu.
    docs/quantize.md has the rest.
    """
    if not isinstance(network, Network):
        network = load(network)
    if activations not in ("int8", "uint8"):
        raise ValueError(f"activations: got {activations!r}, want 'int8' or 'uint8'")
    sets = [inputs_of(network, item) for item in data]
    return Quantized(*_heddle.net_quantize(network._net, sets, range, symmetric,
                                           activations == "uint8", bias_correction, equalize, keep,
                                           device))

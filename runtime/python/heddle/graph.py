"""Networks that are built: tensors with operators, named axes."""
from heddle import _heddle, arrays
from heddle.network import Network


def ops():
    """Operations that a node may be: {name: (operands at least, at most, results at most, text)}."""
    return _heddle.ops()


class Tensor:
    """A tensor of a Graph. Operators add nodes: + - * / ** @, and - of one; numbers and arrays are
    constants. Where both operands name all their axes, they meet by name, else by position."""

    __array_ufunc__ = None  # numpy leaves operators with its arrays to us

    def __init__(self, graph, number):
        self.graph, self.number = graph, number

    @property
    def info(self):
        """TensorInfo."""
        return self.graph._info(self.number)

    @property
    def name(self):
        """Its name, unique in the graph."""
        return self.info.name

    @property
    def dtype(self):
        """Type of its elements, such as "f32"."""
        return self.info.dtype

    @property
    def shape(self):
        """Its dimensions, None while only a run knows them."""
        return self.info.shape

    @property
    def axes(self):
        """Name of each dimension, None where it has none."""
        return self.info.axes

    def __repr__(self):
        i = self.info
        dims = ",".join(f"{axis}={n}" if axis else str(n)
                        for axis, n in zip(i.axes, i.shape or ()))
        return f"<heddle.Tensor {i.name}: {i.dtype}[{dims}]>"

    def __add__(self, other):
        return self.graph._binary("add", self, other)

    def __radd__(self, other):
        return self.graph._binary("add", other, self)

    def __sub__(self, other):
        return self.graph._binary("sub", self, other)

    def __rsub__(self, other):
        return self.graph._binary("sub", other, self)

    def __mul__(self, other):
        return self.graph._binary("mul", self, other)

    def __rmul__(self, other):
        return self.graph._binary("mul", other, self)

    def __truediv__(self, other):
        return self.graph._binary("div", self, other)

    def __rtruediv__(self, other):
        return self.graph._binary("div", other, self)

    def __pow__(self, other):
        return self.graph._binary("pow", self, other)

    def __matmul__(self, other):
        return self.graph._binary("matmul", self, other)

    def __rmatmul__(self, other):
        return self.graph._binary("matmul", other, self)

    def __neg__(self):
        return self.graph.node("neg", self)


class Graph(Network):
    """A network that is built node by node.

        g = heddle.Graph("net")
        x = g.input("x", (1, 3, 32, 32))
        y = g.relu(g.conv(x, weights, bias, pads=[1, 1, 1, 1]))
        g.output(y, "y")

    Every operation of heddle.ops() is a method: operands first, attributes by keyword, and name=
    for the node. Operands are tensors, or arrays, which become constants; None leaves one out.
    results= asks for more than one result, which then come as a list.
    """

    def __init__(self, name="graph"):
        super().__init__(_heddle.net_create(name))

    def input(self, name, shape, dtype="f32", axes=None):
        """Adds an input. axes: a name, or None, for each dimension."""
        return Tensor(self, _heddle.add_input(self._net, name, dtype, shape, axes))

    def constant(self, value, dtype=None, name="c", axes=None):
        """Adds a constant. dtype: that of the array; of numbers f32. An array of bits may be given
        for a type that Python lacks, such as "bf16"."""
        bits = arrays.buffer(value, dtype)
        return Tensor(self, _heddle.add_constant(self._net, name, dtype, bits, axes))

    def output(self, tensor, name=None):
        """Makes a tensor an output, under a name of its own if one is given."""
        if name is not None and name != tensor.name:
            tensor = self.node("identity", tensor, name=name)
        _heddle.add_output(self._net, tensor.number)
        return tensor

    def node(self, op, *operands, name=None, results=1, **attributes):
        """Adds a node; its result, or a list of them where results is above 1."""
        like = next((x.dtype for x in operands if isinstance(x, Tensor)), None)
        numbers = [-1 if x is None else self._operand(x, like) for x in operands]
        attributes = {k: v._net if isinstance(v, Network) else v
                      for k, v in attributes.items() if v is not None}
        out = _heddle.add_node(self._net, op, name, numbers, attributes, results)
        out = [Tensor(self, n) for n in out]
        return out[0] if results == 1 else out

    def layers(self, seed=1, training=False):
        """For the layers that follow: the seed of their weights, and whether the network is trained:
        dropout drops, batch norm takes the statistics of the batch."""
        _heddle.net_layers(self._net, seed, training)

    def layer(self, kind, *operands, **numbers):
        """Adds a layer, a loss or a metric of heddle.layers(), with weights of its own. The first
        dimension of the operands is the batch."""
        operands = tuple(self._operand(x, None) for x in operands)
        return Tensor(self, _heddle.add_layer(self._net, kind, operands, numbers))

    def branch(self, condition, then, otherwise, *operands, name=None):
        """The results of then(graph, *operands), where condition holds in the run, else those of
        otherwise(graph, *operands). Both build with a graph of their own, and see only the operands.
        One result, or a list."""
        operands = [self._tensor(x) for x in operands]
        one, single = self._body("then", then, operands)
        other, _ = self._body("else", otherwise, operands)
        count = len(one.outputs)
        if count != len(other.outputs):
            raise ValueError(f"{count} results of then, {len(other.outputs)} of otherwise")
        out = self.node("if", condition, *operands, name=name, results=count,
                        **{"then": one, "else": other})
        return out if single or count > 1 else [out]

    def repeat(self, times, body, *carried, operands=(), name=None):
        """body(graph, i, *carried, *operands) gives the next values of what is carried; the last
        ones, one or a list. i is the number of the turn, an i64; operands are the same each time."""
        carried, operands = ([self._tensor(x) for x in v] for v in (carried, operands))
        times = self.constant(times, "i64") if isinstance(times, int) else times
        if not carried:
            raise ValueError("nothing is carried")
        turn = Graph("body")
        i, go = turn.input("i", (), "i64"), turn.input("go", (), "bool")
        values = [turn._like(f"c{n}", x) for n, x in enumerate(carried + operands)]
        following, single = turn._list(body(turn, i, *values))
        if len(following) != len(carried):
            raise ValueError(f"the body gives {len(following)} values, want {len(carried)}")
        for x in [go, *following]:
            turn.output(turn.identity(x))
        out = self.node("loop", times, None, *carried, *operands, name=name, body=turn,
                        n_carried=len(carried), results=len(carried))
        return out if single or len(carried) > 1 else [out]

    def _body(self, name, build, operands):
        graph = Graph(name)
        out, single = graph._list(build(graph, *(graph._like(f"x{n}", x)
                                                 for n, x in enumerate(operands))))
        for x in out:
            graph.output(graph.identity(x))
        return graph, single

    def _like(self, name, x):
        if x.shape is None:
            raise ValueError(f"{x!r}: only a run knows its shape")
        return self.input(name, x.shape, x.dtype)

    def _list(self, out):
        single = not isinstance(out, (list, tuple))
        return [self._tensor(x) for x in ([out] if single else out)], single

    def _tensor(self, x):
        return x if isinstance(x, Tensor) else self.constant(x)

    def _operand(self, x, like):
        if isinstance(x, Tensor):
            if x.graph is not self:
                raise ValueError(f"{x!r} is of another graph")
            return x.number
        number = isinstance(x, (int, float, list, tuple))
        return self.constant(x, like if number else None).number

    def _binary(self, op, a, b):
        tensors = [x for x in (a, b) if isinstance(x, Tensor)]
        named = len(tensors) == 2 and all(x.axes and all(x.axes) for x in tensors)
        return self.node(op, a, b, by="name" if named else None)

    def __getattr__(self, op):
        if op.startswith("_") or op not in _ops():
            raise AttributeError(f"no operation '{op}'; heddle.ops() lists them")

        def add(*operands, name=None, results=1, **attributes):
            return self.node(op, *operands, name=name, results=results, **attributes)
        add.__name__, add.__doc__ = op, _ops()[op][3]
        return add

    def __dir__(self):
        return sorted(set(super().__dir__()) | set(_ops()))


_known = {}


def _ops():
    if not _known:
        _known.update(_heddle.ops())
    return _known

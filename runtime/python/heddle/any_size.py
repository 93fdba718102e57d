"""Networks with open dimensions, for inputs of any size."""
from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock

from heddle import arrays
from heddle.network import compile, load


class AnySize:
    """A network for inputs of any size. It is compiled for sizes when they first come, and the
    sessions of those that were used last are kept. States belong to a session.

    network: what load() takes. most: sizes whose sessions are kept. machine, rounding: as of
    compile() and load(). device and options: as of Session.
    """

    def __init__(self, network, device="iss", *, machine="base", most=4, rounding=None, **options):
        if most < 1:
            raise ValueError(f"most: got {most}, want 1 or more")
        self.path, self.device, self.machine, self.most = network, device, machine, most
        self.compiled = 0  # how often
        self._rounding, self._options = rounding, options
        self._inputs = load(network, rounding=rounding).inputs
        self._kept, self._lock = OrderedDict(), Lock()

    def session(self, shapes):
        """The Session for {input: shape}."""
        sizes = {name: tuple(shape) for name, shape in shapes.items()}
        key = tuple(sorted(sizes.items()))
        with self._lock:
            if key not in self._kept:
                host = self.device in ("golden", "cpu")
                net = load(self.path, sizes, rounding=self._rounding)
                model = compile(net, self.machine, host_only=host)
                self._kept[key] = model.open(self.device, **self._options)
                self.compiled += 1
            self._kept.move_to_end(key)
            while len(self._kept) > self.most:
                self._kept.popitem(last=False)  # ends when no result needs it
            return self._kept[key]

    def run(self, *inputs, out=None, **named):
        """As Session.run, of the session for the shapes of these inputs."""
        if len(inputs) == 1 and isinstance(inputs[0], Mapping):
            inputs, named = (), {**inputs[0], **named}
        if len(inputs) > len(self._inputs):
            raise TypeError(f"{len(inputs)} inputs given, {self.path} takes {len(self._inputs)}")
        dtypes = {info.name: info.dtype for info in self._inputs}
        given = {info.name: x for info, x in zip(self._inputs, inputs)}
        given.update((name, x) for name, x in named.items() if x is not None)
        given = {name: arrays.buffer(x, dtypes.get(name)) for name, x in given.items()}
        session = self.session({name: memoryview(x).shape for name, x in given.items()})
        return session.run(given, out=out)

    def __repr__(self):
        return f"<heddle.AnySize {self.path} on {self.device}, {len(self._kept)} of {self.most} sizes>"

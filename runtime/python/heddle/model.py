"""Models on devices: sessions, results, comparisons."""
from collections.abc import Mapping

from heddle import _heddle, arrays
from heddle.network import TensorInfo, compile
from heddle.table import Table


class Model:
    """A compiled network. One model runs on every device, in any number of sessions and threads."""

    def __init__(self, handle):
        self._model = handle
        self.name, self.machine, ins, outs, values, self._n_states = _heddle.model_facts(handle)
        self.inputs = [TensorInfo(*i) for i in ins]
        self.outputs = [TensorInfo(*i) for i in outs]
        self.values = [TensorInfo(*i) for i in values]

    @classmethod
    def load(cls, path):
        """Reads a file that save() or `heddle compile` wrote."""
        return cls(_heddle.model_load(path))

    @classmethod
    def loads(cls, data, name="model.hdl"):
        """The same from bytes."""
        return cls(_heddle.model_load_memory(data, name))

    def save(self, path):
        """Writes the model as an .hdl file."""
        _heddle.model_save(self._model, path)

    @property
    def layers(self):
        """Table of the layers of the machine, as planned."""
        return Table(_heddle.model_layers(self._model))

    @property
    def on_host(self):
        """Table of what stays on the host: node, op, seconds, reason, hint."""
        return Table(_heddle.model_host_ops(self._model))

    @property
    def states(self):
        """{input: output}: the inputs that are state, and the outputs that have their next values.
        A run that is not given one takes what the last run of its session left."""
        n = self._n_states
        ins, outs = self.inputs[len(self.inputs) - n:], self.outputs[len(self.outputs) - n:]
        return {i.name: o.name for i, o in zip(ins, outs)}

    def open(self, device="iss", **options):
        """A Session on a device: golden, cpu, iss, rtl. options: see Session."""
        return Session(self, device, **options)

    def run(self, *inputs, device="iss", out=None, **named):
        """Runs once. For more runs open() a session."""
        with self.open(device) as session:
            result = session.run(*inputs, out=out, **named)
            result.read()
            return result

    def __repr__(self):
        return f"<heddle.Model {self.name} for {self.machine}, {len(self.layers)} layers>"


class Session:
    """A model opened on a device. Runs of one session follow each other, whatever threads they come
    from; two sessions run side by side.

    memory_latency, memory_bytes_per_cycle, memory_outstanding: of the simulated memory.
    jitter_seed: memory answers after random times. watchdog_cycles: of the machine. threads: of
    device cpu. functional: results without time (iss). timed: take the time of steps (golden, cpu).
    profile: keep every operation, for Result.report (iss, rtl).
    """

    def __init__(self, model, device="iss", *, memory_latency=0, memory_bytes_per_cycle=0,
                 memory_outstanding=0, jitter_seed=0, watchdog_cycles=0, threads=0,
                 functional=False, timed=False, profile=False):
        options = (memory_latency, memory_bytes_per_cycle, memory_outstanding, jitter_seed,
                   watchdog_cycles, threads, functional, timed, profile)
        self.model = model
        self.device = device
        self._session = _heddle.session_open(model._model, device,
                                             options if any(options) else None)

    def close(self):
        """Gives the device back. Requests in flight are given up."""
        _heddle.session_close(self._session)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _arrays(self, inputs, named, out):
        model = self.model
        if len(inputs) == 1 and isinstance(inputs[0], Mapping):
            inputs, named = (), {**inputs[0], **named}
        given = list(inputs)
        for info in model.inputs[len(given):]:
            if info.name not in named and info.name in model.states:
                named[info.name] = None  # the session has it
            if info.name not in named:
                raise error(f"input {info.name}: missing; {model.name} takes "
                            f"{', '.join(i.name for i in model.inputs)}", "invalid")
            given.append(named.pop(info.name))
        if named:
            raise error(f"input {next(iter(named))}: {model.name} has none such, or it is given "
                        f"twice; it takes {', '.join(i.name for i in model.inputs)}", "invalid")
        given = [x if x is None else arrays.buffer(x, info.dtype) for x, info in zip(given, model.inputs)] + \
            given[len(model.inputs):]
        if out is None:
            out = [arrays.empty(o.dtype, o.shape) for o in model.outputs]
        elif isinstance(out, Mapping):
            out = [out[o.name] for o in model.outputs]
        elif not isinstance(out, (list, tuple)):
            out = [out]
        return given, list(out)

    def run(self, *inputs, out=None, **named):
        """Runs once, and gives a Result.

        inputs: in the model's order, by name, or as one dict. Dense buffers are read where they
        lie; lists and numbers are copied. out: buffers for the outputs, one or a list or a dict;
        without, new arrays.
        """
        given, out = self._arrays(inputs, named, out)
        number = _heddle.session_run(self._session, given, out)
        return Result(self, number, out)

    # ---- state

    def reset(self):
        """States are as before the first run."""
        _heddle.session_reset(self._session)

    def save_state(self):
        """What the next run begins with, as bytes. Any session of the same network takes them."""
        return _heddle.session_save_state(self._session)

    def load_state(self, data):
        """Goes on from what save_state() gave."""
        _heddle.session_load_state(self._session, data)

    def cancel(self):
        """Ends what another thread runs, which raises heddle.Error there. Whether one did."""
        return _heddle.session_cancel(self._session)

    @property
    def cycles(self):
        """Cycles of the last run, 0 on a device without cycles."""
        return _heddle.session_cycles(self._session)

    # ---- several requests in flight

    def queue(self, requests):
        """Prepares for so many requests in flight (1 to 64). Once per session."""
        _heddle.session_queue(self._session, requests)

    def submit(self, *inputs, out=None, **named):
        """As run(), but returns at once, with a Request. Arrays are held until it is done."""
        given, out = self._arrays(inputs, named, out)
        return Request(self, _heddle.session_submit(self._session, given, out), out)

    def timeline(self):
        """Table of what ran when: the last 1024 steps of requests."""
        return Table(_heddle.session_timeline(self._session))

    def __repr__(self):
        return f"<heddle.Session {self.model.name} on {self.device}>"


class Request:
    """A run in flight."""

    def __init__(self, session, handle, out):
        self.session, self._request, self._out = session, handle, out

    def wait(self, seconds=None):
        """Outputs by name; TimeoutError when it is not done after so many seconds."""
        if not _heddle.request_wait(self._request, -1.0 if seconds is None else seconds):
            raise TimeoutError(f"not done after {seconds} s; it is still in flight")
        return {o.name: arrays.shown(x) for o, x in zip(self.session.model.outputs, self._out)}


class Result(Mapping):
    """Outputs of a run, by name or by number, and what the run did.

    Tables are read from the session when they are first asked for, before its next run.
    """

    def __init__(self, session, number, out):
        self.session = session
        self._number = number
        self._tables = {}
        self._out = [arrays.shown(x) for x in out]
        self._names = [o.name for o in session.model.outputs]

    def __getitem__(self, key):
        if isinstance(key, str):
            if key not in self._names:
                raise KeyError(key)
            key = self._names.index(key)
        return self._out[key]

    def __iter__(self):
        return iter(self._names)

    def __len__(self):
        return len(self._names)

    def __array__(self, dtype=None, copy=None):
        if len(self._out) != 1:
            raise TypeError(f"{len(self._out)} outputs; name one of {', '.join(self._names)}")
        return self._out[0] if dtype is None else self._out[0].astype(dtype)

    def _table(self, name, read):
        if name not in self._tables:
            self._tables[name] = read(self.session._session, self._number)
        return self._tables[name]

    @property
    def totals(self):
        """dict: cycles, read_bytes, write_bytes, code_bytes, macs, roofline, utilization,
        efficiency."""
        return self._table("totals", _heddle.session_totals)

    @property
    def cycles(self):
        """Cycles of the machine, 0 on a device without cycles."""
        return self.totals["cycles"]

    @property
    def layers(self):
        """Table of the layers of the machine: cycles, MACs, roofline, DRAM bytes, plan."""
        return self._table("layers", lambda *a: Table(_heddle.session_layers(*a)))

    @property
    def units(self):
        """Table of the units of the machine: busy and stalled cycles."""
        return self._table("units", lambda *a: Table(_heddle.session_units(*a)))

    @property
    def steps(self):
        """Table of the steps of a device that plans the graph itself (cpu): who computes what."""
        return self._table("steps", lambda *a: Table(_heddle.session_steps(*a)))

    @property
    def parts(self):
        """Table of the steps of the model: device, nodes, bytes in and out, seconds, and why it runs
        there when devices were chosen by cost."""
        return self._table("parts", lambda *a: Table(_heddle.session_parts(*a)))

    def report(self, path):
        """Writes the run as one HTML page: layers, roofline, timeline, memories, code. The session
        was opened with profile=True."""
        _heddle.session_report(self.session._session, self._number, path)

    def value(self, name):
        """Any value that left the chip: one of model.values, by name."""
        names = [v.name for v in self.session.model.values]
        if name not in names:
            raise KeyError(name)
        info = self.session.model.values[names.index(name)]
        array = arrays.empty(info.dtype, info.shape)
        _heddle.session_value(self.session._session, self._number, names.index(name), array)
        return arrays.shown(array)

    def read(self):
        """Reads all tables now, so that the session may run again or be closed."""
        for name in ("totals", "layers", "units", "steps", "parts"):
            getattr(self, name)

    def __repr__(self):
        cycles = f", {self.cycles} cycles" if self.cycles else ""
        return f"<heddle.Result {', '.join(self._names)}{cycles}>"


class Comparison(Table):
    """Table of the values that devices gave: how many elements differ, and by how much."""

    @property
    def equal(self):
        """No value differs by more than rounding of floats explains."""
        return all(row["beyond"] == 0 for row in self)

    @property
    def first(self):
        """The first value that differs by more, None when there is none."""
        return next((row for row in self if row["beyond"]), None)


def compare(model, *inputs, devices=("golden", "iss"), **named):
    """Runs a model on several devices with the same inputs. Each value that two of them show is
    compared with that of the first. Integers are equal, or it is a bug."""
    rows = Comparison()
    shown = []
    for device in devices:
        with model.open(device) as session:
            result = session.run(*inputs, **named)
            values = {}
            for i, info in enumerate(model.values):
                try:
                    values[i] = result.value(info.name)
                except _heddle.Error as e:
                    if e.status != "unsupported":
                        raise
            shown.append(values)
    for i, info in enumerate(model.values):
        for device, values in zip(devices[1:], shown[1:]):
            if i in values and i in shown[0]:
                found = _heddle.model_compare(model._model, i, shown[0][i], values[i])
                rows.append({"value": info.name, "dtype": info.dtype, "device": device, **found})
    return rows


def explore(network, machines, *inputs, device="iss", **named):
    """Runs a network on several machines: a table of machine, cycles, MACs, utilization, bytes of
    DRAM, and whether it fits. machines: any of what compile() takes."""
    rows = Table()
    for machine in machines:
        row = {"machine": str(machine), "cycles": None, "macs": None, "utilization": None,
               "efficiency": None, "dram_bytes": None, "on_host": None, "why_not": None}
        try:
            model = compile(network, machine)
            result = model.run(*inputs, device=device, **named)
        except _heddle.Error as e:
            rows.append({**row, "why_not": str(e)})
            continue
        t = result.totals
        rows.append({**row, "machine": model.machine, "cycles": t["cycles"], "macs": t["macs"],
                     "utilization": t["utilization"], "efficiency": t["efficiency"],
                     "dram_bytes": t["read_bytes"] + t["write_bytes"],
                     "on_host": len(model.on_host)})
    return rows


def error(message, status):
    """A heddle.Error of the package itself."""
    e = _heddle.Error(message)
    e.status, e.reason = status, message
    return e

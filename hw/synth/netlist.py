"""Joins the netlists of modules (yosys' JSON) into one machine of arcs between nets.

A module is read once; each of its instances adds its nets and arcs, moved, to the machine. Nets of ports are those of the
parent. A module that was synthesised with one lane for many stands there so many times: a port that is wider in the
machine is cut, one of the same width goes to all.
"""
import re

import numpy as np

from delays import fail

CONTROL = re.compile(r"R|S|CLR|PRE|CE.*|RST.*|EN.*|WE.*|WCLKE|REGCE.*|BWE_.|RDB_WR_.")  # pins: resets and enables


class Module:
    """Nets are numbers from 2, as yosys has them; rows are of the table of delays.

    starts: net, row, cell. arcs: net, net, row, cell, sink. ends: net, row, cell, sink. A sink is an index of `sinks`: the
    rows near and fixed of an input. loads: net, 1 if it is a reset or enable, cell."""

    def __init__(self, name, text, delays):
        self.name, self.delays, self.ports = name, delays, {p: v["bits"] for p, v in text["ports"].items()}
        self.directions = {p: v["direction"] for p, v in text["ports"].items()}
        self.text, self.cells, self.kinds, self.inside = text, [], [], []
        starts, arcs, ends, loads, driven, clocks = [], [], [], [], [], set()
        for cell, c in text["cells"].items():
            bits = c["connections"]
            if re.match(r"\$paramod|hd_", c["type"]):
                self.inside.append((cell, c["type"], bits))
                continue
            n = len(self.cells)
            self.cells.append(cell)
            self.kinds.append(c["type"])
            self.add(delays, n, c, starts, arcs, ends, loads, clocks)
            kind = delays.kind(c["type"])
            driven += [(b, kind) for p, bs in bits.items() if c["port_directions"][p] == "output" for b in bs]
        every = [b for w in text["netnames"].values() for b in w["bits"]] + [b for bs in self.ports.values() for b in bs]
        every += [b for _, _, bits in self.inside for bs in bits.values() for b in bs]
        every += [b for b, _ in driven]
        self.n_nets = max([b for b in every if isinstance(b, int)], default=1) + 1
        def table(rows, n):
            return np.array(rows, dtype=np.int32).reshape(-1, n)
        self.starts, self.arcs, self.ends = table(starts, 3), table(arcs, 5), table(ends, 4)
        self.loads, self.driven, self.clocks = table(loads, 3), table(driven, 2), np.array(sorted(clocks), dtype=np.int32)

    def add(self, delays, n, c, starts, arcs, ends, loads, clocks):
        kind, bits, directions = c["type"], c["connections"], c["port_directions"]
        widths = {p: len(bs) for p, bs in bits.items()}
        found, clock_pins, wires = delays.of(kind, c["parameters"], widths, directions)
        read, made = set(), set()
        for what, row, a, x, b, y in found:
            i = bits[a][x] if a else 0
            o = bits[b][y] if b else 0
            read.add(a)
            made.add(b)
            if isinstance(i, str) or isinstance(o, str):
                continue
            if what == "out":
                starts.append((o, row, n))
            elif what == "setup":
                ends.append((i, row, n, delays.sink(wires.get(a, ()))))
            else:
                arcs.append((i, o, row, n, delays.sink(wires.get(a, ()))))
        for p, bs in bits.items():
            nets = [b for b in bs if isinstance(b, int)]
            if p in clock_pins:
                clocks.update(nets)
            elif directions[p] == "input":
                if nets and p not in read:
                    fail(f"{delays.path}: no row for the input {p} of a {kind} ({n} of {self.name})")
                if not any(delays.rows[i].what == "fixed" for i in wires.get(p, ())):
                    control = int(bool(CONTROL.fullmatch(p)) and not kind.startswith(("LUT", "CARRY", "MUX")))
                    loads += [(b, control, n) for b in nets]
            elif p not in made and any(not isinstance(b, str) for b in bs) and self.used(bs):
                fail(f"{delays.path}: no row for the output {p} of a {kind} ({n} of {self.name})")

    def used(self, bits):
        """Whether somebody reads a bit: a port or an input of a cell."""
        if not hasattr(self, "readers"):
            self.readers = {b for p, bs in self.ports.items() if self.directions[p] == "output" for b in bs}
            for c in self.text["cells"].values():
                d = c.get("port_directions", {})
                self.readers.update(b for p, bs in c["connections"].items() if d.get(p) != "output" for b in bs)
        return any(b in self.readers for b in bits)

    def names(self):
        """{net: its name}, those of the source before those of yosys."""
        found = {}
        for name, w in sorted(self.text["netnames"].items(), key=lambda t: (bool(t[1].get("hide_name")), len(t[0]), t[0])):
            for i, b in enumerate(w["bits"]):
                if isinstance(b, int):
                    found.setdefault(b, f"{name}[{i}]" if len(w["bits"]) > 1 else name)
        return found


class Machine:
    """The joined machine. starts, arcs, ends as in Module, with nets of the machine and, for the cell, its number there;
    instances: (path, module, first net, first cell, first arc)."""

    def __init__(self, top, find):
        """find(type) gives (Module, lanes of the machine for each that it has)."""
        module = find(top)[0]
        delays = module.delays
        self.find, self.delays, self.instances, self.same = find, delays, [], []
        self.original, self.copied_arcs = {}, {}  # of copies (fanout.py)
        self.n_nets = self.n_cells = self.n_arcs = 0
        self.parts = {k: [] for k in ("starts", "arcs", "ends", "loads", "driven", "clocks", "offsets")}
        nets = self.place("", module)
        kind = 0
        port_in, port_out = delays.port["in"], delays.port["out"]
        for p, bits in module.ports.items():
            found = np.array([nets[b] for b in bits if isinstance(b, int)], dtype=np.int32)
            if module.directions[p] == "input":
                self.parts["starts"].append(self.rows(found, port_in, -1))
                self.parts["driven"].append(self.rows(found, kind))
            else:
                self.parts["ends"].append(self.rows(found, port_out, -1, delays.sink(())))
                self.parts["loads"].append(self.rows(found, 0, -1))
        self.finish()

    @staticmethod
    def rows(nets, *rest):
        return np.column_stack([nets] + [np.full(len(nets), r, dtype=np.int32) for r in rest]).astype(np.int32)

    def place(self, path, module):
        """Adds an instance; its nets, by their numbers in the module."""
        nets = np.arange(self.n_nets - 2, self.n_nets - 2 + module.n_nets, dtype=np.int32)
        self.instances.append((path, module, self.n_nets - 2, self.n_cells, self.n_arcs))
        self.n_nets += module.n_nets - 2
        def moved(rows, columns, cell=None):
            rows = rows.copy()
            for c in columns:
                rows[:, c] = nets[rows[:, c]]
            if cell is not None:
                rows[:, cell] += self.n_cells
            return rows
        p = self.parts
        p["starts"].append(moved(module.starts, [0], 2))
        p["arcs"].append(moved(module.arcs, [0, 1], 3))
        p["ends"].append(moved(module.ends, [0], 2))
        p["loads"].append(moved(module.loads, [0], 2))
        p["driven"].append(moved(module.driven, [0]))
        p["clocks"].append(nets[module.clocks])
        self.n_cells += len(module.cells)
        self.n_arcs += len(module.arcs)
        for name, kind, bits in module.inside:
            child, lanes = self.find(kind)
            for lane in range(lanes):
                self.join(nets, bits, child, self.place(f"{path}{name}{f'.{lane}' if lanes > 1 else ''}.", child), lane, lanes)
        return nets

    def join(self, nets, bits, child, child_nets, lane, lanes):
        """Ports of an instance: pairs of nets that are the same."""
        for p, inner in child.ports.items():
            outer = bits.get(p, [])
            if outer and len(outer) != len(inner):
                if len(outer) != lanes * len(inner):
                    fail(f"{child.name}: port {p} has {len(inner)} bits for {lanes} times in {len(outer)}")
                outer = outer[lane * len(inner):(lane + 1) * len(inner)]
            elif outer and lane and child.directions[p] == "output":
                continue  # what all lanes share comes from the first
            self.same += [(nets[a], child_nets[b]) for a, b in zip(outer, inner)
                          if isinstance(a, int) and isinstance(b, int)]

    def finish(self):
        root = np.arange(self.n_nets, dtype=np.int32)
        def find(a):
            while root[a] != a:
                root[a] = root[root[a]]
                a = root[a]
            return a
        for a, b in self.same:
            a, b = find(a), find(b)
            if a != b:
                root[max(a, b)] = min(a, b)
        while True:
            above = root[root]
            if (above == root).all():
                break
            root = above
        self.root = root
        for k, columns in (("starts", [0]), ("arcs", [0, 1]), ("ends", [0]), ("loads", [0]), ("driven", [0])):
            rows = np.concatenate(self.parts[k])
            for c in columns:
                rows[:, c] = root[rows[:, c]]
            setattr(self, k, rows)
        self.clocks = np.unique(root[np.concatenate(self.parts["clocks"])])
        self.parts = self.same = None
        self.count_loads()
        self.driver = np.zeros(self.n_nets, dtype=np.int32)
        self.driver[self.driven[:, 0]] = self.driven[:, 1]
        twice = np.flatnonzero(np.bincount(self.driven[:, 0], minlength=self.n_nets) > 1)
        if len(twice):
            fail(f"{self.net_name(twice[0])} has two drivers")

    def count_loads(self):
        self.n_loads = np.bincount(self.loads[:, 0], minlength=self.n_nets)
        self.n_control = np.bincount(self.loads[self.loads[:, 1] == 1, 0], minlength=self.n_nets)

    def of_cell(self, cell):
        """(path of the instance, module, number in it) of a cell; a port is of the top module."""
        if cell < 0:
            return "", self.instances[0][1], -1
        if not hasattr(self, "first_cells"):
            self.first_cells = np.array([c for _, _, _, c, _ in self.instances])
        i = np.searchsorted(self.first_cells, cell, side="right") - 1
        path, module, _, first, _ = self.instances[i]
        return path, module, cell - first

    def net_name(self, net):
        """Name of a net in the outermost instance that names it; a copy (fanout.py) has that of its original."""
        net = self.original.get(net, net)
        if not hasattr(self, "by_root"):
            self.by_root = np.argsort(self.root, kind="stable")
            self.roots = self.root[self.by_root]
            self.first_nets = np.array([n for _, _, n, _, _ in self.instances])
        for other in self.by_root[np.searchsorted(self.roots, net):np.searchsorted(self.roots, net, side="right")]:
            i = np.searchsorted(self.first_nets, other - 2, side="right") - 1
            path, module, first, _, _ = self.instances[i]
            name = module.__dict__.setdefault("net_names", module.names()).get(other - first)
            if name:
                return path + name
        return f"net {net}"

"""Longest paths of a joined machine (netlist.py) by the table of delays (delays.py): register to register, and from and to
its ports, in three corners: all delays least, likely, most.

A path: clock to output, then wires and cells, then setup. A wire's delay follows from the loads of its net, or from where
its driver and sink lie (rows near and fixed). Paths from a register that false_paths.txt names do not count.
"""
import fnmatch
import re

import numpy as np

from delays import CORNERS, fail

NEVER = -10**9


class Timing:
    def __init__(self, machine, false_paths=()):
        self.m, self.d = machine, machine.delays
        self.ps = np.array([r.ps for r in self.d.rows], dtype=np.int32)
        self.near_tables()
        self.wire_of_loads()
        self.false_starts(false_paths)
        self.arrivals()
        m = machine
        ends = self.arrival[m.ends[:, 0]] + self.wires(m.ends[:, 0], m.ends[:, 3]) + self.ps[m.ends[:, 1]]
        ends[self.arrival[m.ends[:, 0], 0] < 0] = NEVER
        self.ends = ends + self.ps[self.d.clock]  # the period that each asks for
        self.period = self.ends.max(axis=0) if len(ends) else np.zeros(3, dtype=np.int32)

    def near_tables(self):
        """Row of the wire by (sink, kind of driver): 0 none, near r + 1, fixed -(r + 1)."""
        sinks = getattr(self.d, "sinks", [()])
        self.place = np.zeros((len(sinks), len(self.d.kinds) + 1), dtype=np.int32)
        for s, rows in enumerate(sinks):
            for name, kind in self.d.kinds.items():
                for i in rows:
                    r = self.d.rows[i]
                    if not self.place[s, kind] and re.fullmatch(r.b, name):
                        self.place[s, kind] = -(i + 1) if r.what == "fixed" else i + 1

    def wire_of_loads(self):
        limits = np.array([n for n, _ in self.d.wires])
        rows = np.array([i for _, i in self.d.wires])
        at = np.minimum(np.searchsorted(limits, self.m.n_loads), len(limits) - 1)
        self.wire = self.ps[rows[at]]

    def wires(self, nets, sinks):
        """Delays of wires from nets to sinks."""
        place = self.place[sinks, self.m.driver[nets]]
        found = self.wire[nets].copy()
        inside = (place < 0) | ((place > 0) & (self.m.n_loads[nets] == 1))
        found[inside] = self.ps[np.abs(place[inside]) - 1]
        return found

    def false_starts(self, false_paths):
        """Takes away what begins at registers of which false_paths (pattern, reason) says that they do not count."""
        if not false_paths:
            return
        kept = np.ones(len(self.m.starts), dtype=bool)
        names = [re.sub(r"\[\d+\]$", "", self.m.net_name(s[0])) for s in self.m.starts]
        for pattern, _ in false_paths:
            hit = np.array([fnmatch.fnmatchcase(n, pattern) for n in names], dtype=bool)
            if not hit.any():
                fail(f"no register is named {pattern}, a false path")
            kept &= ~hit
        self.m.starts = self.m.starts[kept]

    def arrivals(self):
        """Latest time at each net's driver, by corners: nets in the order in which their inputs are done."""
        m = self.m
        self.arrival = np.full((m.n_nets, 3), NEVER, dtype=np.int32)
        np.maximum.at(self.arrival, m.starts[:, 0], self.ps[m.starts[:, 1]])
        src, dst = m.arcs[:, 0], m.arcs[:, 1]
        self.delay = self.wires(src, m.arcs[:, 4]) + self.ps[m.arcs[:, 2]]
        by_src = np.argsort(src, kind="stable")
        first = np.searchsorted(src[by_src], np.arange(m.n_nets + 1))
        waits = np.bincount(dst, minlength=m.n_nets)
        ready, done = np.flatnonzero(waits == 0), 0
        while len(ready):
            done += len(ready)
            n = first[ready + 1] - first[ready]
            e = by_src[np.repeat(first[ready] - np.cumsum(n) + n, n) + np.arange(n.sum())]
            if not len(e):
                break
            e = e[np.argsort(dst[e], kind="stable")]
            to, begin, count = np.unique(dst[e], return_index=True, return_counts=True)
            late = np.maximum.reduceat(self.arrival[src[e]] + self.delay[e], begin)
            self.arrival[to] = np.maximum(self.arrival[to], late)
            waits[to] -= count
            ready = to[waits[to] == 0]
        left = np.flatnonzero(waits > 0)
        if len(left):
            fail("a loop without a register: " + ", ".join(self.m.net_name(i) for i in self.loop(left)))

    def loop(self, left):
        """Nets of one loop among those that never became ready."""
        left, before = set(left), {}
        for a, b in self.m.arcs[:, :2]:
            if a in left and b in left:
                before[b] = a
        seen, at = [], next(iter(before))
        while at not in seen:
            seen.append(at)
            at = before[at]
        return seen[seen.index(at):][:8]

    def path(self, end):
        """The latest path to an end, in the corner `likely`: [(net, arc or -1)], from its start."""
        m = self.m
        if not hasattr(self, "by_dst"):
            self.by_dst = np.argsort(m.arcs[:, 1], kind="stable")
            self.into = np.searchsorted(m.arcs[self.by_dst, 1], np.arange(m.n_nets + 1))
        steps, net = [], m.ends[end, 0]
        while True:
            e = self.by_dst[self.into[net]:self.into[net + 1]]
            e = e[self.arrival[m.arcs[e, 0], 1] + self.delay[e, 1] == self.arrival[net, 1]]
            steps.append((net, e[0] if len(e) else -1))
            if not len(e):
                return steps[::-1]
            net = m.arcs[e[0], 0]

    def levels(self, steps):
        """LUTs on a path."""
        return sum(e >= 0 and self.d.rows[self.m.arcs[e, 2]].cell.startswith("LUT") for _, e in steps)

    def local_name(self, arc):
        """Name of the net that an arc drives, in its module, and that module."""
        if not hasattr(self, "first_arcs"):
            self.first_arcs = np.array([a for *_, a in self.m.instances])
        arc = self.m.copied_arcs.get(int(arc), arc)
        i = np.searchsorted(self.first_arcs, arc, side="right") - 1
        path, module, _, _, first = self.m.instances[i]
        net = module.arcs[arc - first, 1]
        names = module.__dict__.setdefault("net_names", module.names())
        return path, names.get(net, f"net {net}"), module.name

    def worst(self, count, most=1):
        """Ends of the latest paths, no two that agree in registers and module at both sides."""
        found, seen = [], {}
        for end in np.argsort(-self.ends[:, 1], kind="stable"):
            if len(found) == count or self.ends[end, 1] < 0:
                break
            path, module, _ = self.m.of_cell(self.m.ends[end, 2])
            key = (path, plain(self.m.net_name(self.m.ends[end, 0])))
            if key in seen:
                continue
            seen[key] = True
            steps = self.path(end)
            pair = (plain(self.m.net_name(steps[0][0])), module.name)
            if seen.get(pair, 0) < most:
                seen[pair] = seen.get(pair, 0) + 1
                found.append((end, steps))
        return found

    def show(self, count, out):
        """Prints the latest paths by name: ps so far, cell, loads of its net, the net."""
        for end, steps in self.worst(count):
            path, module, cell = self.m.of_cell(self.m.ends[end, 2])
            row = self.d.rows[self.m.ends[end, 1]]
            out(f"{self.ends[end, 1] / 1000:.2f} ns, {self.levels(steps)} levels: "
                f"{short(plain(self.m.net_name(steps[0][0])))} -> {path[:-1] or 'port'} ({module.name})")
            out(f"  {'ps':>6} {'cell':<9} {'loads':>5}  net")
            for net, arc in steps:
                kind, name = "start", self.m.net_name(net)
                if arc >= 0:
                    where, name, _ = self.local_name(arc)
                    name, m = where + name, self.m.of_cell(self.m.arcs[arc, 3])
                    kind = m[1].kinds[m[2]]
                out(f"  {self.arrival[net, 1]:>6} {kind:<9} {self.m.n_loads[net]:>5}  {short(name)}")
            kind = module.kinds[cell] if cell >= 0 else "port"
            out(f"  {self.ends[end, 1]:>6} {kind:<9} {'':>5}  {row.b if row.what == 'setup' else 'output'}: setup, clock")

    def by_module(self):
        """{module: ps of the longest path that ends in it}"""
        first = np.array([c for _, _, _, c, _ in self.m.instances])
        at = np.searchsorted(first, self.m.ends[:, 2], side="right") - 1
        worst = np.full(len(first), 0)
        np.maximum.at(worst, np.maximum(at, 0), self.ends[:, 1])
        found = {}
        for (_, module, *_), ps in zip(self.m.instances, worst):
            found[module.name] = max(found.get(module.name, 0), int(ps))
        return found

    def wide_nets(self, data, control):
        """[(loads, those that are resets and enables, name)] of nets but clocks with more than `data` other loads, or more
        than `control` in all."""
        n, c = self.m.n_loads.copy(), self.m.n_control
        n[self.m.clocks] = 0
        over = np.flatnonzero((n - c > data) | (n > control))
        return sorted(((int(n[i]), int(c[i]), short(self.m.net_name(i))) for i in over), reverse=True)

    def mhz(self):
        """Clock by corners: least, likely, most."""
        return {c: int(10**6 // max(p, 1)) for c, p in zip(CORNERS, self.period[::-1])}


def short(name):
    """A name without where yosys made it."""
    name = re.sub(r"(\$techmap\d+)?\$abc\$\S*parse_blif\$\d+\.\S*", "(logic)", name)
    return re.sub(r"(\$techmap\d+)?\$(auto|abc)\$\S*?(\w+)\$\d+(?=\.|$)", r"(\3)", name)


def plain(name):
    """A name without the bit."""
    return re.sub(r"\[\d+\]$", "", name)

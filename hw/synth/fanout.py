"""Copies of what drives many loads, as `synth_design -fanout_limit` makes them (UG912, MAX_FANOUT; hw/xrt/board.sh asks
Vivado for as many): flip-flops and LUTs alone, and not for resets and enables, which stay with the original.
"""
import collections
import re

import numpy as np

COPIED = re.compile(r"FD[RSCP]E(_1)?|LUT[1-6]|INV")


def limit(machine, most):
    """Doubles drivers until no net that can has more than `most` data loads. {(module, kind of cell): copies}"""
    m, copies, stuck = machine, collections.Counter(), set()
    kinds = {n: name for name, n in m.delays.kinds.items()}
    clocks = set(m.clocks.tolist())
    while True:
        wide = [n for n in np.flatnonzero(m.n_loads - m.n_control > most).tolist()
                if n not in clocks and n not in stuck and COPIED.fullmatch(kinds.get(int(m.driver[n]), ""))]
        if not wide:
            return copies
        for net in wide:
            made = double(m, net, most)
            if made < 1:
                stuck.add(net)
                continue
            _, module, cell = m.of_cell(driver_of(m, net))
            copies[module.name, module.kinds[cell]] += made
        m.count_loads()


def driver_of(m, net):
    """Number of the cell that drives a net."""
    starts = m.starts[m.starts[:, 0] == net, 2]
    return int(starts[0] if len(starts) else m.arcs[m.arcs[:, 1] == net, 3][0])


def double(m, net, most):
    """Copies of one driver, each with the data loads of neighbouring cells; their number. A cell stays whole."""
    loads = m.loads[(m.loads[:, 0] == net) & (m.loads[:, 1] == 0)]
    cells, count = np.unique(loads[:, 2], return_counts=True)  # by their place in the hierarchy
    group, at, room = np.zeros(len(cells), dtype=np.int32), 0, most
    for i, c in enumerate(count.tolist()):
        if c > room and room < most:
            at, room = at + 1, most
        group[i], room = at, room - c
    inputs = m.loads[m.loads[:, 2] == driver_of(m, net)]
    for g in range(1, at + 1):
        take(m, net, cells[group == g])
    m.loads = np.concatenate([m.loads, *[inputs] * at])
    return at


def take(m, net, cells):
    """One more copy of the driver of a net, for these cells."""
    new = m.n_nets
    m.n_nets += 1
    m.original[new] = m.original.get(net, net)
    for rows, column in ((m.loads, 2), (m.arcs, 3), (m.ends, 2)):
        rows[(rows[:, 0] == net) & np.isin(rows[:, column], cells), 0] = new
    starts, arcs = m.starts[m.starts[:, 0] == net], m.arcs[m.arcs[:, 1] == net]
    at = np.flatnonzero(m.arcs[:, 1] == net)
    starts[:, 0] = arcs[:, 1] = new
    m.starts = np.concatenate([m.starts, starts])
    m.copied_arcs.update({len(m.arcs) + i: m.copied_arcs.get(a, a) for i, a in enumerate(at.tolist())})
    m.arcs, m.driver = np.concatenate([m.arcs, arcs]), np.append(m.driver, m.driver[net])

"""The table of delays (delays.txt), and which of its rows a cell has."""
import re
import sys

CORNERS = ("least", "likely", "most")


def fail(text):
    sys.exit(f"timing: {text}")


class Row:
    """A row: what, expressions for cell and pins, parameters that it asks for, delays."""

    def __init__(self, place, words):
        self.place, self.what = place, words[0]
        n = {"wire": 2, "port": 2, "clock": 1}.get(self.what, 5)
        if self.what not in ("out", "setup", "arc", "near", "fixed", "wire", "port", "clock") or len(words) < n + 4:
            fail(f"{place}: a row is what, cell, condition, two pins, three delays and a source (see its head): "
                 f"{' '.join(words)}")
        try:
            self.ps = tuple(int(w) for w in words[n:n + 3])
        except ValueError:
            fail(f"{place}: delays are whole ps, got {' '.join(words[n:n + 3])}")
        if list(self.ps) != sorted(self.ps):
            fail(f"{place}: {self.ps} are not least, likely, most")
        self.source, self.cell = words[n + 3], words[1] if n > 1 else ""
        if n == 5:
            self.asks = [] if words[2] == "-" else [w.split("=") for w in words[2].split(",")]
            self.a, self.b = words[3], words[4]
            self.order = 0
            if self.what == "arc":
                self.order = 2 if self.b.startswith(">=") else 1 if self.b.startswith(">") else 0
                self.b = self.b.lstrip(">=")

    def fits(self, kind, parameters):
        if not re.fullmatch(self.cell, kind):
            return False
        for name, want in self.asks:
            if name not in parameters:
                fail(f"{self.place}: a {kind} without the parameter {name}: name it where it is instantiated")
            if not re.fullmatch(want, parameters[name]):
                return False
        return True


def value_of(text):
    """Value of a parameter as yosys writes it: a number of binary digits, or text."""
    text = str(text).strip()
    return str(int(text, 2)) if re.fullmatch("[01]+", text) else text


class Delays:
    """All rows. Row i has delays ps[i]; kind 0 of a wire is one by its loads."""

    def __init__(self, path):
        self.path, self.rows, sources = path, [], set()
        for i, line in enumerate(open(path, encoding="utf-8"), 1):
            m = re.match(r"#   (\w+) {2,}\S", line)
            sources.update(m.groups() if m else ())
            words = line.split("#")[0].split()
            if words:
                self.rows.append(Row(f"{path}:{i}", words))
        for r in self.rows:
            if r.source not in sources:
                fail(f"{r.place}: the source {r.source} is not explained at the head of the file")
        self.cell_rows = [i for i, r in enumerate(self.rows) if r.what in ("out", "setup", "arc", "near", "fixed")]
        self.wires = sorted((int(r.cell), i) for i, r in enumerate(self.rows) if r.what == "wire")
        self.port = {r.cell: i for i, r in enumerate(self.rows) if r.what == "port"}
        self.clock = next((i for i, r in enumerate(self.rows) if r.what == "clock"), None)
        if not self.wires or self.clock is None or set(self.port) != {"in", "out"}:
            fail(f"{path}: rows wire, clock, port in and port out are needed")
        self.known, self.kinds = {}, {}

    def kind(self, name):
        """Number of a kind of cell; 0 is a port."""
        return self.kinds.setdefault(name, len(self.kinds) + 1)

    def of(self, kind, parameters, widths, directions):
        """What a cell has: (what, row, input pin, bit, output pin, bit) of each arc, clock to output and setup; names of
        its clocks; {input pin: rows of near and fixed}."""
        parameters = {n: value_of(v) for n, v in parameters.items() if not n.startswith("INIT")}
        key = (kind, tuple(sorted(parameters.items())), tuple(sorted(widths.items())))
        if key not in self.known:
            self.known[key] = self.resolve(kind, parameters, widths, directions)
        return self.known[key]

    def resolve(self, kind, parameters, widths, directions):
        pins = {d: [p for p in widths if directions[p] == d] for d in ("input", "output")}
        found, clocks, wires = [], set(), {}
        for i in self.cell_rows:
            r = self.rows[i]
            if not r.fits(kind, parameters):
                continue
            if r.what in ("near", "fixed"):
                for p in pins["input"]:
                    if re.fullmatch(r.a, p):
                        wires.setdefault(p, []).append(i)
                continue
            for a in pins["input"]:
                m = re.fullmatch(r.a, a)
                if m and r.what == "arc":
                    to = re.compile(m.expand(r.b))
                    found += [("arc", i, a, x, b, y) for b in pins["output"] if to.fullmatch(b)
                              for x in range(widths[a]) for y in range(widths[b])
                              if not r.order or y > x or (r.order == 2 and y == x)]
                elif m:
                    clocks.add(a)
            if r.what == "out":
                found += [("out", i, "", 0, b, y) for b in pins["output"] if re.fullmatch(r.b, b) for y in range(widths[b])]
            elif r.what == "setup":
                found += [("setup", i, a, x, "", 0) for a in pins["input"] if re.fullmatch(r.b, a) for x in range(widths[a])]
        if not found:
            fail(f"{self.path}: no row for a {kind}")
        return found, clocks, wires

    def sink(self, rows):
        """Number of an input of a cell, by its rows near and fixed; 0 has none."""
        if not hasattr(self, "sinks"):
            self.sinks, self.sink_numbers = [()], {(): 0}
        rows = tuple(rows)
        if rows not in self.sink_numbers:
            self.sink_numbers[rows] = len(self.sinks)
            self.sinks.append(rows)
        return self.sink_numbers[rows]

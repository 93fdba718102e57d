"""Pictures by matplotlib, where it is installed."""


def axes(ax):
    try:
        from matplotlib import pyplot
    except ImportError as e:
        raise ImportError("plots need matplotlib (Debian package python3-matplotlib)") from e
    return ax if ax is not None else pyplot.subplots()[1]


def bars(table, x=None, y=None, ax=None):
    """Bars of a column of a table."""
    ax = axes(ax)
    if not table:
        return ax
    kinds = {k: isinstance(v, (int, float)) for k, v in table[0].items()}
    x = x or next((k for k, number in kinds.items() if not number), None)
    y = y or next((k for k, number in kinds.items() if number), None)
    names = table.column(x) if x else range(len(table))
    places = range(len(table))
    ax.bar(places, table.column(y))
    ax.set_xticks(list(places))
    ax.set_xticklabels([str(n) for n in names], rotation=90)
    ax.set_ylabel(y)
    return ax


def layers(table, ax=None):
    """Cycles of each layer beside its roofline."""
    ax = axes(ax)
    places = list(range(len(table)))
    ax.bar([p - 0.2 for p in places], table.column("cycles"), 0.4, label="cycles")
    ax.bar([p + 0.2 for p in places], table.column("roofline"), 0.4, label="roofline")
    ax.set_xticks(places)
    ax.set_xticklabels(table.column("layer"), rotation=90)
    ax.set_ylabel("cycles")
    ax.legend()
    return ax


def roofline(table, peak, bandwidth, ax=None):
    """Layers over intensity: MACs a cycle over MACs a byte of DRAM, under the roof that peak
    (MACs a cycle) and bandwidth (bytes a cycle) make."""
    ax = axes(ax)
    points = [(r["macs"] / max(r["dram_bytes"], 1), r["macs"] / max(r["cycles"], 1), r["layer"])
              for r in table if r["macs"]]
    for intensity, speed, name in points:
        ax.plot([intensity], [speed], "o")
        ax.annotate(name, (intensity, speed))
    ends = [p[0] for p in points] + [peak / bandwidth]
    roof = sorted({min(ends) / 2, peak / bandwidth, max(ends) * 2})
    ax.plot(roof, [min(peak, bandwidth * i) for i in roof], "-")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("MACs per byte of DRAM")
    ax.set_ylabel("MACs per cycle")
    return ax

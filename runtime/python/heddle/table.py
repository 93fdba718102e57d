"""Tables: lists of dicts with a text form."""


def _cell(value):
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)


class Table(list):
    """A list of dicts, one for each row. print() shows it; pandas.DataFrame takes it as it is."""

    @property
    def columns(self):
        """Names of the columns."""
        return list(self[0]) if self else []

    def column(self, name):
        """The values of one column."""
        return [row[name] for row in self]

    def to_pandas(self):
        """The table as a pandas.DataFrame."""
        import pandas
        return pandas.DataFrame(list(self), columns=self.columns)

    def plot(self, x=None, y=None, ax=None):
        """Bars of column y (the first with numbers) named by column x (the first with text); the
        axes of matplotlib."""
        from heddle import plot
        return plot.bars(self, x, y, ax)

    def __str__(self):
        rows = [self.columns] + [[_cell(v) for v in row.values()] for row in self]
        if len(rows) == 1:
            return "(empty)"
        right = [isinstance(v, (int, float)) for v in self[0].values()]
        width = [max(len(r[i]) for r in rows) for i in range(len(right))]
        lines = ["  ".join(c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, width, right))
                 for row in rows]
        return "\n".join(line.rstrip() for line in lines)

    def _repr_html_(self):
        from html import escape

        def line(cells, tag):
            return "<tr>" + "".join(f"<{tag}>{escape(_cell(c))}</{tag}>" for c in cells) + "</tr>"
        return ("<table>" + line(self.columns, "th") +
                "".join(line(row.values(), "td") for row in self) + "</table>")

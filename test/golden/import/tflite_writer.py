"""Small TFLite files: tables of a FlatBuffer with each field in a slot of its own.

A table is a list of fields, None = absent. A field is an int or float with its struct code, a
string, bytes, a list of ints with a code, or a (list of) table."""
import struct


class N:  # a number
    def __init__(self, code, v):
        self.code, self.v = code, v


class V:  # a vector of numbers
    def __init__(self, code, v):
        self.code, self.v = code, v


def build(root, identifier=b"TFL3"):
    out = bytearray(8)
    out[4:8] = identifier

    def pad(n):
        while len(out) % n:
            out.append(0)

    def put(at, to):
        struct.pack_into("<I", out, at, to - at)

    def vector(items, code):
        pad(16)
        at = len(out)
        out.extend(struct.pack("<I", len(items)) + struct.pack("<%d%s" % (len(items), code), *items))
        return at

    def place(field):
        if isinstance(field, V):
            return vector(field.v, field.code)
        if isinstance(field, str):
            at = vector(field.encode(), "B")
            out.append(0)
            return at
        if isinstance(field, bytes):
            return vector(field, "B")
        if field and isinstance(field[0], list):
            pad(4)
            at = len(out)
            out.extend(struct.pack("<I", len(field)) + bytes(4 * len(field)))
            for i, t in enumerate(field):
                to = table(t)
                put(at + 4 + 4 * i, to)
            return at
        return table(field)

    def table(fields):
        pad(8)
        vt = len(out)
        slots, size = [], 4
        for f in fields:
            n = 0 if f is None else struct.calcsize(f.code) if isinstance(f, N) else 4
            if n:
                size += -size % n
            slots.append(size if n else 0)
            size += n
        out.extend(struct.pack("<HH%dH" % len(slots), 4 + 2 * len(slots), size, *slots))
        pad(8)
        at = len(out)
        out.extend(struct.pack("<i", at - vt) + bytes(size - 4))
        for f, s in zip(fields, slots):
            if isinstance(f, N):
                struct.pack_into("<" + f.code, out, at + s, f.v)
            elif f is not None:
                to = place(f)
                put(at + s, to)
        return at

    put(0, table(root))
    return bytes(out)


F32, I32, U8, I64, BOOL, I16, I8, RESOURCE, I4 = 0, 2, 3, 4, 6, 7, 9, 13, 17


def tensor(name, kind, shape, buffer=0, scale=None, zero=None, axis=0, variable=False, sparse=None):
    q = [None, None, V("f", scale), V("q", zero), None, None, N("i", axis)] if scale else None
    return [V("i", shape), N("b", kind), N("I", buffer), name, q, N("B", 1) if variable else None]


def model(tensors, inputs, outputs, ops, buffers, codes, more_graphs=()):
    """ops: (code index, inputs, outputs, options or None[, bytes of a custom operation]); codes: numbers, or names of
    custom operations"""
    def graph(tensors, inputs, outputs, ops):
        return [tensors, V("i", inputs), V("i", outputs),
                [[N("I", c), V("i", i), V("i", o), N("B", 1), opt] + [V("B", list(b)) for b in custom]
                 for c, i, o, opt, *custom in ops], "main"]
    numbers = [(32, c) if isinstance(c, str) else (c, None) for c in codes]
    return build([N("I", 3), [[N("b", min(c, 127)), name, N("i", 1), N("i", c)] for c, name in numbers],
                  [graph(tensors, inputs, outputs, ops)] + [graph(*g) for g in more_graphs], "made",
                  [[None]] + [[b] for b in buffers]])

"""Writes ONNX files for golden tests: protobuf by hand, standard library only.

A protobuf message is a row of (field number, value): int = varint, bytes or str = length-delimited.
"""
import struct

FLOAT, UINT8, INT32, INT64, BOOL, FLOAT16 = 1, 2, 6, 7, 9, 10


def varint(v):
    out = b""
    while v > 0x7F:
        out += bytes([v & 0x7F | 0x80])
        v >>= 7
    return out + bytes([v])


def message(*fields):
    out = b""
    for number, v in fields:
        if isinstance(v, int):
            out += varint(number << 3) + varint(v & (1 << 64) - 1)
        else:
            v = v.encode() if isinstance(v, str) else v
            out += varint(number << 3 | 2) + varint(len(v)) + v
    return out


def value(name, *dims, type=FLOAT):
    """A dimension is a number, or the name of an open one; dims = (None,): no shape at all."""
    shape = message(*[(1, message((2 if isinstance(d, str) else 1, d))) for d in dims if d is not None])
    with_shape = () if dims == (None,) else ((2, shape),)
    return message((1, name), (2, message((1, message((1, type), *with_shape)))))


def ints(name, *v):
    return message((1, name), *[(8, i) for i in v], (20, 7))


def number(name, v):
    return message((1, name), (3, v), (20, 2))


def string(name, v):
    return message((1, name), (4, v), (20, 3))


def strings(name, *v):
    return message((1, name), *[(9, s) for s in v], (20, 8))


def subgraph(name, g):
    return message((1, name), (6, g), (20, 5))


def node(op, inputs, outputs, name="", *attrs, domain=""):
    return message(*[(1, i) for i in inputs], *[(2, o) for o in outputs], (3, name), (4, op),
                   *[(5, a) for a in attrs], *([(7, domain)] if domain else []))


def tensor(name, dims, data, type=FLOAT):
    return message(*[(1, d) for d in dims], (2, type), (8, name), (9, data))


def external(name, dims, location, type=FLOAT, **keys):
    entries = [("location", location)] + [(k, str(v)) for k, v in keys.items()]
    return message(*[(1, d) for d in dims], (2, type), (8, name),
                   *[(13, message((1, k), (2, v))) for k, v in entries], (14, 1))


def floats(*v):
    return struct.pack(f"<{len(v)}f", *v)


def longs(*v):
    return struct.pack(f"<{len(v)}q", *v)


def graph(nodes, inputs, outputs, initializers=(), name="net"):
    return message(*[(1, n) for n in nodes], (2, name), *[(5, t) for t in initializers],
                   *[(11, i) for i in inputs], *[(12, o) for o in outputs])


def refer(name, of):
    """An attribute in the body of a function: the one of the call."""
    return message((1, name), (21, of))


def function(name, inputs, outputs, nodes, attributes=(), defaults=(), domain="local", opset=13):
    return message((1, name), *[(4, i) for i in inputs], *[(5, o) for o in outputs], *[(6, a) for a in attributes],
                   *[(7, n) for n in nodes], (9, message((2, opset))), (10, domain), *[(11, d) for d in defaults])


def model(nodes, inputs, outputs, initializers=(), opset=13, name="net", functions=()):
    return message((1, 7), (8, message((2, opset))), (7, graph(nodes, inputs, outputs, initializers, name)),
                   *[(25, f) for f in functions])

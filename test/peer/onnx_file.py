"""Writes one-operation ONNX models and their inputs, in the layout of the backend tests. Standard library only."""
import struct
from pathlib import Path

# name: ONNX data type, format of struct
TYPES = {
    "f32": (1, "f"), "u8": (2, "B"), "i8": (3, "b"), "u16": (4, "H"), "i16": (5, "h"), "i32": (6, "i"),
    "i64": (7, "q"), "bool": (9, "?"), "f16": (10, "e"), "f64": (11, "d"), "u32": (12, "I"), "u64": (13, "Q"),
}


def bits(t):
    return 8 * struct.calcsize(TYPES[t][1])


def varint(v):
    v &= (1 << 64) - 1
    out = b""
    while v > 0x7F:
        out += bytes([v & 0x7F | 0x80])
        v >>= 7
    return out + bytes([v])


def field(number, v):
    """An int is a varint, a float a binary32, everything else length-delimited."""
    if isinstance(v, int):
        return varint(number << 3) + varint(v)
    if isinstance(v, float):
        return varint(number << 3 | 5) + struct.pack("<f", v)
    v = v.encode() if isinstance(v, str) else v
    return varint(number << 3 | 2) + varint(len(v)) + v


def tensor(name, t, dims, values):
    code, fmt = TYPES[t]
    raw = struct.pack(f"<{len(values)}{fmt}", *values)
    return b"".join(field(1, d) for d in dims) + field(2, code) + field(8, name) + field(9, raw)


def attribute(name, v):
    if isinstance(v, int):
        return field(1, name) + field(3, v) + field(20, 2)
    if isinstance(v, float):
        return field(1, name) + field(2, v) + field(20, 1)
    if isinstance(v, str):
        return field(1, name) + field(4, v) + field(20, 3)
    return field(1, name) + b"".join(field(8, x) for x in v) + field(20, 7)


def value_info(name, t, dims):
    """A size that is a name is open."""
    sizes = [field(1, field(2 if isinstance(d, str) else 1, d)) for d in dims or []]
    shape = b"" if dims is None else field(2, b"".join(sizes))
    return field(1, name) + field(2, field(1, field(1, TYPES[t][0]) + shape))


class Case:
    """One node. put() adds an operand: a graph input, or a constant when `const`; None leaves it out."""

    def __init__(self, op, opset, **attrs):
        self.op, self.opset, self.attrs = op, opset, attrs
        self.operands, self.results = [], []

    def put(self, t, dims, values, const=False):
        self.operands.append((t, list(dims), values, const))
        return self

    def leave_out(self):
        self.operands.append(None)
        return self

    def result(self, *types):
        self.results += types
        return self

    def write(self, folder):
        data = Path(folder) / "test_data_set_0"
        data.mkdir(parents=True)
        node = inputs = constants = outputs = b""
        given = 0
        for i, x in enumerate(self.operands):
            node += field(1, f"x{i}" if x else "")
            if not x:
                continue
            t, dims, values, const = x
            message = tensor(f"x{i}", t, dims, values)
            if const:
                constants += field(5, message)
                continue
            inputs += field(11, value_info(f"x{i}", t, dims))
            (data / f"input_{given}.pb").write_bytes(message)
            given += 1
        for i, t in enumerate(self.results):
            node += field(2, f"y{i}")
            outputs += field(12, value_info(f"y{i}", t, None))
        node += field(3, "node") + field(4, self.op)
        node += b"".join(field(5, attribute(k, v)) for k, v in self.attrs.items())
        graph = field(1, node) + field(2, "graph") + constants + inputs + outputs
        model = field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, self.opset))
        (Path(folder) / "model.onnx").write_bytes(model)

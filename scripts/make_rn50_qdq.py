#!/usr/bin/env python3
"""Writes a ResNet-50-shaped int8 network (QDQ form, per-channel weights, random from a seed) as ONNX:
for `heddle bench cpu`, where no trained one is at hand. Plain protobuf, no packages needed.

    scripts/make_rn50_qdq.py OUT.onnx [SEED [BATCH]]
"""
import random
import statistics
import struct
import sys


def varint(v):
    out = b""
    v &= (1 << 64) - 1
    while v > 127:
        out += bytes([v & 127 | 128])
        v >>= 7
    return out + bytes([v])


def num(field, v):
    return varint(field << 3) + varint(v)


def blob(field, data):
    if isinstance(data, str):
        data = data.encode()
    return varint(field << 3 | 2) + varint(len(data)) + data


FLOAT, INT8, INT32 = 1, 3, 6


def tensor(name, kind, dims, raw):
    return b"".join(num(1, d) for d in dims) + num(2, kind) + blob(8, name) + blob(9, raw)


def ints(name, values):
    return blob(1, name) + b"".join(num(8, v) for v in values) + num(20, 7)


def integer(name, v):
    return blob(1, name) + num(3, v) + num(20, 2)


# A uniform byte -> an int8 of normal distribution, deviation 36, cut at 127.
NORMAL = bytes(max(-127, min(127, round(36 * statistics.NormalDist().inv_cdf((i + 0.5) / 256)))) & 255
               for i in range(256))


class Net:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.nodes, self.consts, self.n = [], [], 0

    def const(self, kind, dims, raw):
        name = f"c{len(self.consts)}"
        self.consts.append(tensor(name, kind, dims, raw))
        return name

    def node(self, op, inputs, attrs=()):
        self.n += 1
        out = f"t{self.n}"
        self.nodes.append(b"".join(blob(1, i) for i in inputs) + blob(2, out) +
                          blob(3, f"{op}_{self.n}") + blob(4, op) + b"".join(blob(5, a) for a in attrs))
        return out

    def scale(self, v):
        return self.const(FLOAT, [], struct.pack("<f", v))

    def qdq(self, x, scale):
        s, z = self.scale(scale), self.const(INT8, [], b"\0")
        return self.node("DequantizeLinear", [self.node("QuantizeLinear", [x, s, z]), s, z])

    def weights(self, m, per, dims, x_scale):
        """int8 weights and int32 bias behind their DequantizeLinears."""
        raw = self.random.randbytes(m * per).translate(NORMAL)
        scales = [(0.8 + 0.4 * self.random.random()) / (32 * per ** 0.5) for _ in range(m)]
        zeros = self.const(INT8, [m], b"\0" * m)
        w = self.node("DequantizeLinear", [self.const(INT8, dims, raw),
                                           self.const(FLOAT, [m], struct.pack(f"<{m}f", *scales)), zeros],
                      [integer("axis", 0)])
        bias = [self.random.randint(-500, 500) for _ in range(m)]
        b = self.node("DequantizeLinear", [
            self.const(INT32, [m], struct.pack(f"<{m}i", *bias)),
            self.const(FLOAT, [m], struct.pack(f"<{m}f", *[s * x_scale for s in scales])),
            self.const(INT32, [m], b"\0" * 4 * m)], [integer("axis", 0)])
        return w, b

    def conv(self, x, c, m, k, stride, relu, x_scale=1 / 32):
        w, b = self.weights(m, c * k * k, [m, c, k, k], x_scale)
        y = self.node("Conv", [x, w, b], [ints("kernel_shape", [k, k]), ints("strides", [stride] * 2),
                                          ints("pads", [k // 2] * 4)])
        return self.qdq(self.node("Relu", [y]) if relu else y, 1 / 32)

    def block(self, x, c, mid, stride):
        y = self.conv(x, c, mid, 1, 1, True)
        y = self.conv(y, mid, mid, 3, stride, True)
        y = self.conv(y, mid, 4 * mid, 1, 1, False)
        if stride != 1 or c != 4 * mid:
            x = self.conv(x, c, 4 * mid, 1, stride, False)
        return self.qdq(self.node("Relu", [self.node("Add", [y, x])]), 1 / 32)


def value(name, dims):
    shape = b"".join(blob(1, num(1, d)) for d in dims)
    return blob(1, name) + blob(2, blob(1, num(1, FLOAT) + blob(2, shape)))


def main():
    net = Net(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    batch = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    x = net.conv(net.qdq("input", 1 / 32), 3, 64, 7, 2, True)
    x = net.node("MaxPool", [x], [ints("kernel_shape", [3, 3]), ints("strides", [2, 2]), ints("pads", [1] * 4)])
    c = 64
    for mid, count in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for i in range(count):
            x = net.block(x, c, mid, 2 if i == 0 and mid != 64 else 1)
            c = 4 * mid
    x = net.qdq(net.node("GlobalAveragePool", [x]), 1 / 32)
    x = net.node("Flatten", [x])
    w, b = net.weights(1000, c, [1000, c], 1 / 32)
    y = net.qdq(net.node("Gemm", [x, w, b], [integer("transB", 1)]), 1 / 16)
    net.nodes[-1] = net.nodes[-1].replace(blob(2, y), blob(2, "output"))
    graph = b"".join(blob(1, n) for n in net.nodes) + blob(2, "rn50_qdq")
    graph += b"".join(blob(5, t) for t in net.consts)
    graph += blob(11, value("input", [batch, 3, 224, 224])) + blob(12, value("output", [batch, 1000]))
    model = num(1, 8) + blob(2, "heddle") + blob(7, graph) + blob(8, blob(1, "") + num(2, 13))
    with open(sys.argv[1], "wb") as f:
        f.write(model)


if __name__ == "__main__":
    main()

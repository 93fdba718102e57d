#!/usr/bin/env python3
"""Small networks of the architectures that people bring, as exporters write them: zoo.py FOLDER [SEED]

Each function that ends the file's middle part is one network, with random weights, in the opset and with the operations
that PyTorch's exporter gives it; sizes are drawn from SEED (1). Below FOLDER every network gets a folder with model.onnx
and one set of inputs. Standard library only.
"""
import math
import random
import sys
import zlib
from math import prod
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "peer"))
from onnx_file import TYPES, attribute, field, tensor, value_info  # noqa: E402


class Network:
    """Tensors are names; shapes are the caller's business."""

    def __init__(self, name, opset, seed):
        self.name, self.opset, self.random = name, opset, random.Random(zlib.crc32(name.encode()) + seed)
        self.nodes, self.constants, self.inputs, self.data = [], [], [], []

    def pick(self, *of):
        return self.random.choice(of)

    def normal(self, n, size=1.0, at=0.0):
        return [self.random.gauss(at, size) for _ in range(n)]

    def input(self, name, dims, t="f32", values=None):
        self.inputs.append(value_info(name, t, dims))
        self.data.append(tensor(name, t, dims, values or self.normal(prod(dims))))
        return name

    def const(self, dims, values, t="f32"):
        name = f"c{len(self.constants)}"
        self.constants.append(tensor(name, t, dims, values))
        return name

    def scalar(self, v):
        return self.const([], [v])

    def ints(self, *v):
        return self.const([len(v)], v, "i64")

    def op(self, kind, *x, n=1, **attrs):
        i = len(self.nodes)
        out = [f"t{i}_{k}" if n > 1 else f"t{i}" for k in range(n)]
        node = b"".join(field(1, a) for a in x) + b"".join(field(2, a) for a in out)
        node += field(3, f"{kind}_{i}") + field(4, kind)
        self.nodes.append(node + b"".join(field(5, attribute(k, v)) for k, v in attrs.items()))
        return out if n > 1 else out[0]

    def write(self, root, *outputs):
        folder = Path(root) / self.name / "test_data_set_0"
        folder.mkdir(parents=True, exist_ok=True)
        graph = b"".join(field(1, n) for n in self.nodes) + field(2, self.name)
        graph += b"".join(field(5, c) for c in self.constants) + b"".join(field(11, i) for i in self.inputs)
        graph += b"".join(field(12, value_info(o, "f32", None)) for o in outputs)
        model = field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, self.opset))
        (folder.parent / "model.onnx").write_bytes(model)
        for i, d in enumerate(self.data):
            (folder / f"input_{i}.pb").write_bytes(d)

    # ---- layers: x, channels in and out ----

    def weights(self, dims, fan):
        return self.const(dims, self.normal(prod(dims), math.sqrt(2 / fan)))

    def vector(self, n, size=0.1, at=0.0):
        return self.const([n], self.normal(n, size, at))

    def conv(self, x, ci, co, k=3, s=1, pads=None, group=1, dilation=1, bias=True, dims=2):
        w = self.weights([co, ci // group] + [k] * dims, ci // group * k ** dims)
        more = [self.vector(co)] if bias else []
        return self.op("Conv", x, w, *more, kernel_shape=[k] * dims, strides=[s] * dims, group=group,
                       pads=pads or [(k - 1) // 2 * dilation] * (2 * dims), dilations=[dilation] * dims)

    def deconv(self, x, ci, co, k, s, pad=0, bias=True):
        w = self.weights([ci, co, k, k], ci * k * k / s / s)
        more = [self.vector(co)] if bias else []
        return self.op("ConvTranspose", x, w, *more, kernel_shape=[k, k], strides=[s, s], pads=[pad] * 4)

    def norm(self, x, c):
        self_var = self.const([c], [1 + 0.2 * self.random.random() for _ in range(c)])
        return self.op("BatchNormalization", x, self.vector(c, 0.1, 1), self.vector(c), self.vector(c), self_var,
                       epsilon=1e-5)

    def relu(self, x):
        return self.op("Relu", x)

    def silu(self, x):
        return self.op("Mul", x, self.op("Sigmoid", x))

    def gelu(self, x):
        e = self.op("Erf", self.op("Div", x, self.scalar(math.sqrt(2))))
        return self.op("Mul", self.op("Mul", x, self.op("Add", e, self.scalar(1.0))), self.scalar(0.5))

    def pool(self, x, kind="MaxPool", k=2, s=2, pad=0):
        return self.op(kind, x, kernel_shape=[k, k], strides=[s, s], pads=[pad] * 4)

    def linear(self, x, ci, co):
        return self.op("Add", self.op("MatMul", x, self.weights([ci, co], 2 * ci)), self.vector(co))

    def gemm(self, x, ci, co):
        return self.op("Gemm", x, self.weights([co, ci], 2 * ci), self.vector(co), transB=1)

    def layer_norm(self, x, c):
        d = self.op("Sub", x, self.op("ReduceMean", x, axes=[-1], keepdims=1))
        v = self.op("ReduceMean", self.op("Pow", d, self.scalar(2.0)), axes=[-1], keepdims=1)
        y = self.op("Div", d, self.op("Sqrt", self.op("Add", v, self.scalar(1e-5))))
        return self.op("Add", self.op("Mul", y, self.vector(c, 0.1, 1)), self.vector(c))

    def reshape(self, x, *dims):
        return self.op("Reshape", x, self.ints(*dims))

    def transpose(self, x, *perm):
        return self.op("Transpose", x, perm=list(perm))

    def head(self, x, c, classes):
        return self.gemm(self.op("Flatten", self.op("GlobalAveragePool", x), axis=1), c, classes)

    def excite(self, x, c, less, gate):
        y = self.relu(self.conv(self.op("GlobalAveragePool", x), c, less, 1))
        return self.op("Mul", x, gate(self.conv(y, less, c, 1)))

    def encoder(self, x, length, d, heads, ff, batch=1, mask=None, before=False):
        """A transformer block; the norms in front of its parts or behind their sums."""
        def attention(z):
            split = [self.transpose(self.reshape(self.linear(z, d, d), batch, length, heads, d // heads), *p)
                     for p in ((0, 2, 1, 3), (0, 2, 3, 1), (0, 2, 1, 3))]
            s = self.op("Div", self.op("MatMul", split[0], split[1]), self.scalar(math.sqrt(d // heads)))
            s = self.op("Add", s, mask) if mask else s
            y = self.op("MatMul", self.op("Softmax", s, axis=-1), split[2])
            return self.linear(self.reshape(self.transpose(y, 0, 2, 1, 3), batch, length, d), d, d)

        def feed(z):
            return self.linear(self.gelu(self.linear(z, d, ff)), ff, d)
        for part in (attention, feed):
            if before:
                x = self.op("Add", x, part(self.layer_norm(x, d)))
            else:
                x = self.layer_norm(self.op("Add", x, part(x)), d)
        return x


# ---- networks: each returns its outputs ----

def mobilenet_v3(g):
    def swish(x):
        return g.op("HardSwish", x)
    side = g.pick(48, 64)
    x, c = swish(g.norm(g.conv(g.input("x", [1, 3, side, side]), 3, 16, s=2, bias=False), 16)), 16
    for e, co, k, s, squeeze, act in ((16, 16, 3, 2, True, g.relu), (72, 24, 3, 2, False, g.relu), (88, 24, 3, 1, False, g.relu),
                                      (96, 40, 5, 2, True, swish), (240, 40, 5, 1, True, swish)):
        y = act(g.norm(g.conv(x, c, e, 1, bias=False), e)) if e != c else x
        y = act(g.norm(g.conv(y, e, e, k, s, group=e, bias=False), e))
        if squeeze:
            y = g.excite(y, e, e // 4, lambda z: g.op("HardSigmoid", z, alpha=1 / 6))
        y = g.norm(g.conv(y, e, co, 1, bias=False), co)
        x, c = g.op("Add", x, y) if s == 1 and c == co else y, co
    x = g.op("Flatten", g.op("GlobalAveragePool", swish(g.conv(x, c, 96, 1))), axis=1)
    return [g.gemm(swish(g.gemm(x, 96, 64)), 64, 10)]


def efficientnet(g):
    x, c = g.silu(g.conv(g.input("x", [1, 3, 48, 48]), 3, 32, s=2)), 32
    for t, co, k, s in ((1, 16, 3, 1), (6, 24, 3, 2), (6, 24, 3, 1), (6, 40, 5, 2), (6, 40, 5, 1)):
        e, y = c * t, x
        if t > 1:
            y = g.silu(g.conv(y, c, e, 1))
        y = g.excite(g.silu(g.conv(y, e, e, k, s, group=e)), e, e // 4, lambda z: g.op("Sigmoid", z))
        y = g.conv(y, e, co, 1)
        x, c = g.op("Add", y, x) if s == 1 and c == co else y, co
    x = g.op("ReduceMean", g.silu(g.conv(x, c, 120, 1)), axes=[2, 3], keepdims=0)
    return [g.op("Softmax", g.gemm(x, 120, g.pick(10, 37, 100)), axis=1)]


def densenet(g):
    grow, c = g.pick(8, 12, 16), 32
    x = g.pool(g.relu(g.norm(g.conv(g.input("x", [1, 3, 48, 48]), 3, c, 7, 2, bias=False), c)), k=3, pad=1)
    for _ in range(2):
        for _ in range(3):
            y = g.conv(g.relu(g.norm(x, c)), c, 4 * grow, 1, bias=False)
            y = g.conv(g.relu(g.norm(y, 4 * grow)), 4 * grow, grow, bias=False)
            x, c = g.op("Concat", x, y, axis=1), c + grow
        x, c = g.pool(g.conv(g.relu(g.norm(x, c)), c, c // 2, 1, bias=False), "AveragePool"), c // 2
    return [g.head(g.relu(g.norm(x, c)), c, 10)]


def shufflenet_v2(g):
    batch, c = g.pick(1, 2, 3), g.pick(16, 24, 32)
    x = g.pool(g.relu(g.conv(g.input("x", [batch, 3, 64, 64]), 3, c, s=2)), k=3, pad=1)

    def branch(y, s):
        y = g.relu(g.conv(y, c, c, 1))
        return g.relu(g.conv(g.conv(y, c, c, s=s, group=c), c, c, 1))

    def shuffle(a, b):
        y = g.reshape(g.op("Concat", a, b, axis=1), batch, 2, c, 8, 8)
        return g.reshape(g.transpose(y, 0, 2, 1, 3, 4), batch, 2 * c, 8, 8)
    x = shuffle(g.relu(g.conv(g.conv(x, c, c, s=2, group=c), c, c, 1)), branch(x, 2))
    for _ in range(2):
        a, b = g.op("Split", x, g.ints(c, c), n=2, axis=1)
        x = shuffle(a, branch(b, 1))
    return [g.gemm(g.op("ReduceMean", x, axes=[2, 3], keepdims=0), 2 * c, 10)]


def resnext(g):
    groups, c = g.pick(2, 4, 8), 64
    x = g.relu(g.conv(g.input("x", [1, 3, 32, 32]), 3, c))
    for s in (1, 2, 1):
        y = g.relu(g.conv(g.relu(g.conv(x, c, 64, 1)), 64, 64, s=s, group=groups))
        x, c = g.relu(g.op("Add", g.conv(y, 64, 128, 1), g.conv(x, c, 128, 1, s))), 128
    return [g.gemm(g.op("Flatten", g.op("GlobalMaxPool", x)), c, 10)]


def convnext(g):
    c = g.pick(32, 48)
    x = g.conv(g.input("x", [1, 3, 64, 64]), 3, c, 4, 4, pads=[0] * 4)
    for _ in range(2):
        y = g.layer_norm(g.transpose(g.conv(x, c, c, 7, group=c), 0, 2, 3, 1), c)
        y = g.op("Mul", g.linear(g.gelu(g.linear(y, c, 4 * c)), 4 * c, c), g.vector(c, 0.1, 0.5))
        x = g.op("Add", x, g.transpose(y, 0, 3, 1, 2))
    return [g.gemm(g.op("ReduceMean", x, axes=[2, 3], keepdims=0), c, 10)]


def unet(g):
    x, c, skips, widths = g.input("x", [1, 1, 48, 80]), 1, [], (16, 32, g.pick(40, 64))
    for k in widths:
        x = g.relu(g.conv(g.relu(g.conv(x, c, k)), k, k))
        skips.append(x)
        x, c = g.pool(x), k
    x = g.relu(g.conv(x, c, c))
    for k in reversed(widths):
        x = g.op("Concat", skips.pop(), g.deconv(x, c, k, 2, 2), axis=1)
        x, c = g.relu(g.conv(x, 2 * k, k)), k
    return [g.op("Sigmoid", g.conv(x, c, 1, 1))]


def deeplab(g):
    x = g.relu(g.conv(g.relu(g.conv(g.input("x", [1, 3, 64, 64]), 3, 24, s=2)), 24, 48, s=2))
    parts = [g.relu(g.conv(x, 48, 32, 1))] + [g.relu(g.conv(x, 48, 32, dilation=d)) for d in (2, 4, 6)]
    size = {"mode": "linear", "coordinate_transformation_mode": "half_pixel"}
    y = g.relu(g.conv(g.op("GlobalAveragePool", x), 48, 32, 1))
    parts.append(g.op("Resize", y, "", "", g.ints(1, 32, 16, 16), **size))
    x = g.conv(g.relu(g.conv(g.op("Concat", *parts, axis=1), 160, 32, 1)), 32, 5, 1)
    return [g.op("Resize", x, "", "", g.ints(1, 5, 64, 64), **size)]


def yolo(g):
    def act(x):
        return g.op("LeakyRelu", x, alpha=0.1)
    x, c = g.input("x", [1, 3, 96, 96]), 3
    for k in (16, 32, 64):
        x, c = act(g.norm(g.conv(x, c, k, s=2, bias=False), k)), k
    early, x = x, act(g.conv(x, 64, 96, s=2))
    x = g.op("MaxPool", x, kernel_shape=[2, 2], strides=[1, 1], auto_pad="SAME_UPPER")
    y = g.op("Resize", act(g.conv(x, 96, 32, 1)), g.const([0], []), g.const([4], [1, 1, 2, 2]), mode="nearest",
             coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    y = act(g.conv(g.op("Concat", y, early, axis=1), 96, 64))

    def boxes(z, k, n):
        z = g.reshape(g.op("Sigmoid", g.conv(z, k, 18, 1)), 1, 3, 6, n, n)
        return g.reshape(g.transpose(z, 0, 1, 3, 4, 2), 1, 3 * n * n, 6)
    return [g.op("Concat", boxes(x, 96, 6), boxes(y, 64, 12), axis=1)]


def super_resolution(g):
    """Slopes of a channel each, then one for all."""
    c = g.pick(24, 32)
    x = g.input("x", [1, 3, 24, 24])
    y = g.op("PRelu", g.conv(x, 3, c, 5), g.const([c, 1, 1], g.normal(c, 0.1, 0.2)))
    for _ in range(2):
        z = g.op("PRelu", g.conv(y, c, c), g.const([c, 1, 1], [0.25] * c))
        y = g.op("Add", y, g.conv(z, c, c))
    return [g.op("Tanh", g.op("DepthToSpace", g.conv(y, c, 12), blocksize=2, mode="CRD"))]


def generator(g):
    x, c = g.input("z", [g.pick(1, 2), 32, 1, 1]), 32
    for k, s, p in ((64, 1, 0), (32, 2, 1), (16, 2, 1)):
        x, c = g.relu(g.norm(g.deconv(x, c, k, 4, s, p, bias=False), k)), k
    return [g.op("Tanh", g.deconv(x, c, 3, 4, 2, 1))]


def video(g):
    x = g.relu(g.conv(g.input("x", [1, 3, 8, 16, 16]), 3, 8, dims=3))
    x = g.op("MaxPool", x, kernel_shape=[1, 2, 2], strides=[1, 2, 2])
    return [g.head(g.relu(g.conv(x, 8, 16, dims=3)), 16, 6)]


def vision_transformer(g):
    d = g.pick(48, 64)
    x = g.conv(g.input("x", [1, 3, 32, 32]), 3, d, 4, 4, pads=[0] * 4)
    x = g.transpose(g.reshape(x, 1, d, 64), 0, 2, 1)
    x = g.op("Concat", g.const([1, 1, d], g.normal(d)), x, axis=1)
    x = g.op("Add", x, g.const([1, 65, d], g.normal(65 * d, 0.1)))
    for _ in range(2):
        x = g.encoder(x, 65, d, 4, 2 * d, before=True)
    return [g.gemm(g.op("Gather", g.layer_norm(x, d), g.const([], [0], "i64"), axis=1), d, 10)]


def swin(g):
    x = g.layer_norm(g.input("x", [1, 16, 16, 48]), 48)
    w = g.reshape(g.transpose(g.reshape(x, 1, 4, 4, 4, 4, 48), 0, 1, 3, 2, 4, 5), 16, 16, 48)
    w = g.encoder(w, 16, 48, 3, 96, batch=16, before=True)
    w = g.reshape(g.transpose(g.reshape(w, 1, 4, 4, 4, 4, 48), 0, 1, 3, 2, 4, 5), 1, 16, 16, 48)
    return [g.gemm(g.op("ReduceMean", w, axes=[1, 2], keepdims=0), 48, 10)]


def bert(g):
    n, d = g.pick(17, 32), 64
    ids = g.input("ids", [1, n], "i64", [g.random.randrange(100) for _ in range(n)])
    mask = g.input("mask", [1, n], values=[float(i < n - 6) for i in range(n)])
    x = g.op("Gather", g.const([100, d], g.normal(100 * d)), ids, axis=0)
    x = g.layer_norm(g.op("Add", x, g.const([1, n, d], g.normal(n * d, 0.2))), d)
    hide = g.op("Mul", g.op("Sub", g.scalar(1.0), g.op("Unsqueeze", mask, g.ints(1, 2))), g.scalar(-10000.0))
    for _ in range(2):
        x = g.encoder(x, n, d, 4, 128, mask=hide)
    return [g.gemm(g.op("Tanh", g.gemm(g.op("Gather", x, g.const([], [0], "i64"), axis=1), d, d)), d, 2)]


def gpt(g):
    n, d = g.pick(16, 24, 31), 48
    x = g.input("x", [1, n, d])
    causal = g.const([1, 1, n, n], [-1e4 if k > q else 0.0 for q in range(n) for k in range(n)])
    for _ in range(2):
        x = g.encoder(x, n, d, 3, 96, mask=causal, before=True)
    return [g.linear(g.layer_norm(x, d), d, 64)]


def mixer(g):
    x = g.conv(g.input("x", [1, 3, 32, 32]), 3, 64, 4, 4, pads=[0] * 4)
    x = g.transpose(g.reshape(x, 1, 64, 64), 0, 2, 1)
    for _ in range(2):
        y = g.transpose(g.layer_norm(x, 64), 0, 2, 1)
        x = g.op("Add", x, g.transpose(g.linear(g.gelu(g.linear(y, 64, 32)), 32, 64), 0, 2, 1))
        x = g.op("Add", x, g.linear(g.gelu(g.linear(g.layer_norm(x, 64), 64, 128)), 128, 64))
    return [g.gemm(g.op("ReduceMean", x, axes=[1], keepdims=0), 64, 10)]


def temporal(g):
    n, c = g.pick(100, 128), 12
    x = g.input("x", [1, c, n])
    for d in (1, 2, 4):
        y = g.relu(g.conv(x, c, 32, pads=[2 * d, 0], dilation=d, dims=1))
        y = g.relu(g.conv(y, 32, 32, pads=[2 * d, 0], dilation=d, dims=1))
        x, c = g.relu(g.op("Add", y, x if c == 32 else g.conv(x, c, 32, 1, dims=1))), 32
    return [g.gemm(g.op("Gather", x, g.const([], [-1], "i64"), axis=2), 32, 5)]


def recurrent(g):
    n, h = g.pick(12, 20), g.pick(24, 32)
    x = g.input("x", [n, 1, 24])

    def part(*dims):
        return g.const(list(dims), g.normal(prod(dims), 0.2))
    y, _ = g.op("GRU", x, part(2, 3 * h, 24), part(2, 3 * h, h), part(2, 6 * h), n=2, hidden_size=h, linear_before_reset=1,
                direction="bidirectional")
    y = g.reshape(g.transpose(y, 0, 2, 1, 3), n, 1, 2 * h)
    y, _, _ = g.op("LSTM", y, part(1, 4 * h, 2 * h), part(1, 4 * h, h), part(1, 8 * h), n=3, hidden_size=h)
    return [g.op("Softmax", g.linear(g.op("Squeeze", y, g.ints(1)), h, 12), axis=-1)]


def pointnet(g):
    x, c = g.input("x", [1, 3, g.pick(200, 256)]), 3
    for k in (32, 64, 128):
        x, c = g.relu(g.conv(x, c, k, 1, dims=1)), k
    return [g.gemm(g.relu(g.gemm(g.op("ReduceMax", x, axes=[2], keepdims=0), c, 64)), 64, 10)]


OPSET = {mobilenet_v3: 14, yolo: 11}  # others: 13
NETWORKS = [mobilenet_v3, efficientnet, densenet, shufflenet_v2, resnext, convnext, unet, deeplab, yolo, super_resolution, generator,
            video, vision_transformer, swin, bert, gpt, mixer, temporal, recurrent, pointnet]


def main():
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    for build in NETWORKS:
        g = Network(build.__name__, OPSET.get(build, 13), seed)
        g.write(sys.argv[1], *build(g))


main()

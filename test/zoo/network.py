"""A network of the zoo as it is built: nodes, constants, inputs, and the layers that architectures share.

Standard library only.
"""
import math
import random
import sys
import zlib
from math import prod
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "peer"))
from onnx_file import attribute, field, tensor, value_info  # noqa: E402


class Network:
    """Tensors are names; shapes are the caller's business."""

    def __init__(self, name, opset, seed, batches=False):
        """batches: a first size of 1 is left open."""
        self.name, self.opset, self.random = name, opset, random.Random(zlib.crc32(name.encode()) + seed)
        self.nodes, self.constants, self.inputs, self.data = [], [], [], []
        self.batches = batches

    def pick(self, *of):
        return self.random.choice(of)

    def normal(self, n, size=1.0, at=0.0):
        return [self.random.gauss(at, size) for _ in range(n)]

    def input(self, name, dims, t="f32", values=None):
        is_open = self.batches and dims[:1] == [1]
        self.inputs.append(value_info(name, t, ["batch", *dims[1:]] if is_open else dims))
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
        if self.batches and dims[0] == 1:
            dims = (0, *dims[1:])
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

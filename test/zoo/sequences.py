"""Networks over sequences: attention, recurrent layers, convolutions in time; tables and points.

Each function is one network: it takes a Network and returns its outputs.
"""
import math
from math import prod


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


def wavenet(g):
    n, c = g.pick(96, 130), 16
    x = g.conv(g.input("x", [1, 8, n]), 8, c, 1, dims=1)
    skip = None
    for d in (1, 2, 4, 8):
        z = g.op("Pad", x, g.ints(0, 0, d, 0, 0, 0))
        a = g.op("Tanh", g.conv(z, c, c, 2, pads=[0, 0], dilation=d, dims=1))
        b = g.op("Sigmoid", g.conv(z, c, c, 2, pads=[0, 0], dilation=d, dims=1))
        y = g.op("Mul", a, b)
        s = g.conv(y, c, 32, 1, dims=1)
        skip = s if skip is None else g.op("Add", skip, s)
        x = g.op("Add", x, g.conv(y, c, c, 1, dims=1))
    y = g.relu(g.conv(g.relu(skip), 32, 32, 1, dims=1))
    return [g.conv(y, 32, 20, 1, dims=1)]


def llama(g):
    n, d, h = g.pick(12, 16), 64, 4
    e = d // h
    x = g.input("x", [1, n, d])
    cos = g.const([1, 1, n, e], [math.cos(p / 100 ** (2 * (i % (e // 2)) / e)) for p in range(n) for i in range(e)])
    sin = g.const([1, 1, n, e], [math.sin(p / 100 ** (2 * (i % (e // 2)) / e)) for p in range(n) for i in range(e)])
    mask = g.const([1, 1, n, n], [0.0 if j <= i else -10000.0 for i in range(n) for j in range(n)])

    def rms(z):
        v = g.op("ReduceMean", g.op("Pow", z, g.scalar(2.0)), axes=[-1], keepdims=1)
        r = g.op("Reciprocal", g.op("Sqrt", g.op("Add", v, g.scalar(1e-6))))
        return g.op("Mul", g.vector(d, 0.1, 1), g.op("Mul", z, r))

    def rope(z):
        a = g.op("Slice", z, g.ints(0), g.ints(e // 2), g.ints(3))
        b = g.op("Slice", z, g.ints(e // 2), g.ints(1 << 40), g.ints(3))
        rot = g.op("Concat", g.op("Neg", b), a, axis=3)
        return g.op("Add", g.op("Mul", z, cos), g.op("Mul", rot, sin))

    def proj(z, co):
        return g.op("MatMul", z, g.weights([d, co], 2 * d))
    for _ in range(2):
        z = rms(x)
        q, k, v = (g.transpose(g.reshape(proj(z, d), 1, n, h, e), 0, 2, 1, 3) for _ in range(3))
        s = g.op("Div", g.op("MatMul", rope(q), g.transpose(rope(k), 0, 1, 3, 2)), g.scalar(math.sqrt(e)))
        s = g.op("Softmax", g.op("Add", s, mask), axis=-1)
        y = g.reshape(g.transpose(g.op("MatMul", s, v), 0, 2, 1, 3), 1, n, d)
        x = g.op("Add", x, proj(y, d))
        z = rms(x)
        up = g.op("Mul", g.silu(proj(z, 128)), proj(z, 128))
        x = g.op("Add", x, g.op("MatMul", up, g.weights([128, d], 256)))
    return [proj(rms(x), 50)]


def crnn(g):
    w = g.pick(64, 96)
    x, c = g.input("x", [1, 1, 16, w]), 1
    for k, p in ((16, (2, 2)), (32, (2, 2)), (48, (4, 1))):
        x, c = g.relu(g.norm(g.conv(x, c, k), k)), k
        x = g.op("MaxPool", x, kernel_shape=list(p), strides=list(p))
    n = w // 4
    y = g.transpose(g.op("Squeeze", x, g.ints(2)), 2, 0, 1)
    h = 32

    def part(*dims):
        return g.const(list(dims), g.normal(prod(dims), 0.2))
    y, _, _ = g.op("LSTM", y, part(2, 4 * h, 48), part(2, 4 * h, h), part(2, 8 * h), n=3, hidden_size=h, direction="bidirectional")
    y = g.reshape(g.transpose(y, 0, 2, 1, 3), n, 1, 2 * h)
    return [g.op("LogSoftmax", g.linear(y, 2 * h, 28), axis=-1)]


def mobilevit(g):
    s, d = g.pick(16, 24), 48
    x = g.silu(g.conv(g.input("x", [1, 3, s, s]), 3, 24, 3, 2))
    h = s // 2
    y = g.conv(g.silu(g.conv(x, 24, 24)), 24, d, 1)
    y = g.reshape(y, d * (h // 2), 2, h // 2, 2)
    y = g.reshape(g.transpose(y, 0, 2, 1, 3), d, h * h // 4, 4)
    y = g.transpose(y, 2, 1, 0)
    y = g.encoder(y, h * h // 4, d, 4, 96, batch=4, before=True)
    y = g.reshape(g.transpose(y, 2, 1, 0), d * (h // 2), h // 2, 2, 2)
    y = g.reshape(g.transpose(y, 0, 2, 1, 3), 1, d, h, h)
    y = g.op("Concat", x, g.silu(g.conv(y, d, 24, 1)), axis=1)
    return [g.head(g.silu(g.conv(y, 48, 32)), 32, 10)]


def conformer(g):
    n, d = g.pick(20, 25), 48
    x = g.input("x", [1, n, d])

    def half(z):
        y = g.linear(g.silu(g.linear(g.layer_norm(z, d), d, 96)), 96, d)
        return g.op("Add", z, g.op("Mul", y, g.scalar(0.5)))
    x = half(x)
    x = g.encoder(x, n, d, 4, 96, before=True)
    y = g.transpose(g.layer_norm(x, d), 0, 2, 1)
    a, b = g.op("Split", g.conv(y, d, 2 * d, 1, dims=1), g.ints(d, d), n=2, axis=1)
    y = g.op("Mul", a, g.op("Sigmoid", b))
    y = g.silu(g.norm(g.conv(y, d, d, 7, group=d, dims=1, bias=False), d))
    y = g.transpose(g.conv(y, d, d, 1, dims=1), 0, 2, 1)
    x = half(g.op("Add", x, y))
    return [g.linear(g.layer_norm(x, d), d, 30)]


def t5(g):
    n, d, h = g.pick(10, 14), 64, 4
    e = d // h
    x, mem = g.input("x", [1, n, d]), g.input("mem", [1, 18, d])
    bias = g.const([1, h, n, n], g.normal(h * n * n, 0.5))

    def rms(z):
        v = g.op("ReduceMean", g.op("Pow", z, g.scalar(2.0)), axes=[-1], keepdims=1)
        return g.op("Mul", g.vector(d, 0.1, 1), g.op("Div", z, g.op("Sqrt", g.op("Add", v, g.scalar(1e-6)))))

    def attend(z, kv, m, more):
        q = g.transpose(g.reshape(g.op("MatMul", z, g.weights([d, d], 2 * d)), 1, -1, h, e), 0, 2, 1, 3)
        k = g.transpose(g.reshape(g.op("MatMul", kv, g.weights([d, d], 2 * d)), 1, -1, h, e), 0, 2, 3, 1)
        v = g.transpose(g.reshape(g.op("MatMul", kv, g.weights([d, d], 2 * d)), 1, -1, h, e), 0, 2, 1, 3)
        s = g.op("MatMul", q, k)
        s = g.op("Softmax", g.op("Add", s, more) if more else s, axis=-1)
        y = g.reshape(g.transpose(g.op("MatMul", s, v), 0, 2, 1, 3), 1, -1, d)
        return g.op("MatMul", y, g.weights([d, d], 2 * d))
    z = rms(x)
    x = g.op("Add", x, attend(z, z, n, bias))
    x = g.op("Add", x, attend(rms(x), mem, 18, None))
    y = g.op("MatMul", g.relu(g.op("MatMul", rms(x), g.weights([d, 128], 2 * d))), g.weights([128, d], 256))
    return [g.op("Add", x, y)]


def tabular(g):
    n = g.pick(24, 40)
    x, c = g.input("x", [n, 37]), 37
    x = g.norm(x, 37)
    for k in (128, 96):
        x, c = g.op("LeakyRelu", g.gemm(x, c, k), alpha=0.1), k
    y = g.op("Softplus", g.gemm(x, c, 8))
    return [y]


def speech(g):
    c, d = g.pick(32, 48), 64
    x = g.relu(g.conv(g.input("x", [1, 1, 64, 40]), 1, c, s=2))
    x = g.relu(g.conv(x, c, c, s=2))
    x = g.linear(g.reshape(g.transpose(x, 0, 2, 1, 3), 1, 16, c * 10), c * 10, d)
    return [g.linear(g.encoder(x, 16, d, 4, 128, before=True), d, 29)]


def sound_events(g):
    n, h, ci, x = 40, g.pick(16, 24), 1, g.input("x", [1, 1, 40, 64])
    for co, p in ((16, 4), (32, 4), (32, 2)):
        x = g.relu(g.norm(g.conv(x, ci, co, bias=False), co))
        x, ci = g.op("MaxPool", x, kernel_shape=[1, p], strides=[1, p]), co
    x = g.reshape(g.transpose(x, 2, 0, 1, 3), n, 1, 64)
    w = [g.const([2, 3 * h, k], g.normal(6 * h * k, 0.1)) for k in (64, h)]
    x, _ = g.op("GRU", x, *w, g.const([2, 6 * h], g.normal(12 * h, 0.05)), n=2, hidden_size=h,
                direction="bidirectional", linear_before_reset=1)
    return [g.op("Sigmoid", g.linear(g.reshape(g.transpose(x, 0, 2, 1, 3), n, 2 * h), 2 * h, 10))]


def separation(g):
    c, t = g.pick(32, 48), 251
    x = g.conv(g.input("x", [1, 1, 2000]), 1, c, 16, 8, pads=[8, 8], dims=1)

    def norm(z, n):
        z = g.op("InstanceNormalization", g.reshape(z, 1, 1, -1), g.vector(1, 0, 1), g.vector(1, 0), epsilon=1e-5)
        return g.op("Add", g.op("Mul", g.reshape(z, 1, n, t), g.const([n, 1], g.normal(n, 0.1, 1))), g.const([n, 1], g.normal(n, 0.1)))
    y = g.conv(norm(x, c), c, 32, 1, dims=1)
    for d in (1, 2, 4):
        z = norm(g.op("PRelu", g.conv(y, 32, 64, 1, dims=1), g.const([1, 1], [0.25])), 64)
        z = norm(g.op("PRelu", g.conv(z, 64, 64, pads=[d, d], group=64, dilation=d, dims=1), g.const([1, 1], [0.25])), 64)
        y = g.op("Add", y, g.conv(z, 64, 32, 1, dims=1))
    m = g.reshape(g.op("Sigmoid", g.conv(y, 32, 2 * c, 1, dims=1)), 1, 2, c, t)
    z = g.reshape(g.op("Mul", m, g.op("Unsqueeze", x, g.ints(1))), 2, c, t)
    z = g.op("ConvTranspose", z, g.weights([c, 1, 16], c * 2), kernel_shape=[16], strides=[8], pads=[8, 8])
    return [g.reshape(z, 1, 2, 2000)]


def denoiser(g):
    t, h = 24, g.pick(48, 64)
    x = g.input("x", [1, 1, t, 65])
    x = g.op("Elu", g.conv(x, 1, 16, 3, pads=[1, 1, 1, 1]))
    y = g.op("Elu", g.op("Conv", x, g.weights([32, 16, 3, 4], 16 * 12), g.vector(32), kernel_shape=[3, 4], strides=[1, 4],
                         pads=[1, 0, 1, 0]))
    z = g.reshape(g.transpose(y, 2, 0, 1, 3), t, 1, 512)
    w = [g.const([1, 3 * h, k], g.normal(3 * h * k, 0.05)) for k in (512, h)]
    z, _ = g.op("GRU", z, *w, g.const([1, 6 * h], g.normal(6 * h, 0.05)), n=2, hidden_size=h, linear_before_reset=1)
    z = g.transpose(g.reshape(g.linear(g.reshape(z, t, h), h, 512), 1, t, 32, 16), 0, 2, 1, 3)
    z = g.op("Concat", y, z, axis=1)
    z = g.op("Elu", g.op("ConvTranspose", z, g.weights([64, 16, 3, 5], 64 * 4), g.vector(16), kernel_shape=[3, 5],
                         strides=[1, 4], pads=[1, 0, 1, 0]))
    return [g.op("Sigmoid", g.conv(g.op("Concat", x, z, axis=1), 32, 1))]

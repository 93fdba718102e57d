"""Networks over images.

Each function is one network: it takes a Network and returns its outputs.
"""


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


def style(g):
    s = g.pick(24, 32)
    x = g.input("x", [1, 3, s, s])

    def inorm(z, c):
        return g.op("InstanceNormalization", z, g.vector(c, 0.1, 1), g.vector(c), epsilon=1e-5)

    def block(z, ci, co, k, st=1):
        p = k // 2
        z = g.op("Pad", z, g.ints(0, 0, p, p, 0, 0, p, p), mode="reflect")
        return inorm(g.conv(z, ci, co, k, st, pads=[0, 0, 0, 0]), co)
    x = g.relu(block(x, 3, 16, 9))
    x = g.relu(block(x, 16, 32, 3, 2))
    y = g.relu(block(x, 32, 32, 3))
    x = g.op("Add", x, block(y, 32, 32, 3))
    x = g.op("Resize", x, g.const([0], []), g.const([4], [1.0, 1.0, 2.0, 2.0]), mode="nearest", nearest_mode="floor",
             coordinate_transformation_mode="asymmetric")
    x = g.relu(block(x, 32, 16, 3))
    return [block(x, 16, 3, 9)]


def ghostnet(g):
    s = g.pick(32, 40)
    x = g.relu(g.norm(g.conv(g.input("x", [1, 3, s, s]), 3, 16, 3, 2, bias=False), 16))

    def ghost(z, ci, co, act=True):
        a = g.norm(g.conv(z, ci, co // 2, 1, bias=False), co // 2)
        a = g.relu(a) if act else a
        b = g.norm(g.conv(a, co // 2, co // 2, 3, group=co // 2, bias=False), co // 2)
        b = g.relu(b) if act else b
        return g.op("Slice", g.op("Concat", a, b, axis=1), g.ints(0), g.ints(co), g.ints(1))
    y = ghost(ghost(x, 16, 48), 48, 16, False)
    x = g.op("Add", x, y)
    y = ghost(x, 16, 64)
    y = g.norm(g.conv(y, 64, 64, 3, 2, group=64, bias=False), 64)
    y = g.excite(y, 64, 16, lambda v: g.op("HardSigmoid", v, alpha=1 / 6, beta=0.5))
    x = ghost(y, 64, 32, False)
    return [g.head(x, 32, 10)]


def hrnet(g):
    s = g.pick(32, 48)
    x = g.relu(g.norm(g.conv(g.input("x", [1, 3, s, s]), 3, 16, 3, 2), 16))

    def up(z, k):
        return g.op("Resize", z, g.const([0], []), g.const([4], [1.0, 1.0, float(k), float(k)]), mode="linear",
                    coordinate_transformation_mode="half_pixel")

    def basic(z, c):
        y = g.norm(g.conv(g.relu(g.norm(g.conv(z, c, c), c)), c, c), c)
        return g.relu(g.op("Add", y, z))
    a, b = basic(x, 16), g.relu(g.norm(g.conv(x, 16, 32, 3, 2), 32))
    a, b = basic(a, 16), basic(b, 32)
    c = g.relu(g.norm(g.conv(b, 32, 48, 3, 2), 48))
    a2 = g.relu(g.op("Add", g.op("Add", a, up(g.norm(g.conv(b, 32, 16, 1), 16), 2)), up(g.norm(g.conv(c, 48, 16, 1), 16), 4)))
    b2 = g.relu(g.op("Add", g.op("Add", b, g.norm(g.conv(a, 16, 32, 3, 2), 32)), up(g.norm(g.conv(c, 48, 32, 1), 32), 2)))
    y = g.op("Concat", a2, up(b2, 2), up(c, 4), axis=1)
    return [g.conv(g.relu(g.conv(y, 96, 32, 1)), 32, 17, 1)]


def ssd(g):
    s = g.pick(48, 64)
    x, c = g.input("x", [1, 3, s, s]), 3
    heads = []
    for k, st in ((16, 2), (24, 2), (32, 2), (48, 2)):
        x = g.op("Clip", g.norm(g.conv(x, c, k, 3, st, bias=False), k), g.scalar(0.0), g.scalar(6.0))
        c = k
        if k >= 24:
            for n in (12, 9):
                y = g.conv(g.op("Clip", g.conv(x, c, c, 3, group=c), g.scalar(0.0), g.scalar(6.0)), c, n, 1)
                heads.append(g.reshape(g.transpose(y, 0, 2, 3, 1), 1, -1, n // 3))
    box = g.op("Concat", *heads[0::2], axis=1)
    score = g.op("Concat", *heads[1::2], axis=1)
    return [box, g.op("Softmax", score, axis=2)]


def centernet(g):
    s = g.pick(32, 64)
    x = g.relu(g.conv(g.input("x", [1, 3, s, s]), 3, 24, 3, 2))
    x = g.relu(g.conv(x, 24, 48, 3, 2))
    x = g.relu(g.norm(g.deconv(x, 48, 24, 4, 2, 1, bias=False), 24))
    heat = g.op("Sigmoid", g.conv(g.relu(g.conv(x, 24, 24)), 24, 4, 1))
    peak = g.op("MaxPool", heat, kernel_shape=[3, 3], strides=[1, 1], pads=[1] * 4)
    keep = g.op("Cast", g.op("Equal", heat, peak), to=1)
    return [g.op("Mul", heat, keep), g.conv(g.relu(g.conv(x, 24, 24)), 24, 2, 1)]


def inception_v3(g):
    s = g.pick(17, 21)
    x = g.relu(g.conv(g.input("x", [1, 3, s, s]), 3, 32))

    def rect(z, ci, co, kh, kw):
        w = g.weights([co, ci, kh, kw], ci * kh * kw)
        return g.relu(g.op("Conv", z, w, g.vector(co), kernel_shape=[kh, kw], pads=[kh // 2, kw // 2, kh // 2, kw // 2]))
    a = rect(x, 32, 16, 1, 1)
    b = rect(rect(rect(x, 32, 16, 1, 1), 16, 16, 1, 7), 16, 16, 7, 1)
    c = rect(rect(x, 32, 16, 1, 1), 16, 24, 3, 3)
    d = g.op("AveragePool", x, kernel_shape=[3, 3], strides=[1, 1], pads=[1] * 4)
    x = g.op("Concat", a, b, c, rect(d, 32, 16, 1, 1), axis=1)
    p = g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2])
    q = g.relu(g.conv(x, 72, 32, 3, 2, pads=[0, 0, 0, 0]))
    return [g.head(g.op("Concat", p, q, axis=1), 104, 10)]


def focus(g):
    s = g.pick(32, 48)
    x = g.input("x", [1, 3, s, s])
    parts = []
    for i, j in ((0, 0), (1, 0), (0, 1), (1, 1)):
        y = g.op("Slice", x, g.ints(i), g.ints(1 << 40), g.ints(2), g.ints(2))
        parts.append(g.op("Slice", y, g.ints(j), g.ints(1 << 40), g.ints(3), g.ints(2)))
    x = g.silu(g.conv(g.op("Concat", *parts, axis=1), 12, 24))
    a, b = g.silu(g.conv(x, 24, 16, 1)), g.silu(g.conv(x, 24, 16, 1))
    y = g.silu(g.conv(g.silu(g.conv(a, 16, 16, 1)), 16, 16))
    x = g.silu(g.conv(g.op("Concat", g.op("Add", a, y), b, axis=1), 32, 32, 3, 2))
    p = [g.silu(g.conv(x, 32, 16, 1))]
    for _ in range(3):
        p.append(g.op("MaxPool", p[-1], kernel_shape=[5, 5], strides=[1, 1], pads=[2] * 4))
    x = g.silu(g.conv(g.op("Concat", *p, axis=1), 64, 32, 1))
    return [g.op("Sigmoid", g.reshape(g.conv(x, 32, 21, 1), 1, 3, 7, -1))]


def nafnet(g):
    s, c = g.pick(16, 24), 16
    x = g.conv(g.input("x", [1, 3, s, s]), 3, c)

    def norm2d(z):
        m = g.op("ReduceMean", z, axes=[1], keepdims=1)
        d = g.op("Sub", z, m)
        v = g.op("ReduceMean", g.op("Pow", d, g.scalar(2.0)), axes=[1], keepdims=1)
        y = g.op("Div", d, g.op("Sqrt", g.op("Add", v, g.scalar(1e-6))))
        return g.op("Add", g.op("Mul", g.const([1, c, 1, 1], g.normal(c, 0.1, 1)), y), g.const([1, c, 1, 1], g.normal(c, 0.1)))
    for _ in range(2):
        y = g.conv(g.conv(norm2d(x), c, 2 * c, 1), 2 * c, 2 * c, 3, group=2 * c)
        a, b = g.op("Split", y, g.ints(c, c), n=2, axis=1)
        y = g.op("Mul", a, b)
        y = g.op("Mul", y, g.conv(g.op("GlobalAveragePool", y), c, c, 1))
        x = g.op("Add", x, g.op("Mul", g.conv(y, c, c, 1), g.const([1, c, 1, 1], g.normal(c, 0.3))))
    return [g.conv(x, c, 3)]


def siamese(g):
    s = g.pick(20, 28)
    w = [(g.weights([16, 1, 5, 5], 25), g.vector(16)), (g.weights([32, 16, 3, 3], 144), g.vector(32))]
    out = []
    fc, fb = g.weights([32 * 9, 40], 600), g.vector(40)
    for name in ("a", "b"):
        x = g.input(name, [1, 1, s, s])
        for k, (a, b) in zip((5, 3), w):
            x = g.pool(g.relu(g.op("Conv", x, a, b, kernel_shape=[k, k], pads=[k // 2] * 4)))
        x = g.op("AveragePool", x, kernel_shape=[(s // 4) // 3] * 2, strides=[(s // 4) // 3] * 2)
        x = g.op("Slice", x, g.ints(0, 0), g.ints(3, 3), g.ints(2, 3)); out.append(g.op("Add", g.op("MatMul", g.op("Flatten", x, axis=1), fc), fb))
    d = g.op("Abs", g.op("Sub", *out))
    return [g.op("Sigmoid", g.gemm(d, 40, 1))]


def group_norm(g):
    s, c = g.pick(16, 20), 32
    x = g.conv(g.input("x", [1, 3, s, s]), 3, c)
    y = g.reshape(x, 0, 8, -1)
    y = g.op("InstanceNormalization", y, g.vector(8, 0, 1), g.vector(8, 0), epsilon=1e-5)
    y = g.reshape(y, 1, c, s, s)
    y = g.op("Add", g.op("Mul", y, g.const([c, 1, 1], g.normal(c, 0.1, 1))), g.const([c, 1, 1], g.normal(c, 0.1)))
    x = g.op("Add", g.conv(g.silu(y), c, c), x)
    n = s * s
    q, k, v = (g.reshape(g.conv(x, c, c, 1), 1, c, n) for _ in range(3))
    a = g.op("Softmax", g.op("Mul", g.op("MatMul", g.transpose(q, 0, 2, 1), k), g.scalar(c ** -0.5)), axis=2)
    y = g.reshape(g.op("MatMul", v, g.transpose(a, 0, 2, 1)), 1, c, s, s)
    return [g.conv(g.op("Add", x, g.conv(y, c, c, 1)), c, 3)]


def atrous(g):
    c, n = g.pick(64, 96), 33
    x = g.relu(g.norm(g.conv(g.input("x", [1, 3, 129, 129]), 3, 16, 3, 2, pads=[1, 1, 1, 1]), 16))
    x = g.relu(g.norm(g.conv(x, 16, 32, 3, 2, pads=[1, 1, 1, 1]), 32))
    for d in (1, 2):
        x = g.relu(g.norm(g.conv(x, 32 if d == 1 else 4 * c, 4 * c, dilation=d), 4 * c))
    parts = [g.relu(g.conv(x, 4 * c, 32, 1))] + [g.relu(g.conv(x, 4 * c, 32, dilation=d)) for d in (6, 12, 18)]
    pool = g.relu(g.conv(g.op("GlobalAveragePool", x), 4 * c, 32, 1))
    parts.append(g.op("Resize", pool, g.const([0], []), g.const([0], []), g.ints(1, 32, n, n), mode="nearest",
                      coordinate_transformation_mode="asymmetric", nearest_mode="floor"))
    return [g.conv(g.relu(g.conv(g.op("Concat", *parts, axis=1), 160, 32, 1)), 32, 8, 1)]

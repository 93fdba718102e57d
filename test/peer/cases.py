#!/usr/bin/env python3
"""Random models of one operation each, for a comparison with ONNX Runtime: cases.py COUNT SEED FOLDER [OPERATIONS..]

Each function below is a generator of cases; its name says which. Operands that decide shapes are graph inputs or
constants at random. Left out is what ONNX Runtime 1.30 computes in another way than ONNX says or than docs/numerics.md
chooses: slices backwards to INT_MAX, dilated Col2Im of one dimension, integer einsum and
ReduceLogSumExp, integer Mod and Pow beyond binary64.
"""
import random
import sys
from math import prod

from onnx_file import Case, TYPES, bits

FLOAT = ["f32", "f64", "f16"]
SIGNED = ["i8", "i16", "i32", "i64"]
UNSIGNED = ["u8", "u16", "u32", "u64"]
INT = SIGNED + UNSIGNED
NUMBER = FLOAT + INT
ANY = NUMBER + ["bool"]
pick, between, coin = random.choice, random.randint, lambda: random.random() < 0.5


def value(t, lo, hi):
    if t == "bool":
        return coin()
    if t in FLOAT:
        return pick([random.uniform(lo, hi), float(between(int(lo), int(hi)))])
    least, most = (0, 2 ** bits(t) - 1) if t in UNSIGNED else (-2 ** (bits(t) - 1), 2 ** (bits(t) - 1) - 1)
    return between(max(least, int(lo)), int(hi)) if random.random() < 0.9 else between(least, most)


def values(t, dims, lo=-4, hi=4):
    return [value(t, lo, hi) for _ in range(prod(dims))]


def few(t, dims, n=2):
    """Values of which many are equal."""
    return [pick([False, True]) if t == "bool" else float(v) if t in FLOAT else v
            for v in (between(0, n) for _ in range(prod(dims)))]


def shape(least=0, most=5, lo=1, hi=4):
    return [pick([between(lo, hi), between(lo, hi), 1]) for _ in range(between(least, most))]


def broadcast(dims):
    out = [d if random.random() < 0.7 else 1 for d in dims]
    return out[between(0, len(out)):] if random.random() < 0.4 else out


def any_axis(dims):
    return between(-len(dims), len(dims) - 1)


def some_axes(dims):
    return [a - len(dims) if coin() else a for a in random.sample(range(len(dims)), between(1, len(dims)))]


def some(**attrs):
    return {k: v for k, v in attrs.items() if coin()}


def unary():
    ranges = {
        "Abs": (NUMBER, -9, 9), "Neg": (FLOAT + SIGNED, -9, 9), "Sign": (NUMBER, -3, 3),
        "Relu": (FLOAT + ["i32", "i8"], -9, 9), "Exp": (FLOAT, -4, 4), "Log": (FLOAT, 0.1, 9), "Sqrt": (FLOAT, 0, 9),
        "Reciprocal": (FLOAT, 1, 9), "Erf": (FLOAT, -3, 3), "Floor": (FLOAT, -9, 9), "Ceil": (FLOAT, -9, 9),
        "Round": (FLOAT, -9, 9), "Sin": (FLOAT, -9, 9), "Cos": (FLOAT, -9, 9), "Tan": (FLOAT, -1, 1),
        "Asin": (FLOAT, -1, 1), "Acos": (FLOAT, -1, 1), "Atan": (FLOAT, -9, 9), "Sinh": (FLOAT, -3, 3),
        "Cosh": (FLOAT, -3, 3), "Asinh": (FLOAT, -9, 9), "Acosh": (FLOAT, 1, 9), "Atanh": (FLOAT, -0.9, 0.9),
        "Tanh": (FLOAT, -4, 4), "Sigmoid": (FLOAT, -9, 9), "HardSwish": (FLOAT, -5, 5), "Softplus": (FLOAT, -9, 9),
        "Softsign": (FLOAT, -9, 9), "Mish": (FLOAT, -9, 9), "Not": (["bool"], 0, 1), "BitwiseNot": (INT, -9, 9),
    }
    op = pick(list(ranges))
    types, lo, hi = ranges[op]
    t, dims = pick(types), shape()
    return Case(op, 18).put(t, dims, values(t, dims, lo, hi)).result(t)


def special():
    op, t, dims = pick(["IsNaN", "IsInf", "Abs", "Relu", "Sign", "Round"]), pick(["f32", "f64"]), shape()
    v = [pick([float("nan"), float("inf"), -float("inf"), -0.0, 1.5]) for _ in range(prod(dims))]
    attrs = some(detect_positive=between(0, 1), detect_negative=between(0, 1)) if op == "IsInf" else {}
    return Case(op, 18, **attrs).put(t, dims, v).result("bool" if op[:2] == "Is" else t)


def activation():
    op = pick(["LeakyRelu", "Elu", "Selu", "Celu", "HardSigmoid", "ThresholdedRelu", "Shrink"])
    names = {"Selu": ["alpha", "gamma"], "HardSigmoid": ["alpha", "beta"], "Shrink": ["lambd", "bias"]}
    t, dims = "f32" if op == "Celu" else pick(FLOAT), shape()
    attrs = some(**{a: random.uniform(0.2, 2) for a in names.get(op, ["alpha"])})
    return Case(op, 16, **attrs).put(t, dims, values(t, dims)).result(t)


def gelu():
    t, dims = pick(FLOAT), shape()
    return Case("Gelu", 20, **some(approximate=pick(["none", "tanh"]))).put(t, dims, values(t, dims)).result(t)


def binary():
    op = pick(["Add", "Sub", "Mul", "Div", "Max", "Min", "PRelu", "Equal", "Less", "LessOrEqual", "Greater",
               "GreaterOrEqual", "And", "Or", "Xor", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Mod", "BitShift", "Pow"])
    truth = op in ("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual")
    t = pick(["bool"] if op in ("And", "Or", "Xor") else UNSIGNED if op == "BitShift" else INT if op[:3] == "Bit"
             else NUMBER)
    tb = pick(["f32", "i32", "i64", t]) if op == "Pow" else t
    dims = shape()
    a, b = (dims if op == "PRelu" else broadcast(dims)), broadcast(dims)
    va, vb = values(t, a, 0 if op == "Pow" else -6, 6), values(tb, b, -6, 6)
    if op in ("Div", "Mod"):
        vb = [x or type(x)(3) for x in vb]
    if op in ("BitShift", "Pow"):
        vb = [type(x)(min(abs(x), 5)) for x in vb]
    if op in ("Mod", "Pow") and t not in FLOAT:
        va = [x % 7 for x in va]  # what does not fit binary64, ONNX Runtime computes otherwise
    attrs = {"fmod": 1 if t in FLOAT else between(0, 1)} if op == "Mod" else {}
    if op == "BitShift":
        attrs = {"direction": pick(["LEFT", "RIGHT"])}
    return Case(op, 18, **attrs).put(t, a, va).put(tb, b, vb).result("bool" if truth else t)


def variadic():
    op = pick(["Sum", "Mean", "Max", "Min"])
    t, dims = pick(FLOAT + (["i32", "i64", "u32", "u64", "i8"] if op in ("Max", "Min") else [])), shape(1, 4)
    case = Case(op, 13).result(t)
    for _ in range(between(1, 4)):
        d = broadcast(dims)
        case.put(t, d, values(t, d))
    return case


def clip():
    t, dims = pick(NUMBER), shape()
    case = Case("Clip", 13).put(t, dims, values(t, dims, -9, 9)).result(t)
    case = case.put(t, [], [value(t, -3, 2)], coin()) if coin() else case.leave_out()
    return case.put(t, [], [value(t, 0, 4)], coin()) if coin() else case


def where():
    t, dims = pick(ANY), shape()
    a, b, c = broadcast(dims), broadcast(dims), broadcast(dims)
    return Case("Where", 16).put("bool", a, values("bool", a)).put(t, b, values(t, b)).put(t, c, values(t, c)).result(t)


def reduction():
    kind = pick(["Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare"])
    opset, logs = pick([11, 13, 18]), "Log" in kind
    t = pick(["f32", "f64"] + ([] if logs else ["i32", "i64"]) + (["i8", "u8"] if kind in ("Max", "Min") else []))
    dims = shape(1)
    v = values(t, dims, 0.2 if logs else -5, 5) if t in FLOAT else few(t, dims, 3)
    case = Case("Reduce" + kind, opset, **some(keepdims=between(0, 1))).put(t, dims, v).result(t)
    operand = opset == 18 or (opset == 13 and kind == "Sum")
    if operand:
        case.attrs.update(some(noop_with_empty_axes=between(0, 1)))
    if random.random() < 0.8:
        axes = some_axes(dims)
        if operand:
            case.put("i64", [len(axes)], axes, coin())
        else:
            case.attrs["axes"] = axes
    return case


def arg():
    t, dims = pick(["f32", "f64", "i32", "i8", "u8", "i64"]), shape(1, 4)
    attrs = some(axis=any_axis(dims), keepdims=between(0, 1), select_last_index=between(0, 1))
    return Case(pick(["ArgMax", "ArgMin"]), 13, **attrs).put(t, dims, few(t, dims)).result("i64")


def softmax():
    t, dims, opset = pick(FLOAT), shape(2, 4), pick([9, 11, 13])
    attrs = some(axis=any_axis(dims) if opset >= 11 else between(0, len(dims) - 1))
    return Case(pick(["Softmax", "LogSoftmax", "Hardmax"]), opset, **attrs).put(t, dims, values(t, dims)).result(t)


def cumsum():
    t, dims = pick(["f32", "f64", "i32", "i64"]), shape(1, 4)
    case = Case("CumSum", 14, **some(exclusive=between(0, 1), reverse=between(0, 1))).put(t, dims, values(t, dims))
    return case.put(pick(["i32", "i64"]), pick([[], [1]]), [any_axis(dims)], coin()).result(t)


def topk():
    t, dims = pick(["f32", "f64", "i32", "i64"]), shape(1, 4, 1, 6)
    axis = any_axis(dims)
    case = Case("TopK", 11, axis=axis, **some(largest=between(0, 1))).put(t, dims, few(t, dims, 5))
    return case.put("i64", [1], [between(0, dims[axis])], coin()).result(t, "i64")


def unique():
    t, dims = pick(["f32", "i64", "i8", "f64"]), shape(1, 3, 1, 5)
    attrs = some(axis=any_axis(dims), sorted=between(0, 1))
    return Case("Unique", 11, **attrs).put(t, dims, few(t, dims)).result(t, "i64", "i64", "i64")


def slices():
    t, dims, index = pick(ANY), shape(1, 5, 0 if random.random() < 0.1 else 1, 6), pick(["i32", "i64"])
    axes, far = some_axes(dims), 2 ** 31 - 1
    steps = [pick([1, 1, 2, 3, -1, -2, -7]) for _ in axes] if coin() else None
    ends = [pick([between(-8, 8), -far] + ([far] if not steps or steps[i] > 0 else [])) for i in range(len(axes))]
    case = Case("Slice", 13).put(t, dims, values(t, dims)).result(t)
    for v in ([pick([between(-8, 8), far, -far]) for _ in axes], ends, axes, steps):
        if v:
            case.put(index, [len(v)], v, coin())
    return case


def split():
    t, dims, opset = pick(["f32", "i32", "i64", "u8", "f16", "bool"]), shape(1, 4, 1, 6), pick([11, 13, 18])
    axis = any_axis(dims)
    size, n = dims[axis], between(1, min(4, dims[axis]))
    cuts = sorted(between(0, size) for _ in range(n - 1))
    parts = [b - a for a, b in zip([0] + cuts, cuts + [size])]
    case = Case("Split", opset, axis=axis).put(t, dims, values(t, dims)).result(*[t] * n)
    if opset < 13:
        case.attrs["split"] = parts
    elif opset == 18 and coin():
        case.attrs["num_outputs"] = n
    else:
        case.put("i64", [n], parts, coin())
    return case


def concat():
    t, dims = pick(ANY), shape(1, 4)
    axis = any_axis(dims)
    case = Case("Concat", 13, axis=axis).result(t)
    for _ in range(between(1, 4)):
        d = list(dims)
        d[axis] = between(0, 3)
        case.put(t, d, values(t, d))
    return case


def transpose():
    t, dims = pick(ANY), shape(0, 6)
    attrs = some(perm=random.sample(range(len(dims)), len(dims))) if dims else {}
    return Case("Transpose", 13, **attrs).put(t, dims, values(t, dims)).result(t)


def expand():
    t, dims = pick(ANY), shape(0, 4)
    d, to = broadcast(dims), pick([dims, broadcast(dims)])
    return Case("Expand", 13).put(t, d, values(t, d)).put("i64", [len(to)], to, coin()).result(t)


def tile():
    t, dims = pick(["f32", "i32", "i64", "u8", "bool", "f64", "i8"]), shape(1, 4)
    return Case("Tile", 13).put(t, dims, values(t, dims)).put("i64", [len(dims)], few("i64", dims, 3)[:1] * len(dims),
                                                              coin()).result(t)


def pad():
    t, dims = pick(["f32", "f64", "i32", "i64", "i8", "u8", "bool"]), shape(1, 4, 1, 5)
    mode = pick(["constant", "reflect", "edge", "wrap"])
    opset = 19 if mode == "wrap" else pick([11, 13, 18])
    named = opset >= 18 and coin()
    axes = random.sample(range(len(dims)), between(1, len(dims))) if named else list(range(len(dims)))

    def amount(a):  # what is left after cropping is longer than what mirrors it
        crops = dims[a] > 3
        most = min(3, dims[a] - (3 if crops else 1)) if mode in ("reflect", "wrap") else 3
        return between(-1 if crops else 0, most)

    pads = [amount(a) for a in axes] + [amount(a) for a in axes]
    case = Case("Pad", opset, mode=mode).put(t, dims, values(t, dims)).put("i64", [len(pads)], pads, coin()).result(t)
    if mode == "constant" and coin():
        case.put(t, [], [value(t, -4, 4)], coin())
    elif named:
        case.leave_out()
    return case.put("i64", [len(axes)], [a - len(dims) if coin() else a for a in axes], coin()) if named else case


def blocks():
    t, b, (n, c, h, w) = pick(["f32", "f64"]), between(1, 3), [between(1, 3) for _ in range(4)]
    if coin():
        case, dims = Case("DepthToSpace", 13, blocksize=b, **some(mode=pick(["DCR", "CRD"]))), [n, c * b * b, h, w]
    else:
        case, dims = Case("SpaceToDepth", 13, blocksize=b), [n, c, h * b, w * b]
    return case.put(t, dims, values(t, dims)).result(t)


def triangle():
    t, dims = pick(["f32", "f64", "i64"]), shape(2, 4, 1, 5)
    case = Case("Trilu", 14, **some(upper=between(0, 1))).put(t, dims, values(t, dims)).result(t)
    return case.put("i64", [], [between(-6, 6)], coin()) if coin() else case


def eye():
    types = ["f32", "f64", "i32", "u64", "i64"]
    t, to, dims = pick(types), pick(types), shape(2, 2, 1, 5)
    attrs = some(dtype=TYPES[to][0], k=between(-5, 5))
    return Case("EyeLike", 9, **attrs).put(t, dims, values(t, dims)).result(to if "dtype" in attrs else t)


def reverse():
    t, dims, time = pick(["f32", "i8", "i64", "f64"]), shape(2, 4, 1, 5), between(0, 1)
    lengths = [between(1, dims[time]) for _ in range(dims[1 - time])]
    case = Case("ReverseSequence", 10, time_axis=time, batch_axis=1 - time).put(t, dims, values(t, dims))
    return case.put("i64", [len(lengths)], lengths, coin()).result(t)


def gather():
    op, t, dims = pick(["Gather", "GatherElements"]), pick(ANY), shape(1, 4)
    axis = any_axis(dims)
    d = shape(0, 2) if op == "Gather" else [between(1, x) for x in dims]
    if op == "GatherElements":
        d[axis] = between(1, 5)
    index = [between(-dims[axis], dims[axis] - 1) for _ in range(prod(d))]
    return Case(op, 13, axis=axis).put(t, dims, values(t, dims)).put(pick(["i32", "i64"]), d, index, coin()).result(t)


def gathernd():
    t, dims = pick(["f32", "i32", "i64", "f64", "u8", "bool"]), shape(1, 4)
    batch = between(0, len(dims) - 1)
    width, middle = between(1, len(dims) - batch), shape(0, 2)
    tuples = [between(-dims[batch + i], dims[batch + i] - 1) for _ in range(prod(dims[:batch] + middle))
              for i in range(width)]
    case = Case("GatherND", 13, batch_dims=batch).put(t, dims, values(t, dims)).result(t)
    return case.put("i64", dims[:batch] + middle + [width], tuples, coin())


def scatter():
    op = pick(["Scatter", "ScatterElements"])
    t, dims = pick(["f32", "i32", "i64", "f64", "i8", "u8"]), shape(1, 4)
    opset = 9 if op == "Scatter" else pick([13, 18])
    axis = any_axis(dims)
    case = Case(op, opset, axis=axis).put(t, dims, values(t, dims)).result(t)
    if opset == 18:
        case.attrs["reduction"] = pick(["none", "add", "mul", "max", "min"])
    d = [between(1, x) for x in dims]
    index = [between(-dims[axis], dims[axis] - 1) for _ in range(prod(d))]
    return case.put(pick(["i32", "i64"]), d, index, coin()).put(t, d, values(t, d))


def scatternd():
    t, dims = pick(["f32", "i32", "i64", "f64", "i8", "u8"]), shape(1, 4)
    how = pick(["none", "add", "mul", "max", "min"])
    width, places = between(1, len(dims)), [[]]
    for i in range(width):
        places = [p + [x] for p in places for x in range(dims[i])]
    n = between(1, len(places))
    places = random.sample(places, n) if how == "none" else [pick(places) for _ in range(n)]
    tuples = [x - dims[i] if coin() else x for p in places for i, x in enumerate(p)]
    d = [n] + dims[width:]
    case = Case("ScatterND", 18, reduction=how).put(t, dims, values(t, dims)).put("i64", [n, width], tuples, coin())
    return case.put(t, d, values(t, d)).result(t)


def onehot():
    index, depth, t = pick([("i64", "i64", "i64"), ("f32", "f32", "f32"), ("i64", "i64", "f32"), ("i64", "f32", "i32"),
                            ("f32", "i64", "f32"), ("i32", "f32", "f32"), ("i32", "i32", "f32")])
    dims, n = shape(0, 3), between(1, 5)
    v = [between(-n - 1, n) for _ in range(prod(dims))]
    case = Case("OneHot", 11, **some(axis=between(-len(dims) - 1, len(dims))))
    case.put(index, dims, [float(x) for x in v] if index == "f32" else v)
    case.put(depth, pick([[], [1]]), [float(n) if depth == "f32" else n], coin())
    return case.put(t, [2], values(t, [2])).result(t)


def nonzero():
    t, dims = pick(["f32", "i32", "i64", "u8", "bool"]), shape(0, 4)
    return Case("NonZero", 13).put(t, dims, few(t, dims, 1)).result("i64")


def compress():
    t, dims = pick(["f32", "i32", "i64", "u8", "bool"]), shape(1, 4)
    attrs = some(axis=any_axis(dims))
    n = between(1, dims[attrs["axis"]] if attrs else prod(dims))
    case = Case("Compress", 11, **attrs).put(t, dims, values(t, dims)).result(t)
    return case.put("bool", [n], values("bool", [n]), coin())


def einsum():
    t, sizes = pick(["f32", "f64"]), {c: between(1, 4) for c in "abcdef"}
    case, terms, dots = Case("Einsum", 12).result(t), [], shape(1, 2) if random.random() < 0.3 else []
    for _ in range(between(1, 3)):
        terms.append("".join(random.sample("abcdef", between(1, 3))))
        dims = dots + [sizes[c] for c in terms[-1]]
        case.put(t, dims, values(t, dims))
    mark, used = "..." if dots else "", sorted(set("".join(terms)))
    equation = ",".join(mark + s for s in terms)
    if coin():
        equation += "->" + mark + "".join(random.sample(used, between(0, len(used))))
    case.attrs["equation"] = equation
    return case


def determinant():
    dims = shape(0, 2) + [between(1, 4)]
    dims.append(dims[-1])
    return Case("Det", 11).put("f32", dims, values("f32", dims)).result("f32")


def loss():
    op, n, c = pick(["SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss"]), between(1, 4), between(1, 4)
    d = shape(0, 2)
    case = Case(op, 13, reduction=pick(["none", "mean", "sum"]), **some(ignore_index=between(-1, c))).result("f32")
    case.put("f32", [n, c] + d, values("f32", [n, c] + d))
    case.put(pick(["i32", "i64"]), [n] + d, [between(0, c - 1) for _ in range(n * prod(d))])
    if coin():
        case.put("f32", [c], values("f32", [c], 0.5, 2))
    return case.result("f32") if op[0] == "S" and coin() else case


def col2im():
    r = between(1, 2)
    block, stride = [between(1, 3) for _ in range(r)], [between(1, 2) for _ in range(r)]
    dilation, pads = [1 if r == 1 else between(1, 2) for _ in range(r)], [between(0, 1) for _ in range(2 * r)]
    reach = [dilation[i] * (block[i] - 1) + 1 for i in range(r)]
    image = [x + between(0, 4) for x in reach]
    steps = prod((image[i] + pads[i] + pads[i + r] - reach[i]) // stride[i] + 1 for i in range(r))
    dims = [between(1, 2), between(1, 2) * prod(block), steps]
    case = Case("Col2Im", 18, strides=stride, dilations=dilation, pads=pads).put("f32", dims, values("f32", dims))
    return case.put("i64", [r], image, coin()).put("i64", [r], block, coin()).result("f32")


def crop():
    t, dims = pick(["f32", "i64"]), shape(1, 4, 1, 6)
    axes = some_axes(dims)
    case = Case("CenterCropPad", 18, axes=axes).put(t, dims, values(t, dims)).result(t)
    return case.put("i64", [len(axes)], [between(1, 7) for _ in axes], coin())


def dropout():
    t, dims = pick(FLOAT), shape()
    case = Case("Dropout", 13).put(t, dims, values(t, dims)).result(t)
    if coin():
        case.put("f32", [], [0.3], coin())
    return case.result("bool") if coin() else case


GENERATORS = [unary, unary, special, activation, gelu, binary, binary, binary, variadic, clip, where, reduction,
              reduction, arg, softmax, cumsum, topk, unique, slices, slices, split, concat, transpose, expand, tile,
              pad, pad, blocks, triangle, eye, reverse, gather, gathernd, scatter, scatternd, onehot, nonzero, compress,
              einsum, determinant, loss, col2im, crop, dropout]


def main():
    count, seed, folder, *only = sys.argv[1:]
    random.seed(int(seed))
    generators = [g for g in GENERATORS if not only or g.__name__ in only]
    for i in range(int(count)):
        case = generators[i % len(generators)]()
        case.write(f"{folder}/{i:05d}_{case.op}")


if __name__ == "__main__":
    main()

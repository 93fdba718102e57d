#!/usr/bin/env python3
"""Trains, quantises and writes the demo network: an int8 CNN for 8x8 digits, as ONNX QDQ.

    image -> conv1+relu -+-> res_a+relu -> res_b -> res_add+relu -> down+relu -> pool -> dense
                         +--------------------------^

Takes about a minute; --check only verifies what an earlier run wrote. Same machine and library
versions in, same bytes out. Needs numpy, scikit-learn and onnx.
"""
import argparse, math, os, sys
from collections import namedtuple
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads may change the order of float sums

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OUT = Path(__file__).resolve().parent.parent / "test/models/digits"
SPLIT_SEED, TRAIN_SEED, N_TEST, N_DATA_SETS = 1, 3, 360, 3
EPOCHS, BATCH, RATE, DECAY = 60, 32, 1e-2, 5e-2  # chosen on a split of the training images
MIN_ACCURACY = 0.96  # int8, held out; below it the script fails

Layer = namedtuple("Layer", "feed n_in n_out stride")  # the convolutions are 3x3, padded by 1
CONVS = {"conv1": Layer("image", 1, 16, 1), "res_a": Layer("conv1", 16, 16, 1),
         "res_b": Layer("res_a", 16, 16, 1), "down": Layer("res_add", 16, 32, 2)}
LAYERS = {**CONVS, "dense": Layer("pool", 32, 10, None)}

SOURCE = """\
Data:     "Optical Recognition of Handwritten Digits", E. Alpaydin, C. Kaynak, 1998, UCI repository,
          https://doi.org/10.24432/C50P49, CC BY 4.0; its 1797 test images, as scikit-learn
          (BSD-3-Clause) ships them in sklearn.datasets.load_digits
Network:  trained from scratch on {} of them; this repository's licence
Made by:  python3 scripts/train_digits.py    (verify with --check)
Files:    model.onnx, int8 as QDQ; digits.npz, the {} held-out digits; test_data_set_N, held-out
          digit N, the expected logits by the integer arithmetic that the script defines
Held out: float {:.2%}, int8 {:.2%}
"""


# ---- data ---------------------------------------------------------------------------------------
def load_data():
    """-> train images, held-out images, train labels, held-out labels; images uint8 [N,8,8]."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split
    digits = load_digits()
    images, labels = digits.images.astype(np.uint8), digits.target.astype(np.uint8)
    return train_test_split(images, labels, test_size=N_TEST, stratify=labels,
                            random_state=SPLIT_SEED)


def shifted(x, rng):
    """Each image of x [N,8,8,1] moved by -1, 0 or 1 pixel along each axis, zeros moving in."""
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    i_row, i_col = rng.integers(0, 3, (2, len(x), 1)) + np.arange(8).reshape(1, 1, 8)
    return padded[np.arange(len(x))[:, None, None], i_row[:, :, None], i_col[:, None, :]]


# ---- float network, NHWC, weights [9*C,O] with rows ordered (ky,kx,c) ----------------------------
def im2col(x, stride):
    """x [N,8,8,C] padded by 1 with 0 -> its 3x3 windows [N,P,Q,9*C]. Any dtype."""
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    taps = [padded[:, i:i + 8:stride, j:j + 8:stride] for i in range(3) for j in range(3)]
    return np.concatenate(taps, axis=3)


def col2im(cols, stride):
    """Adjoint of im2col for an 8x8 input: adds every window back where it came from."""
    padded = np.zeros((len(cols), 10, 10, cols.shape[3] // 9), cols.dtype)
    for t, tap in enumerate(np.split(cols, 9, axis=3)):
        i, j = divmod(t, 3)
        padded[:, i:i + 8:stride, j:j + 8:stride] += tap
    return padded[:, 1:-1, 1:-1]


def init_params(rng):
    """He initialisation; biases 0."""
    p = {}
    for name, layer in LAYERS.items():
        n_rows = layer.n_in * (9 if name in CONVS else 1)
        w = rng.normal(0, math.sqrt(2 / n_rows), (n_rows, layer.n_out))
        p[name + "_w"], p[name + "_b"] = w.astype(np.float32), np.zeros(layer.n_out, np.float32)
    return p


def forward(p, x):
    """x [N,8,8,1] -> every tensor that will be quantised, by name, and the im2col of each conv."""
    t, cols = {"image": x}, {}
    def conv(name, x):
        cols[name] = im2col(x, CONVS[name].stride)
        return cols[name] @ p[name + "_w"] + p[name + "_b"]

    t["conv1"] = np.maximum(conv("conv1", x), 0)
    t["res_a"] = np.maximum(conv("res_a", t["conv1"]), 0)
    t["res_b"] = conv("res_b", t["res_a"])
    t["res_add"] = np.maximum(t["res_b"] + t["conv1"], 0)
    t["down"] = np.maximum(conv("down", t["res_add"]), 0)
    t["pool"] = t["down"].mean(axis=(1, 2))
    t["dense"] = t["pool"] @ p["dense_w"] + p["dense_b"]
    return t, cols


def backward(p, t, cols, labels):
    """Gradient of the mean cross entropy of softmax(dense) with respect to every parameter."""
    g = {}
    def conv(name, dy):
        flat = dy.reshape(-1, dy.shape[-1])
        g[name + "_w"] = cols[name].reshape(len(flat), -1).T @ flat
        g[name + "_b"] = flat.sum(axis=0)
        return col2im(dy @ p[name + "_w"].T, CONVS[name].stride)

    e = np.exp(t["dense"] - t["dense"].max(axis=1, keepdims=True))
    dy = (e / e.sum(axis=1, keepdims=True) - np.eye(10, dtype=np.float32)[labels]) / len(labels)
    g["dense_w"], g["dense_b"] = t["pool"].T @ dy, dy.sum(axis=0)
    d_down = (dy @ p["dense_w"].T)[:, None, None, :] / np.float32(16) * (t["down"] > 0)
    d_add = conv("down", d_down) * (t["res_add"] > 0)
    d_a = conv("res_b", d_add) * (t["res_a"] > 0)
    conv("conv1", (conv("res_a", d_a) + d_add) * (t["conv1"] > 0))
    return g


def train(x, labels, rng):
    """Adam with decoupled weight decay and a cosine rate -> parameters for pixels of 0..16."""
    x = x[..., None].astype(np.float32) / 16
    p = init_params(rng)
    m, v = ({k: np.zeros_like(a) for k, a in p.items()} for _ in range(2))
    order = np.concatenate([rng.permutation(len(x)) for _ in range(EPOCHS)])
    n_steps = len(order) // BATCH
    for step in range(n_steps):
        pick = order[step * BATCH:(step + 1) * BATCH]
        t, cols = forward(p, shifted(x[pick], rng))
        g = backward(p, t, cols, labels[pick])
        rate = RATE * (1 + math.cos(math.pi * step / n_steps)) / 2
        for k in p:
            m[k] += 0.1 * (g[k] - m[k])
            v[k] += 0.01 * (g[k] ** 2 - v[k])
            m_hat, v_hat = m[k] / (1 - 0.9 ** (step + 1)), v[k] / (1 - 0.99 ** (step + 1))
            p[k] -= rate * (m_hat / (np.sqrt(v_hat) + 1e-8) + DECAY * p[k])
    return {**p, "conv1_w": p["conv1_w"] / 16}


# ---- quantisation: every function below reads and writes "q", the initializers of the model ------
def quantise(p, x):
    """Parameters and training images -> q: NAME_{w,b}{,_scale,_zp}, TENSOR_{scale,zp}."""
    q, (t, _) = {}, forward(p, x[..., None].astype(np.float32))
    for name, a in t.items():  # asymmetric, per tensor, minimum and maximum, 0.0 exact
        lo, hi = np.float32(min(a.min(), 0)), np.float32(max(a.max(), 0))
        q[name + "_scale"] = (hi - lo) / np.float32(255)
        q[name + "_zp"] = np.int8(np.clip(np.rint(-128 - lo / q[name + "_scale"]), -128, 127))
    for name, layer in LAYERS.items():  # symmetric, per output channel
        w, b = p[name + "_w"], p[name + "_b"]
        scale = np.maximum(np.abs(w).max(axis=0), np.float32(1e-6)) / np.float32(127)
        w_q = np.clip(np.rint(w / scale), -127, 127).astype(np.int8).T
        if name in CONVS:  # to [O,C,3,3]
            w_q = w_q.reshape(len(b), 3, 3, -1).transpose(0, 3, 1, 2)
        q[name + "_w"], q[name + "_w_scale"], q[name + "_w_zp"] = w_q, scale, np.zeros_like(b, "i1")
        b_scale = q[layer.feed + "_scale"] * scale
        b_q = np.rint(b / b_scale).astype(np.int32)
        q[name + "_b"], q[name + "_b_scale"], q[name + "_b_zp"] = b_q, b_scale, np.zeros_like(b_q)
    return q


def saturate(q, name, r):
    """Float in units of the scale -> int8, ties to even. A zero point of -128 makes it a relu."""
    assert r.dtype == np.float32
    return np.clip(np.rint(r) + np.float32(q[name + "_zp"]), -128, 127).astype(np.int8)


def centred(q, name, a):
    """int8 tensor -> int32 with the zero point taken off."""
    return a.astype(np.int32) - np.int32(q[name + "_zp"])


def layer_int8(q, name, x):
    """Conv or dense, int8 -> int8: y = sat(rint(float(acc) * (x_scale * w_scale / y_scale)) + zp),
    every float step in binary32."""
    x, w = centred(q, LAYERS[name].feed, x), q[name + "_w"]
    if name in CONVS:
        x, w = im2col(x, CONVS[name].stride), w.transpose(0, 2, 3, 1).reshape(len(w), -1)
    acc = x @ w.T.astype(np.int32) + q[name + "_b"]
    m = q[LAYERS[name].feed + "_scale"] * q[name + "_w_scale"] / q[name + "_scale"]
    return saturate(q, name, acc.astype(np.float32) * m)


def add_int8(q, name, a_name, a, b_name, b):
    """y = sat(rint(float(a - a_zp) * (a_scale / y_scale) + float(b - b_zp) * (...)) + zp)."""
    fa = centred(q, a_name, a).astype(np.float32) * (q[a_name + "_scale"] / q[name + "_scale"])
    fb = centred(q, b_name, b).astype(np.float32) * (q[b_name + "_scale"] / q[name + "_scale"])
    return saturate(q, name, fa + fb)


def run_int8(q, images):
    """Images [N,8,8] of 0..16 -> logits float32 [N,10], by integer arithmetic."""
    image = saturate(q, "image", images[..., None].astype(np.float32) / q["image_scale"])
    conv1 = layer_int8(q, "conv1", image)
    res_b = layer_int8(q, "res_b", layer_int8(q, "res_a", conv1))
    down = layer_int8(q, "down", add_int8(q, "res_add", "res_b", res_b, "conv1", conv1))
    # mean of 16: a power of two, so where in the product it is divided by does not change a bit
    total = centred(q, "down", down).sum(axis=(1, 2), dtype=np.int32).astype(np.float32)
    pool = saturate(q, "pool", total * (q["down_scale"] / (q["pool_scale"] * np.float32(16))))
    return centred(q, "dense", layer_int8(q, "dense", pool)).astype(np.float32) * q["dense_scale"]


# ---- files --------------------------------------------------------------------------------------
def build_model(q):
    """q -> ModelProto. Tensor T of the float graph appears as T_f (float), T_q (int8), T_dq."""
    nodes = []
    def node(op, name, inputs, output, **attributes):
        nodes.append(helper.make_node(op, inputs, [output], name, **attributes))
        return output

    def requantise(name, value, out=None):
        params = [name + "_scale", name + "_zp"]
        node("QuantizeLinear", name + "_q", [value] + params, name + "_q")
        return node("DequantizeLinear", name + "_dq", [name + "_q"] + params, out or name + "_dq")

    def parameter(name):
        inputs = [name, name + "_scale", name + "_zp"]
        return node("DequantizeLinear", name + "_dq", inputs, name + "_dq", axis=0)

    def layer(op, name, inputs, relu=False, out=None, **attributes):
        y = node(op, name, inputs, name + "_f", **attributes)
        if relu:
            y = node("Relu", name + "_relu", [y], name + "_relu_f")
        return requantise(name, y, out)

    def conv(name, x, relu=True):
        return layer("Conv", name, [x, parameter(name + "_w"), parameter(name + "_b")], relu,
                     kernel_shape=[3, 3], pads=[1] * 4, strides=[CONVS[name].stride] * 2)

    conv1 = conv("conv1", requantise("image", "image"))
    res_b = conv("res_b", conv("res_a", conv1), relu=False)
    down = conv("down", layer("Add", "res_add", [res_b, conv1], relu=True))
    flat = node("Flatten", "flatten", [layer("GlobalAveragePool", "pool", [down])], "flatten_f")
    parameters = [parameter("dense_w"), parameter("dense_b")]
    layer("Gemm", "dense", [flat] + parameters, out="logits", transB=1)
    image, logits = (helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
                     for name, shape in (("image", [1, 1, 8, 8]), ("logits", [1, 10])))
    initializers = [numpy_helper.from_array(np.asarray(a), name) for name, a in q.items()]
    graph = helper.make_graph(nodes, "digits", [image], [logits], initializers)
    return helper.make_model(graph, producer_name="train_digits.py", ir_version=7,
                             opset_imports=[helper.make_opsetid("", 13)])


def data_sets(images, logits):
    """The first held-out digits in the layout of the ONNX backend tests: yields path, bytes."""
    for i in range(N_DATA_SETS):
        x, y = images[i].astype(np.float32)[None, None], logits[i:i + 1]
        for file, a, name in ("input_0.pb", x, "image"), ("output_0.pb", y, "logits"):
            yield f"test_data_set_{i}/{file}", numpy_helper.from_array(a, name).SerializeToString()


def write(out):
    """Trains, quantises and writes every file of the folder."""
    x, x_test, y, y_test = load_data()
    p = train(x, y, np.random.default_rng(TRAIN_SEED))
    q = quantise(p, x)
    logits = forward(p, x_test[..., None].astype(np.float32))[0]["dense"], run_int8(q, x_test)
    accuracies = [np.mean(a.argmax(axis=1) == y_test) for a in logits]
    for path, data in data_sets(x_test, logits[1]):
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        (out / path).write_bytes(data)
    (out / "model.onnx").write_bytes(build_model(q).SerializeToString())
    np.savez(out / "digits.npz", image=x_test, label=y_test)  # numpy dates the entries 1980
    (out / "SOURCE.txt").write_text(SOURCE.format(len(x), N_TEST, *accuracies))
    print("held-out accuracy: float {:.2%}, int8 {:.2%}".format(*accuracies))


def check(out):
    """Verifies the files as they are on disk: model valid, data sets exact, accuracy reached."""
    model = onnx.load(out / "model.onnx")
    onnx.checker.check_model(model, full_check=True)
    q = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
    if model != build_model(q):
        sys.exit(f"{out}/model.onnx: not the graph that this script builds")
    digits = np.load(out / "digits.npz")
    logits = run_int8(q, digits["image"])
    for path, data in data_sets(digits["image"], logits):
        if (out / path).read_bytes() != data:
            sys.exit(f"{out / path}: not what the model gives")
    acc = np.mean(logits.argmax(axis=1) == digits["label"])
    print(f"{out}: {len(logits)} digits, int8 {acc:.2%}; {N_DATA_SETS} data sets agree")
    if acc < MIN_ACCURACY:
        sys.exit(f"int8 accuracy {acc:.2%} is below {MIN_ACCURACY:.0%}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=OUT, metavar="DIR", help="default: %(default)s")
    parser.add_argument("--check", action="store_true", help="verify DIR instead of writing it")
    args = parser.parse_args()
    if not args.check:
        write(args.out)
    check(args.out)


if __name__ == "__main__":
    main()

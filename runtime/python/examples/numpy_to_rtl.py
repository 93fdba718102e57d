"""From a network made of numpy arrays to the cycles of the RTL: python3 numpy_to_rtl.py [DEVICE]"""
import sys
import heddle
import numpy as np

random = np.random.default_rng(1)
w1 = random.normal(0, 0.2, (16, 3, 3, 3)).astype(np.float32)
w2 = random.normal(0, 0.1, (16, 10)).astype(np.float32)

net = heddle.Graph("tiny_cnn")
x = net.input("image", (1, 3, 16, 16))
y = net.relu(net.conv(x, w1, pads=[1, 1, 1, 1], strides=[2, 2]), name="conv")
y = net.reducemean(y, np.array([2, 3]), keepdims=0)
net.output(net.matmul(y, w2, name="dense"), "scores")

images = [random.normal(size=(1, 3, 16, 16)).astype(np.float32) for _ in range(8)]
model = net.quantize(images).compile(machine="tiny")
result = model.run(images[0], device=sys.argv[1] if len(sys.argv) > 1 else "rtl")
print(result.layers)
print(f"{result.cycles} cycles, class {result['scores'].argmax()}")

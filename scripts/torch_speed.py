#!/usr/bin/python3
"""Steps of training beside PyTorch's, one thread each, processor time: make bench-train.

usage: torch_speed.py HEDDLE [ROUNDS]     Needs python3-torch and an optimised BLAS. Rounds of both take
turns; the figures are medians. Exit 1: the geometric mean of the speeds is under 1, or one is under 0.7."""
import math
import os
import re
import statistics
import subprocess
import sys
import time

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
try:
    import torch
    import torch.nn as nn
    import torch.nn.functional as F
except ImportError as e:
    sys.exit(f"torch_speed: {e}: apt-get install python3-torch libopenblas0-pthread, and run /usr/bin/python3")

LEAST_MEAN, LEAST = 1.0, 0.7
torch.set_num_threads(1)


class Block(nn.Module):
    def __init__(self, n, m, stride):
        super().__init__()
        self.a, self.b = nn.Conv2d(n, m, 3, stride, 1), nn.BatchNorm2d(m)
        self.c, self.d = nn.Conv2d(m, m, 3, 1, 1), nn.BatchNorm2d(m)
        self.way = nn.Sequential(nn.Conv2d(n, m, 1, stride), nn.BatchNorm2d(m)) if stride > 1 else None

    def forward(self, x):
        y = self.d(self.c(F.relu(self.b(self.a(x)))))
        return F.relu(y + (self.way(x) if self.way else x))


def resnet20():
    layers, n = [nn.Conv2d(3, 16, 3, 1, 1), nn.BatchNorm2d(16), nn.ReLU()], 16
    for m, stride in ((16, 1), (32, 2), (64, 2)):
        for i in range(3):
            layers.append(Block(n, m, 1 if i else stride))
            n = m
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.cells, self.end = nn.LSTM(256, 256, 2, batch_first=True), nn.Linear(256, 10)

    def forward(self, x):
        return self.end(self.cells(x)[0][:, -1])


def mlp():
    return nn.Sequential(nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10))


NETWORKS = {"mlp": (mlp, (128, 784)), "resnet20": (resnet20, (32, 3, 32, 32)), "lstm": (Lstm, (32, 32, 256))}


def torch_ms(name):
    build, shape = NETWORKS[name]
    model, x, y = build(), torch.randn(*shape), torch.arange(shape[0]) % 10
    optimizer, times = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9), []
    for _ in range(11):
        start = time.process_time()
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
        times.append(time.process_time() - start)
    return 1e3 * statistics.median(times[2:])


def blas():
    """The library that products go to; the reference one is refused."""
    torch.ones(8, 8) @ torch.ones(8, 8)
    names = {line.split()[-1] for line in open("/proc/self/maps") if "blas" in line}
    fast = [n for n in names if re.search("openblas|mkl|blis", n)]
    if not fast:
        sys.exit(f"torch_speed: the BLAS is {sorted(names)}, the reference one; apt-get install libopenblas0-pthread")
    return os.path.basename(sorted(fast)[-1])


def main(heddle, rounds="3"):
    library, ours, theirs = blas(), {n: [] for n in NETWORKS}, {n: [] for n in NETWORKS}
    for _ in range(int(rounds)):
        text = subprocess.run([heddle, "bench", "train"], check=True, capture_output=True, text=True).stdout
        for name, ms in re.findall(r"^(\w+) .* ([\d.]+) ms$", text, re.M):
            ours[name].append(float(ms))
        for name in NETWORKS:
            theirs[name].append(torch_ms(name))
    print(f"PyTorch {torch.__version__}, {library}, one thread; processor time of a step, {rounds} rounds")
    speed = {}
    for name in NETWORKS:
        a, b = statistics.median(ours[name]), statistics.median(theirs[name])
        speed[name] = b / a
        print(f"{name:9} heddle {a:8.2f} ms   PyTorch {b:8.2f} ms   speed {b / a:.2f}")
    mean = math.exp(statistics.mean(math.log(v) for v in speed.values()))
    print(f"geometric mean {mean:.2f}, at least {LEAST_MEAN}; least {min(speed.values()):.2f}, at least {LEAST}")
    sys.exit(mean < LEAST_MEAN or min(speed.values()) < LEAST)


main(*sys.argv[1:])

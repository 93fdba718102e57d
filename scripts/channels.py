#!/usr/bin/env python3
"""Search over channel counts by cycles of a machine: make search-channels.

usage: channels.py HEDDLE NETWORK WIDTHS[:WIDTHS..] [--machine NAME] [--epochs N] [--limit CYCLES]
                   [--data NPZ --calibrate NPY]
       WIDTHS are numbers with commas, one list for each width of the network of `heddle train`.

Every combination is compiled first, which takes a second: cycles do not depend on weights. A network
that has no more channels in any layer than another, and takes as many cycles, is left out: the machine
works on whole words, so channels that fill them cost nothing. What is left, and within the limit, is
trained, quantised and fine-tuned. The table marks those that no other network beats in both."""
import argparse
import itertools
import json
import os
import re
import subprocess
import tempfile

def heddle(args, *command):
    return subprocess.run([args.heddle, *command], check=True, capture_output=True, text=True).stdout


def int8(args, folder, name, epochs):
    """Trains and quantises; the file, and held-out accuracy after fine-tuning (1 epoch: not tuned)."""
    path = os.path.join(folder, name.replace(":", "_"))
    heddle(args, "train", name, "--data", args.data, "--set", f"epochs={epochs}", "--set", "shards=1",
           "--threads", "1", "-o", path + ".onnx")
    heddle(args, "quantize", path + ".onnx", "--calibrate", args.calibrate, "-o", path + "_int8.onnx")
    if epochs == 1:
        return path + "_int8.onnx", 0.0
    out = heddle(args, "finetune", path + "_int8.onnx", "--data", args.data, "--threads", "1", "-o", path + "_tuned.onnx")
    return path + "_tuned.onnx", float(re.search(r"held out +([\d.]+) %", out).group(1))


def cycles(args, path):
    text = heddle(args, "run", path, "--device", "iss", "--machine", args.machine, "--json", "-")
    return json.loads(text[text.index("{"):])["cycles"]


def beaten(one, other):
    """At least as many channels everywhere, for no more cycles."""
    more = all(a <= b for a, b in zip(one[0], other[0]))
    return more and one[0] != other[0] and other[1] <= one[1]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("heddle")
    p.add_argument("network")
    p.add_argument("widths")
    p.add_argument("--machine", default="base")
    p.add_argument("--epochs", type=int, default=30)
    p.add_argument("--limit", type=int, default=1 << 60)
    p.add_argument("--data", default="test/data/digits.npz")
    p.add_argument("--calibrate", default="test/models/digits")
    args = p.parse_args()
    lists = [[int(w) for w in part.split(",")] for part in args.widths.split(":")]
    with tempfile.TemporaryDirectory() as folder:
        all_of = [(w, cycles(args, int8(args, folder, ":".join([args.network, *map(str, w)]), 1)[0]))
                  for w in itertools.product(*lists)]
        left = [n for n in all_of if n[1] <= args.limit and not any(beaten(n, o) for o in all_of)]
        print(f"{len(all_of)} networks on {args.machine}, {len(left)} of them worth training")
        rows = []
        for widths, count in sorted(left, key=lambda n: n[1]):
            accuracy = int8(args, folder, ":".join([args.network, *map(str, widths)]), args.epochs)[1]
            best = all(accuracy > r[2] for r in rows)
            rows.append((widths, count, accuracy))
            print(f"{args.network}:{':'.join(map(str, widths)):12} {count:6} cycles  {accuracy:6.2f} %{'  *' if best else ''}", flush=True)


main()

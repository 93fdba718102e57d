#!/usr/bin/env python3
"""Digits from scratch, five splits by seed: float, then int8 through the machine's integers, then the written
file on rtl against cpu: make test-train-digits.

usage: digits.py HEDDLE WORK      exit 1: a bar is missed. Bars: mean float accuracy of held-out samples,
points that int8 is below it, processor seconds of a training."""
import os
import re
import resource
import subprocess
import sys

DATA, SEEDS = "test/data/digits.npz", range(1, 6)
FLOAT, BELOW, SECONDS = 98.0, 0.3, 120  # 60 s on two processors


def run(*command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    p = subprocess.run(command, capture_output=True, text=True)
    if p.returncode:
        sys.exit(f"digits: {' '.join(command)}: {p.stderr}")
    return p.stdout, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def held_out(text):
    return float(re.search(r"held out +([\d.]+) %", text).group(1))


def main(heddle, work):
    os.makedirs(work, exist_ok=True)
    names = [f"{work}/{n}.onnx" for n in ("float", "int8", "tuned")]
    sums, longest = [0.0, 0.0], 0.0
    for seed in SEEDS:
        text, seconds = run(heddle, "train", "cnn", "--data", DATA, "--set", f"seed={seed}", "-o", names[0])
        run(heddle, "quantize", names[0], "--calibrate", "test/models/digits", "-o", names[1])
        tuned, _ = run(heddle, "finetune", names[1], "--data", DATA, "--set", f"seed={seed}", "-o", names[2])
        run(heddle, "compare", names[2], "--devices", "golden,iss,rtl")
        a, b = held_out(text), held_out(tuned)
        sums, longest = [sums[0] + a, sums[1] + b], max(longest, seconds)
        print(f"seed {seed}: float {a:.2f} %, int8 {b:.2f} %, {seconds:.0f} s of a processor")
    on = [re.search("top-1 .*", run(heddle, "eval", names[2], "--data", DATA, "--labels", DATA, "--images", "360",
                                    "--device", d)[0]).group(0) for d in ("rtl", "cpu")]
    print(f"seed {seed}, 360 samples: rtl {on[0]}; cpu {on[1]}")
    run(heddle, "quantize", names[0], "--calibrate", "test/models/digits", "--range", "percentile:70", "-o", names[1])
    stay, move = [held_out(run(heddle, "finetune", names[1], "--data", DATA, "--set", f"seed={seed}", "--set",
                               f"ranges={r}", "-o", names[2])[0]) for r in (0, 5)]
    run(heddle, "compare", names[2], "--devices", "golden,iss")
    print(f"seed {seed}, ranges too small: {stay:.2f} % as they are, {move:.2f} % learned")
    mean, below = sums[0] / len(SEEDS), (sums[0] - sums[1]) / len(SEEDS)
    print(f"mean: float {mean:.2f} %, at least {FLOAT}; int8 {below:.2f} points below, at most {BELOW}")
    sys.exit(mean < FLOAT or below > BELOW or longest > SECONDS or on[0] != on[1] or move < stay)


main(*sys.argv[1:])

#!/usr/bin/env python3
"""How fast the packages are beside a build for this processor alone.

    speed.py HEDDLE PACKAGES MODELS [ROUNDS]

Compiling, the instruction set simulator, and device cpu with one thread. Both take turns; the least processor time
of each counts. Exit status 1: a kind is slower by more than 3 %, as a geometric mean.
"""
import glob
import json
import math
import os
import resource
import subprocess
import sys
import tempfile

MOST = 1.03
NETS = ("mobilenet_v2_qdq_int8", "shufflenet_v2_int8_qlinear")
FLOATS = ("mlperf_ic_resnet8_fp32", "squeezenet10_fp32")


def took(command, env):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, check=True, env=env, stdout=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def bench_cpu(command, env):
    out = subprocess.run(command, check=True, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(out.stdout)["runs"][0]["cpu_seconds"] * 1e3


def main(heddle, packages, models, rounds="9"):
    with tempfile.TemporaryDirectory() as work:
        for d in glob.glob(os.path.join(packages, "*.deb")):
            subprocess.run(["dpkg-deb", "-x", d, work + "/root"], check=True)
        env = dict(os.environ, LD_LIBRARY_PATH=work + "/root/usr/lib")
        sides = ((heddle, None), (work + "/root/usr/bin/heddle", env))
        jobs = []
        for n in NETS:
            hdl = f"{work}/{n}.hdl"
            jobs += [(f"compile {n}", took, ["compile", f"{models}/{n}", "-o", hdl]),
                     (f"iss {n}", took, ["run", hdl, "--device", "iss"])]
        jobs += [(f"cpu {n}", bench_cpu, ["bench", "cpu", f"{models}/{n}", "--threads", "1", "--json", "-"])
                 for n in NETS + FLOATS]
        ratios = {}
        for name, measure, arguments in jobs:
            least = [float("inf")] * 2
            for _ in range(int(rounds)):
                for i, (program, e) in enumerate(sides):
                    least[i] = min(least[i], measure([program, *arguments], e))
            ratio = least[1] / least[0]
            print(f"{name:40} native {least[0]:9.3f}  packages {least[1]:9.3f}  ratio {ratio:.3f}", flush=True)
            ratios.setdefault(name.split()[0], []).append(ratio)
    means = {kind: math.exp(sum(map(math.log, r)) / len(r)) for kind, r in ratios.items()}
    print("means: " + ", ".join(f"{kind} {mean:.3f}" for kind, mean in means.items()))
    if max(means.values()) > MOST:
        sys.exit(f"speed: slower by more than {100 * (MOST - 1):.0f} %")


main(*sys.argv[1:])

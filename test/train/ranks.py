#!/usr/bin/env python3
"""Training on 1, 2, 4 and 8 ranks writes the same bytes; a killed job goes on to the same bytes.

usage: ranks.py HEDDLE WORK      exit 1 with the first difference. Needs mpirun and libhd_mpi.so."""
import os
import shutil
import signal
import subprocess
import sys
import time

TRAIN = ["train", "cnn", "--data", "test/data/digits.npz", "--threads", "1"]


MESSAGES = {**os.environ, "HEDDLE_WINDOW": "none"}  # as ranks of several computers


def command(heddle, ranks, out, epochs, *settings):
    run = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks else []
    sets = [f"epochs={epochs}", *settings]
    return run + [heddle, *TRAIN, "-o", out] + [x for s in sets for x in ("--set", s)]


def want_same(what, a, b):
    if open(a, "rb").read() != open(b, "rb").read():
        sys.exit(f"ranks: {what}: {a} and {b} differ")
    print(f"  ok    ranks: {what}")


def kill_one(heddle, work):
    """Kills a rank when the first checkpoint is there; the job must end with an error, then go on."""
    checkpoint = f"{work}/checkpoint"
    job = command(heddle, 2, f"{work}/killed.onnx", 6, f"checkpoint={checkpoint}")
    p = subprocess.Popen(job, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while not os.path.exists(checkpoint) and p.poll() is None:
        time.sleep(0.01)
    ranks = subprocess.run(["pgrep", "-P", str(p.pid)], capture_output=True, text=True).stdout.split()
    if p.poll() is not None or not ranks:
        sys.exit("ranks: the job ended before a rank could be killed")
    os.kill(int(ranks[-1]), signal.SIGKILL)
    try:
        message = p.communicate(timeout=60)[1]
    except subprocess.TimeoutExpired:
        p.kill()
        sys.exit("ranks: a killed rank did not end the job within 60 s")
    if not p.returncode or "signal 9" not in message:
        sys.exit(f"ranks: a killed rank: exit {p.returncode}, {message!r}")
    print("  ok    ranks: a rank that dies ends the job with a message")
    goes_on = command(heddle, 2, f"{work}/killed.onnx", 6) + ["--resume", checkpoint]
    out = subprocess.run(goes_on, check=True, capture_output=True, text=True).stdout
    if "goes on behind step" not in out:
        sys.exit(f"ranks: --resume began anew: {out!r}")


def main(heddle, work):
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    for n in (0, 1, 2, 4, 8):
        subprocess.run(command(heddle, n, f"{work}/{n}.onnx", 2), check=True, stdout=subprocess.DEVNULL)
        if n:
            want_same(f"{n} under mpirun, and one process alone, train the same bits", f"{work}/0.onnx", f"{work}/{n}.onnx")
    for n in (2, 4):
        subprocess.run(command(heddle, n, f"{work}/messages.onnx", 2), check=True, stdout=subprocess.DEVNULL, env=MESSAGES)
        want_same(f"{n} that share no memory train the same bits", f"{work}/0.onnx", f"{work}/messages.onnx")
    p = subprocess.run(command(heddle, 3, f"{work}/3.onnx", 1), capture_output=True, text=True)
    if p.returncode == 0 or "8 shards on 3 ranks" not in p.stderr:
        sys.exit(f"ranks: 8 shards on 3 ranks: exit {p.returncode}, {p.stderr!r}")
    kill_one(heddle, work)
    subprocess.run(command(heddle, 0, f"{work}/whole.onnx", 6), check=True, stdout=subprocess.DEVNULL)
    want_same("a job that was killed and goes on ends at the same bits", f"{work}/whole.onnx", f"{work}/killed.onnx")


main(*sys.argv[1:])

#!/usr/bin/env python3
"""heddle explore on several ranks of MPI: the front of one process, also after a kill, and from ranks that have no files.

usage: ranks.py HEDDLE WORK [--speed]      exit 1 at the first difference. Needs mpirun and libhd_mpi.so.
--speed: two ranks beside two runs of one job each that do half of the work, median of five."""
import json, os, shutil, signal, statistics, subprocess, sys, time

HEDDLE, WORK = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
NET = os.path.abspath("test/models/digits")
SETS = ["k=8,16,32", "n=8,16", "xm_bytes=32768,131072", "axi_bits=64,128", "wm_bytes=65536,262144", "am_bytes=131072",
        "pm_bytes=32768"]
LARGER = os.path.abspath("../shared/models/mobilenet_v2_qdq_int8")
MPIRUN = ["mpirun", "--oversubscribe"]


def fail(text):
    sys.exit(f"ranks: {text}")


def command(out, net=NET, sets=SETS):
    return [HEDDLE, "explore", net, *[x for s in sets for x in ("--set", s)], "-o", out, "--confirm", "none",
            "--limit", "machines=100000"]


def run(job, code=0):
    p = subprocess.run(job, capture_output=True, text=True, timeout=600)
    if p.returncode != code:
        fail(f"{' '.join(job)}: exit {p.returncode}\n{p.stdout}{p.stderr}")
    return p


def points(out):
    return json.load(open(f"{out}/front.json"))["points"]


def want_same(what, a, b):
    if points(a) != points(b):
        fail(f"{what}: {a} and {b} have different fronts")
    print(f"  ok    ranks: {what}")


def kill_all(alone):
    """kill -9 of every rank in the middle; the same command goes on."""
    out = f"{WORK}/killed"
    job = MPIRUN + ["-n", "3", *command(out)]
    p = subprocess.Popen(job, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    lines = lambda: len(open(f"{out}/journal.jsonl").readlines()) if os.path.exists(f"{out}/journal.jsonl") else 0
    while lines() < 12 and p.poll() is None:
        time.sleep(0.01)
    for pid in subprocess.run(["pgrep", "-P", str(p.pid)], capture_output=True, text=True).stdout.split():
        os.kill(int(pid), signal.SIGKILL)
    p.wait(60)
    kept = lines()
    if not p.returncode:
        fail("the job ended before it could be killed")
    run(job)
    want_same(f"killed after {kept} lines of the journal, it goes on", alone, out)


def speed():
    """Each of two runs beside each other prices the machines of one port; two ranks price those of both."""
    halves = [[s if not s.startswith("axi_bits") else f"axi_bits={b}" for s in SETS] for b in (64, 128)]
    sweep = lambda out, sets: ["sweep" if x == "explore" else x for x in command(out, LARGER, sets)] + ["-j", "1"]
    ratios = []
    for i in range(5):
        start = time.time()
        for p in [subprocess.Popen(sweep(f"{WORK}/s{i}{k}", h), stdout=subprocess.DEVNULL) for k, h in enumerate(halves)]:
            p.wait()
        apart = time.time() - start
        start = time.time()
        run(MPIRUN + ["-n", "2", *sweep(f"{WORK}/s{i}", SETS)])
        ratios.append(apart / (time.time() - start))
        print(f"  two runs {apart:.2f} s, two ranks {apart / ratios[-1]:.2f} s")
    print(f"  ranks: two ranks do {statistics.median(ratios):.2f} of two runs beside each other, median of five")


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(f"{WORK}/elsewhere")
    if "--speed" in sys.argv:
        return speed()
    alone = f"{WORK}/alone"
    run(command(alone))
    for n in (1, 2, 4):
        run(MPIRUN + ["-n", str(n), *command(f"{WORK}/{n}")])
        want_same(f"{n} under mpirun, and one process alone, find the same front", alone, f"{WORK}/{n}")
    job = subprocess.run(["scripts/explore.slurm", *command(f"{WORK}/slurm")[2:]], capture_output=True, text=True, timeout=300,
                         env={**os.environ, "HEDDLE": HEDDLE, "HEDDLE_MPIRUN": "--oversubscribe", "SLURM_NTASKS": "3"})
    if job.returncode:
        fail(f"scripts/explore.slurm: {job.stderr}")
    want_same("so does scripts/explore.slurm", alone, f"{WORK}/slurm")
    here = command(f"{WORK}/files", net="test/models/digits")
    run(["mpirun", "--oversubscribe", "-n", "1", *here, ":", "-n", "1", "-wdir", f"{WORK}/elsewhere", *here])
    want_same("a rank that has not the files prices, too", alone, f"{WORK}/files")
    p = subprocess.run(MPIRUN + ["-n", "2", *command(f"{WORK}/none", net=f"{WORK}/none.onnx")], capture_output=True,
                       text=True, timeout=60)
    if not p.returncode or "none.onnx" not in p.stderr:
        fail(f"a network that is not there: exit {p.returncode}, {p.stderr!r}")
    print("  ok    ranks: a network that is not there ends all ranks with a message")
    kill_all(alone)


if __name__ == "__main__":
    main()

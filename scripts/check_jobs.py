#!/usr/bin/env python3
"""heddle run --device rtl --jobs N is one run: cycles, counters, layers and outputs of a small network are those of
one process, parts do join, and a process that is killed is an error.

    check_jobs.py HEDDLE FOLDER [JOBS,JOBS,...]
"""
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from make_rn50_qdq import Net, blob, num, value  # noqa: E402

PART = 4096  # cycles


def make_network(path):
    """Four convolutions and a sum: some 60,000 cycles on tiny."""
    net = Net(1)
    first = net.conv(net.qdq("input", 1 / 32), 8, 32, 3, 1, True)
    x = net.conv(net.conv(first, 32, 32, 3, 1, True), 32, 32, 1, 1, False)
    x = net.qdq(net.node("Relu", [net.node("Add", [x, first])]), 1 / 32)
    y = net.conv(x, 32, 64, 3, 2, True)
    net.nodes[-1] = net.nodes[-1].replace(blob(2, y), blob(2, "output"))
    graph = b"".join(blob(1, n) for n in net.nodes) + blob(2, "parts") + b"".join(blob(5, t) for t in net.consts)
    graph += blob(11, value("input", [1, 8, 16, 16])) + blob(12, value("output", [1, 64, 8, 8]))
    path.write_bytes(num(1, 8) + blob(7, graph) + blob(8, blob(1, "") + num(2, 13)))


def facts(path):
    """What the JSON of a run says, times of the computer left out."""
    def strip(x):
        if isinstance(x, dict):
            return {k: strip(v) for k, v in x.items() if "seconds" not in k and "per_second" not in k and "path" not in k}
        return [strip(v) for v in x] if isinstance(x, list) else x
    got = strip(json.loads(path.read_text()))
    got.pop("host", None)
    return got


class Check:
    def __init__(self, heddle, folder):
        self.heddle, self.folder = heddle, folder
        folder.mkdir(parents=True, exist_ok=True)
        self.net = folder / "parts.onnx"
        make_network(self.net)

    def command(self, jobs, *more):
        split = ["--jobs", str(jobs), "--part-cycles", str(PART)] if jobs else []
        return [self.heddle, "run", str(self.net), "--device", "rtl", "--machine", "tiny", *split, *more]

    def run(self, jobs, *more):
        """Facts, outputs and the number of parts of a run."""
        out, npz = self.folder / f"{jobs}.json", self.folder / f"{jobs}.npz"
        r = subprocess.run(self.command(jobs, "--json", str(out), "--outputs", str(npz), *more),
                           capture_output=True, text=True, timeout=300)
        if r.returncode:
            sys.exit(f"--jobs {jobs}: {r.stderr.strip()}")
        parts = re.search(r" in (\d+) parts", r.stdout)
        return facts(out), npz.read_bytes(), int(parts[1]) if parts else 0

    def same(self, jobs, *more):
        one = self.run(0, *more)
        for n in jobs:
            got = self.run(n, *more)
            if got[0] != one[0]:
                where = [k for k in one[0] if got[0].get(k) != one[0][k]]
                sys.exit(f"--jobs {n} {' '.join(more)}: {', '.join(where)} are not those of one run")
            if got[1] != one[1]:
                sys.exit(f"--jobs {n} {' '.join(more)}: the outputs are not those of one run")
            if got[2] < 3:
                sys.exit(f"--jobs {n} {' '.join(more)}: {got[2]} parts were joined, 3 are wanted")

    def trace(self):
        """Operations of a run in parts are those of one run."""
        got = []
        for n in (0, 2):
            path = self.folder / f"{n}.trace"
            self.run(n, "--trace", str(path))
            got.append([{k: v for k, v in e.items() if k != "args"}
                        for e in json.loads(path.read_text())["traceEvents"] if e.get("cat") == "op"])
        if got[0] != got[1]:
            sys.exit("--jobs 2 --trace: the operations are not those of one run")

    def killed(self):
        # The model is taken as it is, so that no make is among the processes.
        env = dict(os.environ, HEDDLE_RTL_DIR=str(Path(self.heddle).parent / "rtl"))
        p = subprocess.Popen(self.command(2, "--repeat", "100"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                             text=True, env=env)
        children = Path(f"/proc/{p.pid}/task/{p.pid}/children")
        end = time.time() + 60
        while time.time() < end and p.poll() is None:
            of = [int(c) for c in children.read_text().split()]
            mine = [c for c in of if os.path.exists(f"/proc/{c}/exe") and
                    os.path.samefile(f"/proc/{c}/exe", self.heddle)]
            if mine:
                os.kill(mine[-1], signal.SIGKILL)
                break
            time.sleep(0.005)
        text = p.communicate(timeout=120)[1]
        if p.returncode != 1 or "was ended by signal 9" not in text:
            sys.exit(f"a process that was killed: status {p.returncode}, {text.strip()}")


def main():
    check = Check(sys.argv[1], Path(sys.argv[2]))
    jobs = [int(n) for n in (sys.argv[3] if len(sys.argv) > 3 else "1,2,3").split(",")]
    check.same(jobs)
    check.same(jobs[1:2] or jobs, "--mem-latency", "200")
    check.same(jobs[1:2] or jobs, "--mem-jitter", "3")
    check.trace()
    check.killed()


if __name__ == "__main__":
    main()

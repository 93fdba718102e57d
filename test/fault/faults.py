#!/usr/bin/env python3
"""Faults while commands work: a disk that is full after so many bytes, standard output that takes nothing, memory that
ends, a file that ends too soon, a kill of the command or of a process that it started. A command never crashes; it says
what is wrong and exits with 1; a file that has its final name is complete; nothing half-written stays, but of a kill
its .tmp file. What a sanitizer has to say is an error, too.

usage: faults.py HEDDLE FOLDER [COUNT] [SEED] [KIND...]   kinds: disk, stdout, kill, child, input, memory. FOLDER and
FOLDER.in are removed.
A failure prints the command that repeats it.
"""
import os, random, re, resource, shutil, signal, subprocess, sys, time

heddle, work = map(os.path.abspath, sys.argv[1:3])
count = int(sys.argv[3]) if len(sys.argv) > 3 else 100
seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
kinds = sys.argv[5:] or ["disk", "stdout", "kill", "child", "input", "memory"]
asan = "/asan/" in heddle  # it reserves terabytes: there, large pieces of memory are refused
digits, cell = os.path.abspath("test/models/digits"), os.path.abspath("test/golden/state/models/cell.onnx")
data = os.path.abspath("test/data/digits.npz")

commands = [c.split() for c in f"""
compile {digits} -o o.hdl --json o.json
compile {digits} --emit c -o o.c
compile {cell} --state hn=h -o o.hdl
run {digits} --outputs o.npz --report o.html
run {digits} --trace o.json --json p.json
run {digits} --device golden --json o.json
run {cell} --state hn=h --steps 3 --save-state o.state --outputs o.npz
compare {cell} --devices golden,iss --json o.json
convert {digits} -o o.onnx
graph {digits} -o o.dot
opt {digits} -o o.txt
query {digits} qconv --json o.json
sweep {cell} --set k=8,16 -o found --csv o.csv --json o.json --confirm none
explore {cell} -o found --limit machines=4 --confirm none --json o.json
test {digits} --device golden --json o.json
bench {cell} --json o.json
xclbin write -o o.xclbin
machines --json o.json
ops --json o.json
train mlp --data {data} --set epochs=1 -o o.onnx
quantize {os.path.abspath("test/golden/quantize/contrast.onnx")} -o o.onnx --json o.json
help --man""".strip().split("\n")]
# They hold times, and numbers of processes: not the same bytes twice.
VARY = (".json", ".html", ".jsonl")


def start(args, out=subprocess.PIPE, file_bytes=None, memory=None, env=None):
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)

    def limits():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        if file_bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
        if memory is not None:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    return subprocess.Popen([heddle, *args], stdout=out, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, cwd=work,
                            env={**os.environ, **(env or {})}, preexec_fn=limits, start_new_session=True)


def finish(p):
    out, err = p.communicate(timeout=120)
    return p.returncode, out or b"", err.decode(errors="replace")


def files():
    return {os.path.relpath(os.path.join(d, f), work): open(os.path.join(d, f), "rb").read()
            for d, _, names in os.walk(work) for f in names}


def complete(name, data, whole):
    if name.endswith(".jsonl"):
        return True  # lines; a last one that is cut is left out when it is read
    if name.endswith(".json"):
        return data.rstrip().endswith((b"}", b"]"))
    if name.endswith(".html"):
        return data.rstrip().endswith(b"</html>")
    return len(data) == len(whole)


def judge(what, code, out, err, want, may_pass, left=False):
    """None, or what is wrong."""
    if re.search("ERROR: [A-Za-z]*Sanitizer|runtime error:", err):
        return err[-3000:]
    if code not in (0, 1) and not left:
        return f"exit status {code}: {err[-300:]}"
    if code == 0 and not may_pass:
        return "exit status 0"
    if code == 1 and not err.strip():
        return "no message"
    for name, data in files().items():
        if ".tmp" in name:
            if not left:
                return f"{name} stays"
        elif name in want and not complete(name, data, want[name]):
            return f"{name} has {len(data)} bytes of {len(want[name])} under its name"
    return None


def cut_input(r, args):
    """The command on a copy of what it reads, of which a file ends too soon."""
    place = work + ".in"
    shutil.rmtree(place, ignore_errors=True)
    os.makedirs(place)
    at = r.choice([i for i, a in enumerate(args) if os.path.isabs(a) and os.path.exists(a)] or [-1])
    if at < 0:
        return "input: it reads none", args
    copy = os.path.join(place, os.path.basename(args[at]))
    (shutil.copytree if os.path.isdir(args[at]) else shutil.copy)(args[at], copy)
    names = sorted(os.path.join(d, f) for d, _, fs in os.walk(place) for f in fs)
    name = r.choice(names)
    limit = r.randrange(os.path.getsize(name) + 1)
    os.truncate(name, limit)
    return f"{name} of {limit} bytes", [*args[:at], copy, *args[at + 1:]]


def kill_child(p):
    """Kills a process that p started; False: it ended before it had one."""
    while p.poll() is None:
        try:
            children = [int(c) for t in os.listdir(f"/proc/{p.pid}/task")
                        for c in open(f"/proc/{p.pid}/task/{t}/children").read().split()]
            if children:
                os.kill(children[-1], signal.SIGKILL)
                return True
        except (FileNotFoundError, ProcessLookupError):
            pass
        time.sleep(0.001)
    return False


plain = {}


def one(r, i):
    args = r.choice(commands)
    key = " ".join(args)
    if key not in plain:
        begin = time.time()
        code, out, err = finish(start(args))
        if code:
            return "alone", args, f"exit status {code}: {err}"
        plain[key] = files(), out, time.time() - begin
    want, said, seconds = plain[key]
    kind = r.choice(kinds)
    if kind == "disk":
        limit = r.randrange(max(map(len, want.values()), default=0) + 1)
        code, out, err = finish(start(args, file_bytes=limit))
        fits = all(len(d) <= limit for n, d in want.items() if not n.endswith(VARY))
        return f"disk of {limit} bytes", args, judge(kind, code, out, err, want, fits)
    if kind == "stdout":
        with open("/dev/full", "wb") as full:
            code, out, err = finish(start(args, out=full))
        return kind, args, judge(kind, code, out, err, want, not said)
    if kind == "input":
        what, args = cut_input(r, args)
        code, out, err = finish(start(args))
        said = err or out.decode(errors="replace")  # test says it in its list
        return what, args, judge(kind, code, out, said, {}, True)
    if kind == "memory" and asan:
        limit = r.randrange(1, 9)
        options = f"{os.environ.get('ASAN_OPTIONS', '')}:allocator_may_return_null=1:max_allocation_size_mb={limit}"
        code, out, err = finish(start(args, env={"ASAN_OPTIONS": options}))
        return f"pieces of at most {limit} MiB", args, judge(kind, code, out, err, want, True)
    if kind == "memory":
        limit = r.randrange(10 << 20, 400 << 20)
        code, out, err = finish(start(args, memory=limit))
        if code == 127 or "error while loading shared libraries" in err:
            return kind, args, None  # it did not begin
        return f"memory of {limit} bytes", args, judge(kind, code, out, err, want, True)
    # The leak checker waits for ever for a child of its own that is killed.
    no_leaks = {"ASAN_OPTIONS": f"{os.environ.get('ASAN_OPTIONS', '')}:detect_leaks=0"}
    p = start(args, env=no_leaks if asan and kind == "child" else None)
    if kind == "child":
        killed = kill_child(p)
        code, out, err = finish(p)
        return kind, args, judge(kind, code, out, err, want, True, left=killed)
    time.sleep(r.random() * seconds)
    os.killpg(p.pid, signal.SIGKILL)
    code, out, err = finish(p)
    return kind, args, judge(kind, code, out, "killed", want, True, left=True)


r = random.Random(seed)
failed = 0
for i in range(count):
    what, args, wrong = one(r, i)
    if wrong:
        failed += 1
        print(f"FAIL heddle {' '.join(args)}: {what}: {wrong}")
shutil.rmtree(work, ignore_errors=True)
shutil.rmtree(work + ".in", ignore_errors=True)
print(f"faults: {count - failed} of {count} as they should be, seed {seed}")
sys.exit(failed > 0)

#!/usr/bin/env python3
"""Every JSON output has a schema in docs/schemas, and fits it. Usage: check_schemas.py HEDDLE WORK

Runs the commands below and validates what they write (Debian package python3-jsonschema; without it
only the files are looked at). A schema in the C sources without a file is an error, as is a file that
no command here makes.
"""
import glob, json, os, re, subprocess, sys

NET = "test/models/digits"
COMMANDS = [  # {w}: the work folder
    f"run {NET} --json {{w}}/run.json --trace {{w}}/trace.json",
    f"run {NET} --device golden --json {{w}}/golden.json",
    f"run {NET} --mem-jitter 3 --set k=8 --json {{w}}/tiny.json",
    f"compile {NET} -o {{w}}/net.hdl --json {{w}}/compile.json",
    "compile test/golden/quantize/branch.onnx -o {w}/float.hdl --json {w}/host.json",
    f"compare {NET} --devices golden,iss --json {{w}}/compare.json",
    f"test {NET} --device cpu --json {{w}}/test.json",
    f"eval {NET} --data {NET}/digits.npz --labels {NET}/digits.npz --json {{w}}/eval.json",
    "quantize test/golden/quantize/branch.onnx -o {w}/int8.onnx --json {w}/quantize.json",
    "quantize test/golden/quantize/wide.onnx --mixed 30dB -o {w}/int16.onnx --json {w}/mixed.json",
    f"query {NET} conv --json {{w}}/query.json",
    "check {w}/net.hdl --json {w}/check.json",
    "devices --json {w}/devices.json",
    "machines --json {w}/machines.json",
    "knobs --json {w}/knobs.json",
    "ops --json {w}/ops.json",
    "diff {w}/run.json {w}/tiny.json --json {w}/diff.json",
    "diff tiny base --json {w}/diff_machines.json",
    f"sweep {NET} --set k=8,16 -o {{w}}/sweep --json {{w}}/sweep.json",
    f"explore {NET} --board zcu104 --limit seconds=3 -o {{w}}/explore --json {{w}}/explore.json",
    f"advise {NET} --json {{w}}/advise.json",
    "tune 8x16x8 --db {w}/tune.db --seconds 20 --json {w}/tune.json",
    f"bench choose {NET} --db {{w}}/tune.db --devices cpu,iss --batch 1 --json {{w}}/bench_choose.json",
    f"choose {NET} --db {{w}}/tune.db --devices cpu,iss --batch 1 --json {{w}}/choose.json",
    f"demo {NET} --device iss --images 3 --json {{w}}/demo.json",
    f"bench {NET} --json {{w}}/bench.json",
    f"bench memory {NET} --json {{w}}/bench_memory.json",
    f"bench gpu {NET} --device cuda --json {{w}}/bench_gpu.json",
    f"bench estimate {NET} --json {{w}}/estimate.json",
    "bench tiny --devices iss --json {w}/bench_tiny.json",
    f"bench zoo {NET} --json {{w}}/bench_zoo.json",
    "bench encoder --json {w}/bench_machine.json",  # as bench machine, which takes minutes
    f"bench iss-vs-rtl {NET} --json {{w}}/bench_iss.json",
    "bench sim-speed --machine base --json {w}/bench_speed.json",
    f"bench cpu {NET} --json {{w}}/bench_cpu.json",
    f"bench compare {NET} --devices golden,iss --json {{w}}/bench_compare.json",
]
FOLDER = "docs/schemas"


def in_sources():
    found = set()
    for path in glob.glob("compiler/**/*.c", recursive=True):
        found |= set(re.findall(r'"(heddle\.[a-z.-]+/[0-9]+)"', open(path).read()))
    return found


def file_of(schema):
    return f"{FOLDER}/{schema.replace('/', '-')}.json"


def main():
    heddle, work = sys.argv[1:3]
    problems = []
    os.makedirs(work, exist_ok=True)
    names = in_sources()
    for s in sorted(names):
        if not os.path.exists(file_of(s)):
            problems.append(f"{file_of(s)}: missing; a command writes {s}")
    try:
        import jsonschema
    except ImportError:
        print("  schemas: not validated, there is no python3-jsonschema")
        jsonschema = None
    for c in COMMANDS:
        p = subprocess.run(f"{heddle} {c.format(w=work)}", shell=True, text=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE)
        if p.returncode:
            problems.append(f"heddle {c}: status {p.returncode}: {p.stderr[-300:]}")
    seen = set()
    for path in sorted(glob.glob(f"{work}/*.json")):
        doc = json.load(open(path))
        schema = doc.get("schema", doc.get("otherData", {}).get("schema", "")) if isinstance(doc, dict) else ""
        if not os.path.exists(file_of(schema)):
            problems.append(f"{path}: schema '{schema}' has no file")
            continue
        seen.add(schema)
        if jsonschema:
            v = jsonschema.Draft7Validator(json.load(open(file_of(schema))))
            problems += [f"{path}: {'/'.join(map(str, e.absolute_path))}: {e.message[:200]}"
                         for e in list(v.iter_errors(doc))[:5]]
    for path in sorted(glob.glob(f"{FOLDER}/*.json")):
        s = json.load(open(path))["$id"]
        if file_of(s) != path or s not in names:
            problems.append(f"{path}: no command writes {s}")
        elif s not in seen:
            problems.append(f"{path}: no command here makes it")
    for p in problems:
        print("check_schemas:", p)
    if not problems:
        print(f"  schemas: {len(seen)} kinds of output fit, of {len(names)}")
    return 1 if problems else 0


sys.exit(main())

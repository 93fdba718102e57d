#!/usr/bin/env python3
"""Every legal parameter set builds, every other one is refused by name.

usage: sweep.py BUILD [--fast]

BUILD is build/release or another mode's tree; run from the repository's root by `make sweep`. Five parts:
lint    RTL of all K x N x AXI, and of each other parameter at its ends, elaborates without a warning (Verilator)
refuse  values outside are refused by the compiler, by the printer of the package and by the RTL, each with the name
iss     digits and resnet8, compiled for all K x N, give golden's bits on the ISS
more    twice of one memory, of banks or of the port's width makes a network at most 0.5 % slower (on base)
rtl     for a sample: the model is built, random programs agree with the ISS, digits gives golden's bits
--fast (make test): a few of lint, iss, more and refuse. JOBS (2) at a time. Exit 1 when anything failed.
"""
import functools, itertools, json, os, re, subprocess, sys
from concurrent.futures import ThreadPoolExecutor

GEN, OUT = "build/tools/gen", "build/sweep"
SHARED = "../shared/models"
RESNET8, DSCNN = f"{SHARED}/mlperf_ic_resnet8_int8_qdq", f"{SHARED}/mlperf_kws_dscnn_int8_qdq"
LARGER = ["xm_bytes", "wm_bytes", "am_bytes", "pm_bytes", "xm_banks", "axi_bits"]
SAMPLE = ["k=64 n=64", "k=8 n=64", "k=64 n=8 axi_bits=512", "k=8 n=8 axi_bits=512",
          "k=8 n=16 axi_bits=256 xm_banks=2 queue_ops=4", "k=32 n=16 axi_bits=64 am_bytes=8192",
          "k=8 n=8 axi_bits=64 vx_cycles=8", "k=8 n=32 axi_bits=64 vx_cycles=4", "k=16 n=16 vx_cycles=2 functions=0"]
FAST = ["k=64 n=64 axi_bits=512", "k=8 n=64 axi_bits=64 vx_cycles=4", "k=64 n=8 axi_bits=512 vx_cycles=8 functions=0"]


def params():
    """{name: (min, max)} of the parameters that the hardware knows, from the table."""
    rows = re.findall(r"^PARAM\((\w+)(?:, \d+){6}, (\d+), (\d+), 1,", open("isa/machine.def").read(), re.M)
    return {n: (int(lo), int(hi)) for n, lo, hi in rows}


def powers(lo, hi):
    return [1 << i for i in range(32) if lo <= 1 << i <= hi]


def k_n():
    p = params()
    return [f"k={k} n={n}" for k, n in itertools.product(powers(*p["k"]), powers(*p["n"]))]


def legal():
    return [f"{s} axi_bits={a}" for s in k_n() for a in powers(*params()["axi_bits"])]


def ends():
    return [f"{n}={v}" for n, both in params().items() if n not in ("k", "n", "axi_bits") for v in both]


def run(*args, **kw):
    p = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **kw)
    return p.returncode, p.stdout


def package(sets, edit=None, name=None):
    """Folder of the machine's hd_cfg_pkg.sv, or None and why the printer refuses it. Jobs run beside
    each other, so each has a folder of its own."""
    rc, text = run(GEN, "cfg-sv", "base", *sets.split())
    if rc:
        return None, text.strip()
    folder = f"{OUT}/{re.sub(r'[ =]', '_', name or sets)}"
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/hd_cfg_pkg.sv", "w") as f:
        f.write(re.sub(*edit, text) if edit else text)
    return folder, ""


def verilator(folder, top="hd_top"):
    rtl = re.findall(r"hd_\w+", re.search(r"addsuffix \.sv,(.*?)\)\)", open("hw/rules.mk").read(), re.S)[1])
    return run("verilator", "--lint-only", "-Wall", "--assert", "+define+HD_CHECKS", "hw/lint/heddle.vlt", "-Ihw/rtl", "--top-module",
               top, "build/gen/hd_isa_pkg.sv", "build/gen/hd_reg_pkg.sv", f"{folder}/hd_cfg_pkg.sv",
               *(f"hw/rtl/{m}.sv" for m in rtl))


def lint(sets):
    folder, why = package(sets)
    if not folder:
        return why
    rc, text = verilator(folder)
    return text if rc else ""


def refuse(build, sets):
    """One illegal value: compiler and printer must name it, and the RTL with that number in its package."""
    name, value = sets.split("=")
    rc, text = run(f"{build}/heddle", "machines", "--set", sets)
    if rc != 1 or name not in text:
        return f"heddle: exit {rc}, {text.strip()}"
    folder, why = package(sets)
    if folder or name not in why:
        return f"gen: {why or 'took it'}"
    camel = "".join(w.capitalize() for w in name.split("_"))
    folder, _ = package("", (rf"(int unsigned {camel} =) \d+;", rf"\1 {value};"), f"refuse {sets}")
    rc, text = verilator(folder)
    if "Internal Error" in text:  # Verilator gave up on the design before it came to the check
        rc, text = verilator(folder, "hd_cfg_check")
    return "" if rc and f"hd_cfg_pkg::{camel}: want" in text else f"rtl: exit {rc}, {text[:300]}"


def compare(build, sets, model, devices):
    flags = [a for s in sets.split() for a in ("--set", s)]
    rc, text = run(f"{build}/heddle", "compare", model, "--devices", devices, "--machine", "base", *flags)
    return text if rc else ""


@functools.cache
def cycles(build, model, sets):
    rc, text = run(f"{build}/heddle", "run", model, "--machine", "base", "--json", "-", *(("--set", sets) if sets else ()))
    return json.loads(text[text.index("{"):])["cycles"] if not rc else text


def more(build, name, model):
    base = int(re.search(rf"^PARAM\({name}, \d+, (\d+)", open("isa/machine.def").read(), re.M)[1])
    now, then = cycles(build, model, ""), cycles(build, model, f"{name}={2 * base}")
    bad = isinstance(now, str) or isinstance(then, str) or then > 1.005 * now
    return f"{now} cycles, {then} with twice of it" if bad else ""


def rtl(build, sets):
    path = f"{OUT}/{re.sub(r'[ =]', '_', sets)}.machine"
    with open(path, "w") as f:
        f.write("base = base\n" + "".join(s + "\n" for s in sets.split()))
    rc, text = run(f"{build}/test/cosim/cosim", "--machine", path, "--count", "50")
    return text if rc else compare(build, sets, "test/models/digits", "golden,iss,rtl")


def main():
    build, fast = sys.argv[1], "--fast" in sys.argv
    os.makedirs(OUT, exist_ok=True)
    p = params()
    bad = [f"{n}={v}" for n, (lo, hi) in p.items() for v in (lo // 2, lo * 2 + 1, hi * 2) if not lo <= v <= hi or v & (v - 1)]
    models = ["test/models/digits"] + ([RESNET8] if os.path.isdir(RESNET8) and not fast else [])
    jobs = [("lint", s, lambda s=s: lint(s)) for s in (FAST[::2] if fast else legal() + ends())]
    jobs += [("refuse", s, lambda s=s: refuse(build, s)) for s in (bad[:3] if fast else bad)]
    jobs += [("iss", f"{s} {m}", lambda s=s, m=m: compare(build, s, m, "golden,iss"))
             for s in (FAST if fast else k_n()) for m in models]
    nets = [m for m in (DSCNN, RESNET8, f"{SHARED}/mobilenet_v2_qdq_int8")[:1 if fast else 3] if os.path.isdir(m)]
    jobs += [("more", f"{name} {m}", lambda name=name, m=m: more(build, name, m))
             for m in nets for name in (LARGER[:1] if fast else LARGER)]
    if not fast:
        jobs += [("rtl", s, lambda s=s: rtl(build, s)) for s in SAMPLE]
    done, failed = {}, 0
    with ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        for (part, what, _), why in zip(jobs, pool.map(lambda j: j[2](), jobs)):
            done[part] = done.get(part, 0) + 1
            if why:
                failed += 1
                print(f"sweep: {part} {what}: {why}", flush=True)
    print("sweep: " + ", ".join(f"{n} {part}" for part, n in done.items()) + f"; {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

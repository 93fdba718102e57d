#!/usr/bin/env python3
"""Golden tests: an input file carries its own command and its own expected output.

    # RUN: heddle opt --pass fuse %s      command; %s is this file. Several RUN lines run in order.
    # NEEDS: ../shared/models/x        a path without which the test is skipped, with a line
    # EXIT: 1                          expected exit status (default 0)
    #= text                            expected stdout+stderr, exact, one line each

usage: golden.py [--bless] BIN_DIR FILE...    --bless rewrites the '#=' lines.
"""
import os, subprocess, sys
from concurrent.futures import ThreadPoolExecutor


SKIP = "skipped, there is no "


def run(path, env, bless):
    lines = open(path).read().splitlines()
    cmds = [l[7:].strip() for l in lines if l.startswith("# RUN: ")]
    want_rc = int(next((l[8:] for l in lines if l.startswith("# EXIT: ")), "0"))
    want = [l[2:].removeprefix(" ") for l in lines if l.startswith("#=")]
    missing = [l[9:].strip() for l in lines if l.startswith("# NEEDS: ") and not os.path.exists(l[9:].strip())]
    if missing:
        return path, SKIP + missing[0]
    if not cmds:
        return path, f"no '# RUN:' line"
    p = subprocess.run(" && ".join(cmds).replace("%s", path), shell=True, env=env, text=True,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    got = p.stdout.splitlines()
    if p.returncode != want_rc:
        return path, f"exit {p.returncode}, want {want_rc}\n{p.stdout}"
    if got == want:
        return path, None
    if bless:
        body = [l for l in lines if not l.startswith("#=")]
        open(path, "w").write("\n".join(body + ["#= " + g if g else "#=" for g in got]) + "\n")
        return path, None
    import difflib
    return path, "\n".join(difflib.unified_diff(want, got, "expected", "got", lineterm=""))


def main(argv):
    bless = "--bless" in argv
    bindir, *files = [a for a in argv if a != "--bless"]
    env = dict(os.environ, PATH=bindir + ":" + os.environ["PATH"])
    bad = skipped = 0
    with ThreadPoolExecutor() as pool:
        for path, why in pool.map(lambda f: run(f, env, bless), files):
            if why and why.startswith(SKIP):
                skipped += 1
                print(f"  {path}: {why}")
            elif why:
                bad += 1
                print(f"FAIL {path}\n{why}")
    print(f"golden: {len(files) - bad - skipped}/{len(files)} passed" + (f", {skipped} skipped" if skipped else ""))
    return bad != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

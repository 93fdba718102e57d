#!/usr/bin/env python3
"""heddle explore against an exhaustive search, its bounds, its journal after a kill, and the files it writes.

usage: explore_test.py HEDDLE WORK_DIR [--long]

The space is small (--long: 2,048 machines and ResNet-8, too). Prints what was compared; exit 1 at the first difference.
"""
import csv, json, os, random, re, shutil, signal, subprocess, sys, tempfile, time

HEDDLE, WORK, LONG = sys.argv[1], sys.argv[2], "--long" in sys.argv
BOUND = "../shared/models/mlperf_ad_autoencoder_int8_qdq"  # by the port: bounds are close
NETS = [BOUND if os.path.exists(BOUND) else "test/models/digits"]
SMALL = {"k": "8,16,32", "n": "8,16,32", "xm_bytes": "32768,131072", "axi_bits": "64,128", "wm_bytes": "32768,262144", "vx_cycles": "1,2", "cores": "1,2,3"}
LARGE = {"k": "8,16,32,64", "n": "8,16,32,64", "xm_bytes": "32768,65536,131072,262144", "axi_bits": "64,128,256,512",
         "wm_bytes": "65536,131072,262144,524288", "vx_cycles": "1", "cores": "1,4"}
REST = {"am_bytes": "131072", "pm_bytes": "32768", "functions": "1"}
ALONE = 8  # machines that are priced once more, each by a process of its own
REMOVED = 200  # points that bounds removed, priced after all


def fail(text):
    sys.exit(f"explore_test.py: {text}")


def run(*args, code=0):
    p = subprocess.run([HEDDLE, *args], capture_output=True, text=True, timeout=3000)
    if p.returncode != code:
        fail(f"{' '.join(args)}: exit {p.returncode}\n{p.stdout}{p.stderr}")
    return p


def sets(space):
    return [a for k, v in {**REST, **space}.items() for a in ("--set", f"{k}={v}")]


def explore(folder, space, *more):
    run("explore", *NETS, *sets(space), "-o", folder, "--confirm", "none", "--limit", "machines=100000", *more)
    return json.load(open(f"{folder}/front.json"))


def exhaustive(space, folder):
    """Every machine priced, and those that no other beats, by another program: this one."""
    run("sweep", *NETS, *sets(space), "-o", folder, "--csv", f"{folder}.csv")
    rows = [{k: v for k, v in r.items()} for r in csv.DictReader(open(f"{folder}.csv"))]
    ok = [r for r in rows if not r["why_not"]]
    cost = {(float(r["fps"]), float(r["lut"])) for r in ok}
    front = {c for c in cost if not any(d[0] >= c[0] and d[1] <= c[1] and d != c for d in cost)}
    return rows, front


def values(answer):
    return {(float(f"{p['fps']:.6g}"), p["lut"]) for p in answer["points"]}


def check_exhaustive(space):
    answer = explore(f"{WORK}/all", space)
    rows, front = exhaustive(space, f"{WORK}/sweep")
    if values(answer) != front:
        fail(f"front {sorted(values(answer))} is not the exhaustive one {sorted(front)}")
    cores = len(space["cores"].split(","))  # of one price
    if answer["candidates"] * cores != len(rows):
        fail(f"{answer['candidates']} candidates with {cores} numbers of cores, {len(rows)} rows of the sweep")
    print(f"  front of {len(front)} of {len(rows)} machines as by exhaustive search; {answer['priced']} were priced, "
          f"{answer['beaten_by_bounds']} removed by bounds")
    return answer, rows, front


def priced_keys(priced):
    return {p.split("=")[0] for p in next(iter(priced)).split()}


def check_removed(answer, rows, front):
    """What bounds removed is no better than the front, priced after all."""
    priced = {json.loads(l)["machine"] for l in open(f"{WORK}/all/journal.jsonl").readlines()[1:]}
    params = [k for k in rows[0] if k in priced_keys(priced)]
    text = lambda r: " ".join(f"{k}={1 if k == 'cores' else r[k]}" for k in params)
    removed = [r for r in rows if text(r) not in priced and not r["why_not"]]
    random.Random(1).shuffle(removed)
    for r in removed[:REMOVED]:
        if (float(r["fps"]), float(r["lut"])) in front:
            fail(f"a bound removed a machine of the front: {r}")
    print(f"  none of {len(removed[:REMOVED])} machines that bounds removed is on the front")


def check_kept(rows):
    """Prices that a search keeps for other machines are those of machines that are priced alone."""
    few = random.Random(2).sample([r for r in rows if not r["why_not"]], ALONE)
    for r in few:
        one = [a for k in {**SMALL, **REST} for a in ("--set", f"{k}={r[k]}")]
        run("sweep", *NETS, *one, "-o", f"{WORK}/one", "--csv", f"{WORK}/one.csv", "-j", "1")
        shutil.rmtree(f"{WORK}/one")
        alone = list(csv.DictReader(open(f"{WORK}/one.csv")))[0]
        if {k: v for k, v in alone.items() if k != "front"} != {k: v for k, v in r.items() if k != "front"}:
            fail(f"priced alone {alone}, among others {r}")
    print(f"  {ALONE} machines have the same prices alone and among others")


def check_clocks():
    """The clock is in no price of the machine: the second machine of two finds all of the first one's, and the same plan."""
    one = {**REST, "k": "8", "n": "64", "xm_bytes": "32768", "wm_bytes": "524288", "axi_bits": "256", "vx_cycles": "1", "clock_mhz": "200,250"}
    run("sweep", *NETS, *(a for k, v in one.items() for a in ("--set", f"{k}={v}")), "-o", f"{WORK}/clocks", "--csv", f"{WORK}/clocks.csv", "-j", "1")
    cycles = [tuple(v for k, v in r.items() if k.endswith(" cycles")) for r in csv.DictReader(open(f"{WORK}/clocks.csv"))]
    if len(cycles) != 2 or cycles[0] != cycles[1]:
        fail(f"one machine at two clocks: {cycles}")
    print("  one machine at two clocks: the same cycles")


def check_kill(space, answer):
    """Killed in the second round, so that the journal has machines that the first does not look at."""
    folder = f"{WORK}/killed"
    args = [HEDDLE, "explore", *NETS, *sets(space), "-o", folder, "--confirm", "none", "--limit", "machines=100000"]
    p = subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    lines = lambda: len(open(f"{folder}/journal.jsonl").readlines()) if os.path.exists(f"{folder}/journal.jsonl") else 0
    until = time.time() + 300
    while lines() < 40 and p.poll() is None and time.time() < until:
        time.sleep(0.02)
    p.send_signal(signal.SIGKILL)
    p.wait()
    with open(f"{folder}/journal.jsonl", "a") as f:
        f.write('{"machine": "k=8 n=')  # a line that the kill has cut
    kept = lines()
    if kept < 34:
        fail(f"the search was over after {kept} lines of the journal")
    again = explore(folder, space)
    if again["points"] != answer["points"]:
        fail("after kill -9 the front is another one")
    print(f"  killed after {kept} lines of the journal: the same front")


def check_cores():
    """A port of 512 bits asks for 16 GB/s at 253 MHz; the host does its part of one run at a time."""
    machine = ("k=16", "n=16", "xm_bytes=65536", "wm_bytes=65536", "am_bytes=32768", "pm_bytes=16384", "vx_cycles=1", "functions=0",
               "axi_bits=512", "cores=1,2,4,8,16")
    for board, most in (["--board", "kv260"], 1), (["--board", "u250"], 4), ([], 16):
        run("explore", "test/models/digits", *board, *(a for m in machine for a in ("--set", m)), "-o", f"{WORK}/cores{most}", "--confirm", "none")
        points = json.load(open(f"{WORK}/cores{most}/front.json"))["points"]
        got = max(p["cores"] for p in points)
        if got != most:
            fail(f"{board}: up to {got} cores, want {most}")
    by_host = False
    for p in points:
        machine_ms, host_ms = p["ms"] / p["cores"], p["networks"][0]["host_ms"]
        by_host = by_host or host_ms > machine_ms
        if abs(p["fps"] * max(machine_ms, host_ms) / 1e3 - 1) > 1e-6:
            fail(f"{p['fps']} fps of {p['cores']} cores: {machine_ms} ms of the machine, {host_ms} of the host")
    if not by_host:
        fail("16 cores wait for no host")
    print("  cores: as many as the board's memory serves, runs a second as the host allows")


def check_files(answer):
    folder = f"{WORK}/all"
    first = answer["points"][0]
    facts = f"{WORK}/facts.json"
    run("run", NETS[0], "--machine", f"{folder}/front-1.machine", "--device", "iss", "--json", facts)
    facts = json.load(open(facts))
    error = first["networks"][0]["cycles"] / facts["cycles"] - 1
    if abs(error) > 0.1:
        fail(f"estimate {first['networks'][0]['cycles']}, iss {facts['cycles']}")
    page = open(f"{folder}/front.html").read()
    if re.search(r"https?://(?!www\.w3\.org/)", page):
        fail("the page refers to a network")
    wrong = run("explore", NETS[0], "--board", "nosuch", "-o", f"{WORK}/x", code=1)
    if "kv260" not in wrong.stderr:
        fail("an unknown board is refused without the list of boards")
    run("explore", "test/models/digits", "--set", "k=8", "-o", f"{WORK}/x", "--limit", "fish=3", code=1)
    for weight in "0", "nan", "inf":
        wrong = run("explore", f"{weight}*test/models/digits", "--set", "k=8", "-o", f"{WORK}/x", code=1)
        if f"the weight is '{weight}'" not in wrong.stderr:
            fail(f"weight {weight}: {wrong.stderr}")
    none = run("explore", "test/models/digits", "--set", "k=8", "-o", f"{WORK}/x", "--limit", "fps=1e12")
    if "no machine keeps all limits" not in none.stdout:
        fail(f"an empty front has no advice: {none.stdout}")
    print(f"  the first machine of the front loads; estimate {100 * error:+.1f} % of the ISS")


def look(browser, page, *flags):
    """Numbers that the page in headless Chromium leaves in its body; fails where its console says anything."""
    with tempfile.TemporaryDirectory() as home:
        p = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={home}", *flags,
                            "--enable-logging=stderr", "--virtual-time-budget=2000", "--dump-dom", "file://" + page],
                           capture_output=True, text=True, errors="replace", timeout=300)
    said = [l for l in p.stderr.splitlines() if "CONSOLE" in l]
    body = re.search(r"<body[^>]*>", p.stdout)
    if said or not body:
        fail(f"the page: console {said[:1]}")
    return dict(re.findall(r'data-([a-z-]+)="(\d+)"', body.group(0)))


def check_page(space):
    """In headless Chromium, where there is one: nothing failed, every point drawn, a click shows layers; by night dark."""
    folder, browser = f"{WORK}/all", shutil.which("chromium")
    run("explore", *NETS, *sets(space), "-o", folder, "--limit", "machines=100000")
    answer = json.load(open(f"{folder}/front.json"))
    off = max(abs(n["cycles"] / n["confirmed_cycles"] - 1) for p in answer["points"] for n in p["networks"])
    print(f"  the front runs on the ISS; the estimate is at most {100 * off:.1f} % off")
    if not browser:
        print("  the page was not looked at: there is no chromium")
        return
    text = open(f"{folder}/front.html").read()
    script = 'document.querySelectorAll(\'circle.point[r="5"]\')[0].dispatchEvent(new Event("click"));' \
             'HTMLAnchorElement.prototype.click = () => {}; document.querySelector(".save").click();' \
             'document.body.dataset.swatches = document.querySelectorAll(".legend i").length;' \
             'document.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight"}));' \
             'document.body.dataset.paper = getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0];'
    page = os.path.abspath(f"{WORK}/click.html")
    open(page, "w").write(text.replace("</body>", f"<script>{script}</script></body>"))
    got, dark = look(browser, page), look(browser, page, "--blink-settings=preferredColorScheme=0")
    drawn = "<script>/*\nD3." in text
    for seen in (got, dark) if drawn else ():
        if seen.get("errors") or int(seen.get("points", 0)) < 2 or int(seen.get("layers", 0)) < 12:
            fail(f"the page: {seen}")
    if not int(dark["paper"]) < 64 < 192 < int(got["paper"]):
        fail(f"the page is as light by night: {got['paper']}, {dark['paper']}")
    if drawn and int(got.get("saved", 0)) < 1000 or int(got.get("swatches", 0)) < 3:
        fail(f"no picture to save, or no legend: {got}")
    script = 'document.querySelector("tbody tr").dispatchEvent(new Event("click"));'
    open(page, "w").write(re.sub(r"<script>/\*\nD3\..*?</script>", "", text, flags=re.S).replace("</body>", f"<script>{script}</script></body>"))
    plain = look(browser, page)
    if plain.get("errors") or int(plain["front"]) != len(answer["points"]) or int(plain.get("layers", 0)) < 12 or "points" in plain:
        fail(f"the page without D3: {plain}")
    print(f"  the page: {got.get('points', 'no')} points, {plain['layers']} rows behind a click, nothing in the console; dark by night")


def check_diff_page():
    """Two runs beside each other: bars of every layer, a click shows facts; keys, a file; of two machines a table."""
    for m in ("tiny", "base"):
        run("run", NETS[0], "--machine", m, "--json", f"{WORK}/{m}.json")
    run("diff", f"{WORK}/tiny.json", f"{WORK}/base.json", "--report", f"{WORK}/diff.html")
    run("diff", "tiny", "base", "--report", f"{WORK}/machines.html")
    browser = shutil.which("chromium")
    if not browser:
        return
    script = 'document.querySelectorAll("rect.layer")[1].dispatchEvent(new Event("click"));' \
             'const first = about.querySelector("h2").textContent;' \
             'document.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight"}));' \
             'document.body.dataset.went = +(about.querySelector("h2").textContent !== first);' \
             'HTMLAnchorElement.prototype.click = () => {}; document.querySelector(".save").click();' \
             'document.body.dataset.high = Math.round(document.querySelector("rect.layer").getBoundingClientRect().height);' \
             'document.body.dataset.swatches = document.querySelectorAll(".legend i").length;'
    page = os.path.abspath(f"{WORK}/diff_click.html")
    open(page, "w").write(open(f"{WORK}/diff.html").read().replace("</body>", f"<script>{script}</script></body>"))
    layers = len(json.load(open(f"{WORK}/tiny.json"))["layers"])
    got, machines = look(browser, page), look(browser, os.path.abspath(f"{WORK}/machines.html"))
    if got.get("errors") or int(got["bars"]) < 2 * layers or got.get("facts") != "6" or got.get("went") != "1" or \
            int(got["saved"]) < 1000 or got["swatches"] != "3" or int(got["high"]) < 100 or int(machines["rows"]) < 5 or machines.get("errors"):
        fail(f"the page of differences, {layers} layers: {got}, {machines}")
    print(f"  the page of differences: {got['bars']} bars, {got['facts']} facts behind a click, keys, a picture to save")


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(WORK)
    if LONG:
        NETS.append("../shared/models/mlperf_ic_resnet8_int8_qdq")
    space = LARGE if LONG else SMALL
    answer, rows, front = check_exhaustive(space)
    check_removed(answer, rows, front)
    check_kept(rows)
    check_clocks()
    check_kill(space, answer)
    check_files(answer)
    check_cores()
    check_page(space)
    check_diff_page()


if __name__ == "__main__":
    main()

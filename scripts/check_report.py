#!/usr/bin/env python3
"""Looks at the pages that --report writes, in headless Chromium: no error in the console, no request to a
network, no empty picture, a click chooses a layer, every picture can be saved; a page stays under 5 MB, and has tables
when it was made without D3. Without Chromium only the size is checked, and a line
says so.

usage: check_report.py HEDDLE [MODEL...] [--picture OUT.png]     the digits network always, and the MODELs
"""
import os, re, shutil, struct, subprocess, sys, tempfile, zlib

MOST_BYTES = 5_000_000
D3, TABLES = "<script>/*\nD3.", ("layers", "code")
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
         "--enable-logging=stderr", "--v=0", "--virtual-time-budget=10000", "--window-size=1320,1600",
         "--host-resolver-rules=MAP * ~NOTFOUND"]


def fail(why):
    sys.exit(f"check_report: {why}")


def chromium(*args):
    with tempfile.TemporaryDirectory() as home:
        p = subprocess.run([BROWSER, *FLAGS, f"--user-data-dir={home}", *args], capture_output=True, text=True,
                           errors="replace", timeout=120)
    said = [l for l in p.stderr.splitlines() if "CONSOLE" in l]
    if said:
        fail(f"{args[-1]}: the console says: {said[0]}")
    return p.stdout


def is_blank(png):
    """Of a PNG of 8-bit channels: every pixel is the same."""
    at, data, width, channels = 8, b"", 0, 3
    while at < len(png):
        n, kind = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + n]
        if kind == b"IHDR":
            width, channels = struct.unpack(">I", body[:4])[0], {2: 3, 6: 4}[body[9]]
        if kind == b"IDAT":
            data += body
        at += 12 + n
    raw = zlib.decompress(data)
    return len(set(raw)) < 8 or len(raw) < width * channels


def look(page, want, picture):
    if os.path.getsize(page) > MOST_BYTES:
        fail(f"{page}: {os.path.getsize(page)} bytes, at most {MOST_BYTES}")
    text = open(page).read()
    outside = re.findall(r"""(?:src|href)\s*=\s*["'](?!data:|#)[^"']*|@import|url\((?!data:)""", text)
    if outside:
        fail(f"{page}: reaches out of itself: {outside[0]}")
    if D3 not in text:
        want = {k: v for k, v in want.items() if k in TABLES}
    if not BROWSER:
        return "not looked at: there is no chromium"
    body = re.search(r"<body[^>]*>", chromium("--dump-dom", "file://" + page))
    got = dict(re.findall(r'data-([a-z-]+)="(\d+)"', body.group(0) if body else ""))
    if got.get("ready") != "1" or got.get("errors") != "0":
        fail(f"{page}: the script did not end well: {got}")
    empty = [k for k in want if int(got.get(k, 0)) < want[k]]
    if empty:
        fail(f"{page}: {empty[0]}: {got.get(empty[0], 0)} drawn, want {want[empty[0]]}; {got}")
    shot = picture or page + ".png"
    chromium("--screenshot=" + shot, "file://" + page)
    if is_blank(open(shot, "rb").read()):
        fail(f"{page}: the picture of it is blank")
    return ", ".join(f"{k} {got[k]}" for k in want)


# Counts what the buttons save, and what a click on the roofline chooses.
CLICKS = """
let saved = 0, least = 1e9;
HTMLAnchorElement.prototype.click = () => { saved++; least = Math.min(least, document.body.dataset.saved); };
document.querySelectorAll('.save').forEach(b => b.click());
document.querySelector('#roofline circle').dispatchEvent(new Event('click'));
Object.assign(document.body.dataset, { saves: saved, savedLeast: least, chosenRows: document.querySelectorAll('tr.chosen').length,
  ticks: [...document.querySelectorAll('.axis text')].filter(t => t.textContent).length,
  legends: [...document.querySelectorAll('.legend')].filter(l => l.children.length).length });
"""


def changed(page, change):
    """Another page beside it."""
    out = page.replace(".html", ".changed.html")
    open(out, "w").write(change(open(page).read()))
    return out


def clicks(page):
    if D3 not in open(page).read():
        return "no D3, no pictures"
    want = {"saves": 4, "saved-least": 1000, "chosen-rows": 1, "ticks": 12, "legends": 5}
    return look(changed(page, lambda text: text.replace("</body>", f"<script>{CLICKS}</script></body>")), want, None)


def without_d3(page, want):
    cut = lambda text: re.sub(r"<script>/\*\nD3\..*?</script>", "", text, flags=re.S)
    if cut(open(page).read()) == open(page).read():
        return "was made without D3"
    return look(changed(page, cut), want, None)


def main(args):
    picture = None
    if "--picture" in args:
        at = args.index("--picture")
        picture = os.path.abspath(args[at + 1])
        del args[at:at + 2]
    heddle, *models = args
    with tempfile.TemporaryDirectory() as folder:
        page = os.path.join(folder, "report.html")
        for model in ["test/models/digits", *models]:
            subprocess.run([heddle, "run", model, "--report", page], check=True, stdout=subprocess.DEVNULL)
            want = {"roofline": 7, "layers": 7, "timeline": 30, "timeline-pixels": 500, "xm": 2, "arena": 1, "code": 7, "pictures": 3}
            seen = look(page, want, picture if model == args[-1] else None)
            print(f"report of {os.path.basename(model)}: {os.path.getsize(page)} bytes; {seen}", flush=True)
            if model.startswith("test/"):
                print(f"  {clicks(page)}\n  tables alone: {without_d3(page, {'layers': 7, 'code': 7})}")
        subprocess.run([heddle, "bench", "compare", "test/models/digits", "--devices", "golden,iss", "--report", page],
                       check=True, stdout=subprocess.DEVNULL)
        print(f"report of bench compare: {os.path.getsize(page)} bytes; {look(page, {'compare': 2, 'pictures': 1}, None)}")


BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
main(sys.argv[1:])

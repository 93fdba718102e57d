#!/usr/bin/env python3
"""README.md and docs/ keep the rules of docs/style.md that a program can check:

  lines have at most 100 columns, sentences at most 40 words;
  links between pages lead to a page and a heading that are there;
  files, folders and make targets that a page names in backticks are there;
  so are commands and options of heddle, in backticks and in code;
  the lines that a block of ```diff adds stand in the file that it names.

docs/isa.md is printed from tables and full of formulas, so its sentences are not counted; nor are
the columns of what a program printed, which stands in a block of ```text. Pages in docs/decisions
say what was true on their date, so files that they name may have gone.

  check_docs.py          prints one line per fault, exit 1 if there is any
  check_docs.py --test   tests the checker itself
"""
import glob
import os
import re
import sys

COLUMNS, WORDS = 100, 40
GENERATED = {"docs/isa.md"}
FENCE = re.compile(r"\s*(```|<!-- stage|<!-- end)")
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
PATH = re.compile(r"`([a-z_0-9]+(?:/[A-Za-z0-9_.*-]+)+/?)`")
HEDDLE = re.compile(r"\bheddle ([a-z][a-z-]*)(.*)")
OPTION = re.compile(r"--([a-z][a-z-]+)")
MAKE = re.compile(r"\bmake ([a-z][a-z0-9-]*)(?=[ `,.;:)]|$)")


def split(text):
    """(number, line, what) of every line; what: False is prose, else "code", or "text"."""
    out, fence = [], ""
    for number, line in enumerate(text.splitlines(), 1):
        edge = line.lstrip().startswith("```")
        out.append((number, line, fence or (edge or line.startswith("    ")) and "code"))
        if edge:
            fence = "" if fence else line.strip()[3:] or "code"
    return out


def blocks(text):
    """(number, text) of every heading, paragraph, list item and table cell outside code."""
    number, words = 0, []
    for i, line, code in split(text):
        bare = line.strip()
        starts = re.match(r"([-*+]|\d+\.|#+|>)\s", bare)
        if code or not bare or starts or bare.startswith(("|", "<!--", "![")):
            if words:
                yield number, " ".join(words)
            words = []
        if code or not bare or bare.startswith("<!--"):
            continue
        if bare.startswith("|"):
            for cell in bare.strip("|").split(" | "):
                yield i, cell
            continue
        if not words:
            number = i
        words.append(bare[starts.end():] if starts else bare)
    if words:
        yield number, " ".join(words)


def long_sentences(text):
    for number, block in blocks(text):
        plain = re.sub(r"`[^`]*`", "Code", block)
        plain = re.sub(r"Code(,? Code)+", "Code", plain)  # a list of names is one thing
        plain = re.sub(r"\]\([^)]*\)", "]", plain)
        for sentence in re.split(r"(?<=[.!?])[)\"*_]*\s+(?=[^a-z])", plain):
            n = len([w for w in sentence.split() if re.search(r"\w", w)])
            if n > WORDS:
                yield number, n, sentence[:50]


def anchors(text):
    found = set()
    for _, line, code in split(text):
        if not code and line.startswith("#"):
            title = re.sub(r"[`*]", "", line.lstrip("#").strip()).lower()
            found.add(re.sub(r"[^\w\- ]", "", title).replace(" ", "-"))
    return found


def bad_links(page, text, read):
    for number, line, code in split(text):
        for target in LINK.findall("" if code else line):
            if re.match(r"[a-z]+:", target):
                continue
            file, _, anchor = target.partition("#")
            path = os.path.normpath(os.path.join(os.path.dirname(page), file)) if file else page
            if not os.path.exists(path):
                yield number, f"link to {target}: there is no {path}"
            elif anchor and anchor not in anchors(read(path)):
                yield number, f"link to {target}: {path} has no such heading"


def targets():
    found = set()
    for name in ["Makefile"] + glob.glob("mk/*.mk") + glob.glob("*/rules.mk") + \
            glob.glob("*/*/rules.mk"):
        with open(name) as f:
            for line in f:
                m = re.match(r"([a-z][a-z0-9 -]*):(?!=)", line)
                found.update(m.group(1).split() if m else [])
                m = re.match(r"\.PHONY:(.*)", line)
                found.update(m.group(1).split() if m else [])
    return found


def commands():
    """Names of commands, and of options, by the tables that the program prints its help from."""
    words = []
    for name, row in (("commands", r'COMMAND\("([a-z-]+)"'),
                      ("options", r'OPTION\(\w+, "([a-z-]+)"')):
        with open(f"compiler/cli/{name}.def") as f:
            words.append(set(re.findall(row, f.read())))
    return words[0], words[1] | {"help", "version"}


def unknown_words(number, text, known):
    for command, rest in HEDDLE.findall(text):
        if command not in known[0]:
            yield number, f"there is no command heddle {command}"
        for option in OPTION.findall(rest):
            if option not in known[1]:
                yield number, f"heddle has no option --{option}"


def gone(text, known):
    top = {d for d in os.listdir(".") if os.path.isdir(d)} - {"build"}
    for number, line, code in split(text):
        for path in PATH.findall(line):
            variable = re.search("[A-Z]{3}|_X", path)
            if path.split("/")[0] in top and not variable and not glob.glob(path):
                yield number, f"there is no {path}"
        for span in [line] if code else re.findall(r"`([^`]*)`", line):
            for name in MAKE.findall(span):
                if name not in known["make"]:
                    yield number, f"there is no make target {name}"
            if code != "text":
                yield from unknown_words(number, span, known["heddle"])


def stale_diffs(text, read):
    name = ""
    for number, line, code in split(text):
        if code == "diff" and line.startswith("+++ b/"):
            name = line[6:].strip()
            if not os.path.exists(name):
                yield number, f"there is no {name}"
        elif code == "diff" and line.startswith("+") and os.path.exists(name) and \
                line[1:] not in read(name).splitlines():
            yield number, f"not in {name}: {line[1:].strip()}"


def faults(page, text, known, read):
    yield from stale_diffs(text, read)
    for number, line, code in split(text):
        if len(line) > COLUMNS and code != "text":
            yield number, f"{len(line)} columns, at most {COLUMNS}: break the line"
    if page not in GENERATED:
        for number, n, start in long_sentences(text):
            yield number, f"{n} words in a sentence, at most {WORDS}: split it ({start}...)"
    yield from bad_links(page, text, read)
    if "/decisions/" not in page:
        yield from gone(text, known)


def read_file(path):
    with open(path) as f:
        return f.read()


def test():
    known = {"make": {"all"}, "heddle": ({"run"}, {"device"})}

    def messages(text, page="docs/x.md"):
        return [m for _, m in faults(page, text, known, read_file)]

    long = " ".join(["word"] * 41) + "."
    wrapped = long.replace(" word", "\nword")
    assert len(messages("x" * 101)) == 1 and not messages("x" * 100)
    assert len(messages(wrapped)) == 1
    assert not messages(wrapped.replace("word\nword\n", "word. Word\n", 1))
    assert len(messages("```\n" + "x" * 101 + "\n```")) == 1
    assert not messages("```text\n" + "x" * 101 + "\n```")
    assert not messages("    " + wrapped.replace("\n", "\n    "))
    assert len(messages("| a | " + "b " * 41 + "|")) == 1
    assert len(messages("- " + wrapped)) == 1 and not messages("`a` " * 20 + "\n`b`" * 30 + ".")
    assert len(messages("see [x](no.md)")) == 1 and not messages("[x](style.md)")
    assert len(messages("[x](style.md#nothing)")) == 1 and not messages("[x](style.md#words)")
    assert len(messages("`hw/none.sv`")) == 1 and not messages("`hw/rtl`, `isa/*.def`")
    assert not messages("`hw/none.sv`", "docs/decisions/x.md")
    assert len(messages("`make nothing`")) == 1 and not messages("`make all`")
    assert len(messages("`heddle walk`")) == 1 and not messages("`heddle run --device iss`")
    assert len(messages("    heddle run M --devise iss")) == 1
    diff = "```diff\n+++ b/docs/style.md\n+# House style\n+no such line\n```"
    assert len(messages(diff)) == 1 and len(messages(diff.replace("style", "none", 1))) == 1
    print("check_docs: tests of the checker pass")


def main():
    if sys.argv[1:] == ["--test"]:
        return test()
    known, bad = {"make": targets(), "heddle": commands()}, 0
    for page in ["README.md"] + sorted(glob.glob("docs/**/*.md", recursive=True)):
        for number, message in faults(page, read_file(page), known, read_file):
            print(f"{page}:{number}: {message}")
            bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Sizes that a reader can hold: check_size.py LIST FILE...

A C function has at most 60 lines, a struct or union at most 40 names (those of structs inside it
counted), a file at most 600 lines. C is read as clang-format leaves it: the line that a function or
struct begins with starts in the first column, and so does its closing brace.

LIST (test/size.txt) names what is allowed to be larger: a path, then the name of the function or
struct, or `file`. Entries lie only in the folders of its `only` line. An entry that is not needed is
an error, so that the list can only become shorter.
"""
import re
import sys

FUNCTION_LINES, STRUCT_NAMES, FILE_LINES = 60, 40, 600


def blank(text):
    """The text with spaces for comments, strings and preprocessor lines; lines stay in place."""
    def spaces(m):
        return re.sub(r"[^\n]", " ", m.group(0))
    text = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', spaces, text,
                  flags=re.S)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", spaces, text, flags=re.M)


def closing(text, at):
    """Where the brace closes that opens at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == "{") - (text[i] == "}")
        if depth == 0:
            return i
    return len(text)


def names_of(body):
    """Names that the body of a struct declares."""
    n, statement, i = 0, "", 0
    while i < len(body):
        if body[i] == "{":
            end = closing(body, i)
            inside = re.search(r"\b(struct|union)\b[^;]*$", statement)
            n += names_of(body[i + 1:end]) if inside else 0
            statement, i = "inner ", end
        elif body[i] == ";":
            plain = re.sub(r"\([^()]*\)", " ", re.sub(r"\(\s*\*[^()]*\)", " f ", statement))
            words = re.findall(r"\w+", re.sub(r"\[[^]]*\]|:\s*\w+", " ", plain))
            n += 1 + plain.count(",") if words and words != ["inner"] else 0
            statement = ""
        else:
            statement += body[i]
        i += 1
    return n


def of_c(text):
    """What a C file has too much of: name, what, got, allowed."""
    text = blank(text)
    for m in re.finditer(r"^(?:typedef )?(?:struct|union)\s+(\w*)[^;{}()=]*\{", text, flags=re.M):
        n = names_of(text[m.end():closing(text, m.end() - 1)])
        if n > STRUCT_NAMES:
            yield m.group(1), "names in a struct", n, STRUCT_NAMES
    for m in re.finditer(r"^[A-Za-z_][^;{}=]*?(\w+)\s*\([^;{}]*\)[^;{}=]*\{$", text, flags=re.M):
        n = text.count("\n", m.start(), closing(text, m.end() - 1)) + 1
        if n > FUNCTION_LINES:
            yield m.group(1), "lines in a function", n, FUNCTION_LINES


def of_file(path):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    lines = text.count("\n")
    if lines > FILE_LINES:
        yield "file", "lines", lines, FILE_LINES
    if path.endswith((".c", ".h")):
        yield from of_c(text)


def main(list_path, paths):
    only, allowed, bad = [], set(), 0
    for line in open(list_path, encoding="utf-8"):
        words = line.split("#")[0].split()
        if words and words[0] == "only:":
            only = words[1:]
        elif words:
            allowed.add(tuple(words))
    for path, name in sorted(allowed):
        if not path.startswith(tuple(f + "/" for f in only)):
            print(f"{list_path}: {path} {name}: entries lie in {', '.join(only) or 'no folder'}")
            bad += 1
    found = [(path, *x) for path in paths for x in of_file(path)]
    for path, name, what, got, most in found:
        if (path, name) not in allowed:
            print(f"{path}: {name}: {got} {what}, at most {most}: split it")
            bad += 1
    for path, name in sorted(allowed - {x[:2] for x in found}):
        print(f"{list_path}: {path} {name}: within the limits now, remove the line")
        bad += 1
    sys.exit(bad > 0)


def self_test():
    """Texts that are just within the limits, and just beyond."""
    def struct(n, inner):
        return ("struct a {\n    struct {\n        int (*f)(int, int), g[2][3];\n" + "        int b;\n" * inner
                + "    } in;\n" + "    char *x : 3; /* int y; */\n" * (n - inner - 3) + "};\n")

    def function(n):
        return "static int f(int a,\n             int b) {\n" + "    g(\"}\"); // {\n" * (n - 3) + "}\n"
    for text, want in [(struct(40, 10), []), (struct(41, 10), ["a"]), (function(60), []),
                       (function(61), ["f"]), ("int t[] = {\n" + "    1,\n" * 99 + "};\n", [])]:
        got = [x[0] for x in of_c(text)]
        assert got == want, (got, want, text)


if __name__ == "__main__":
    if sys.argv[1:] == ["--test"]:
        self_test()
    else:
        main(sys.argv[1], sys.argv[2:])

#!/usr/bin/env python3
"""Sizes that a reader can hold.

  check_size.py FILE...
  check_size.py --together LIMIT FILE...

A C function has at most 60 lines, a struct or union at most 40 names (those of structs inside it
counted), a file at most 600 lines. C is read as clang-format leaves it: the line that a function or
struct begins with starts in the first column, and so does its closing brace.

--together: all files have at most LIMIT lines of code; a line of comment, or a blank one, is none.
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


def code_lines(text):
    """Lines on which something else stands than a comment."""
    text = re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"',
                  lambda m: '""' if m.group(0)[0] == '"' else re.sub(r"[^\n]", " ", m.group(0)),
                  text, flags=re.S)
    return sum(1 for line in text.split("\n") if line.strip())


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


def main(paths):
    bad = [(path, *x) for path in paths for x in of_file(path)]
    for path, name, what, got, most in bad:
        print(f"{path}: {name}: {got} {what}, at most {most}: split it")
    sys.exit(len(bad) > 0)


def together(limit, paths):
    lines = 0
    for path in paths:
        with open(path, encoding="utf-8") as f:
            lines += code_lines(f.read())
    if lines > limit:
        print(f"{paths[0]} and {len(paths) - 1} files more: {lines} lines of code, at most {limit}: "
              "take away as much as you add")
    sys.exit(lines > limit)


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
    assert code_lines('#define A \\\n    "/*"\n/* a\n b */ int x;\n\n/* c */\n') == 3


if __name__ == "__main__":
    if sys.argv[1:] == ["--test"]:
        self_test()
    elif sys.argv[1:2] == ["--together"]:
        together(int(sys.argv[2]), sys.argv[3:])
    else:
        main(sys.argv[1:])

"""Random mutations of SystemVerilog as hw/rtl writes it: operators, constants, conditions, resets, enables.

What is mutated is an expression that a simulator can compute at any time: the right side of an assignment, the
condition of an `if` of a process, the connection of a port. So `active ? new : old` stands for it, and one model holds
all mutations. Parameters, ranges, sizes of casts, and text under `ifdef stay as they are.
"""
import collections
import random
import re

Mutation = collections.namedtuple("Mutation", "file begin end old new line what")  # text[begin:end] is an expression

SWAPS = [("&&", "||"), ("||", "&&"), ("==", "!="), ("!=", "=="), (" + ", " - "), (" - ", " + "), (" & ", " | "),
         (" | ", " & "), (" ^ ", " & "), (" << ", " >> "), (" >> ", " << "), (" < ", " <= "), (" <= ", " < "),
         (" > ", " >= "), (" >= ", " > ")]


def blank(text):
    """The text with comments, strings and what stands under `ifdef as spaces, so that places stay."""
    spaces = lambda m: re.sub(r"[^\n]", " ", m[0])
    text = re.sub(r"//[^\n]*|/\*.*?\*/|\"[^\"\n]*\"", spaces, text, flags=re.S)
    return re.sub(r"`ifn?def.*?`endif|`[A-Z_]+\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\)", spaces, text,
                  flags=re.S)


def close_of(text, at):
    """Place of the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if not depth:
            return i
    return len(text)


def end_of(text, at):
    """Place of the next semicolon outside of brackets."""
    while at < len(text) and text[at] != ";":
        at = close_of(text, at) + 1 if text[at] in "([{" else at + 1
    return at


def statements(text, begin, end):
    """Of a process: ('if', begin, end) of conditions, ('set', left, begin, end, in reset) of assignments."""
    at, reset, depth = begin, [], 0
    token = re.compile(r"\s*(begin\b(?:\s*:\s*\w+)?|end\b|else\b|if\b|for\b|(?:unique\s+)?case\b|endcase\b|default\s*:)")
    pending = False  # the statement or block that follows is that of a reset
    while at < end:
        m = token.match(text, at)
        word = m[1].split()[0] if m else ""
        if word == "begin":
            depth += 1
            reset.append(pending)
            pending, at = False, m.end()
        elif word == "end":
            depth -= 1
            if reset:
                reset.pop()
            at = m.end()
            if depth == 0 and not re.match(r"\s*else\b", text[at:at + 200]):
                return
        elif word in ("if", "for", "case", "unique"):
            open_at = text.index("(", m.end())
            close = close_of(text, open_at)
            if word == "if":
                yield "if", open_at + 1, close
                pending = "rst_ni" in text[open_at:close]
            at = close + 1
        elif m:
            pending, at = False, m.end()
        else:
            stop = end_of(text, at)
            chunk = text[at:stop]
            label = re.match(r"\s*[\w:' ,]+?:(?!:)", chunk)  # of a case
            if label and not re.match(r"\s*[\w\[\]. ]+\s*<?=", chunk):
                at += label.end()
                continue
            a = re.match(r"\s*((?:\w+|\{[^=]*?\})(?:\.\w+|\[(?:[^\[\]]|\[[^\]]*\])*\])*)\s*(?:<=|=)(?!=)", chunk)
            if a:
                yield "set", a[1].strip(), at + a.end(), stop, pending or any(reset)
            pending, at = False, stop + 1
            if depth == 0 and not re.match(r"\s*else\b", text[at:at + 200]):
                return


def regions(text):
    """Expressions: (begin, end, kind, left side, in reset)."""
    for m in re.finditer(r"\balways_(?:comb|ff\s*@\s*\([^)]*\))", text):
        for s in statements(text, m.end(), len(text)):
            if s[0] == "if":
                yield s[1], s[2], "if", "", False
            else:
                yield s[2], s[3], "set", s[1], s[4]
    for m in re.finditer(r"\bassign\b", text):
        end = end_of(text, m.end())
        eq = re.search(r"(?<![<>=!])=(?!=)", text[m.end():end])
        if eq:
            yield m.end() + eq.end(), end, "assign", "", False
    for m in re.finditer(r"\bu_\w+\s*\(", text):  # ports of an instance
        open_at = m.end() - 1
        close = close_of(text, open_at)
        for p in re.finditer(r"\.\w+\s*\(", text[open_at:close]):
            begin = open_at + p.end()
            end = close_of(text, begin - 1)
            if "hd_gate" in text[m.start() - 12:m.start()]:  # a wire in the machine
                continue
            if re.search(r"&&|\|\||[=!]=| [-+&|<>] |!", text[begin:end]):
                yield begin, end, "port", "", False


def fixed(expr):
    """Places of expr that must be constant: indices, counts of replications, sizes of casts."""
    places = set()
    for m in re.finditer(r"\[", expr):
        places.update(range(m.start(), close_of(expr, m.start()) + 1))
    for m in re.finditer(r"\{[^{},]*(?=\{)", expr):
        places.update(range(m.start(), m.end()))
    for m in re.finditer(r"\)'\(", expr):
        depth, i = 0, m.start()
        while i >= 0:
            depth += (expr[i] == ")") - (expr[i] == "(")
            if not depth:
                break
            i -= 1
        places.update(range(max(i, 0), m.end()))
    return places


def changes(expr, kind, left, in_reset):
    """(new text, what) of an expression."""
    keep = fixed(expr)
    for old, new in SWAPS:
        for m in re.finditer(re.escape(old), expr):
            if m.start() not in keep:
                yield expr[:m.start()] + new + expr[m.end():], f"{old.strip()} is {new.strip()}"
    for m in re.finditer(r"!(?=[\w(])", expr):
        if m.start() not in keep:
            yield expr[:m.start()] + expr[m.end():], "a ! is gone"
    for m in re.finditer(r"\b(\d+)'d(\d+)\b", expr):
        if m.start() not in keep:
            value = (int(m[2]) + 1) % (1 << int(m[1]))
            yield expr[:m.start()] + f"{m[1]}'d{value}" + expr[m.end():], f"{m[0]} is {m[1]}'d{value}"
    for m in re.finditer(r"1'b([01])\b", expr):
        if m.start() not in keep:
            yield expr[:m.start()] + f"1'b{1 - int(m[1])}" + expr[m.end():], f"{m[0]} is 1'b{1 - int(m[1])}"
    if kind == "if":
        for new in ("1'b0", "1'b1", f"!({expr})"):
            yield new, f"a condition is {new if len(new) < 5 else 'its opposite'}"
    if kind == "set" and re.fullmatch(r"\w+_q", left):
        yield left, f"{left} is not {'reset' if in_reset else 'set'}"


def of_file(path):
    with open(path) as f:
        text = f.read()
    bare = blank(text)
    found = []
    for begin, end, kind, left, in_reset in regions(bare):
        expr = bare[begin:end]
        if not expr.strip() or text[begin:end] != expr:  # a comment stands in it
            continue
        for new, what in changes(expr, kind, left, in_reset):
            found.append(Mutation(path, begin, end, expr, new, bare.count("\n", 0, begin) + 1, what))
    return text, found


def draw(paths, count, seed):
    """{path: text with the mutations beside what they replace}, [mutations]; number i is the i-th, from 1."""
    rng, texts, by_line = random.Random(seed), {}, collections.defaultdict(list)
    for path in paths:
        texts[path], found = of_file(path)
        for m in found:
            by_line[path, m.line].append(m)
    lines = sorted(by_line)  # each line with a mutation counts as one
    drawn = set()
    while len(drawn) < min(count, sum(map(len, by_line.values()))):
        drawn.add(rng.choice(by_line[rng.choice(lines)]))
    drawn = sorted(drawn)
    return {path: with_mutations(texts[path], [(i, m) for i, m in enumerate(drawn, 1) if m.file == path])
            for path in paths}, drawn


def with_mutations(text, numbered):
    places = collections.defaultdict(list)
    for number, m in numbered:
        places[m.begin, m.end, m.old].append((number, m.new))
    for (begin, end, old), new in sorted(places.items(), reverse=True):
        both = "".join(f"hd_mutant_pkg::number == {n} ? ({text_new.strip()}) : " for n, text_new in new)
        text = f"{text[:begin]} ({both}({old.strip()})){text[end:]}"
    return text


def alone(mutation):
    """The file with this one mutation."""
    with open(mutation.file) as f:
        text = f.read()
    return f"{text[:mutation.begin]} ({mutation.new.strip()}){text[mutation.end:]}"

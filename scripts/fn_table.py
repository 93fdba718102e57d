#!/usr/bin/env python3
"""Prints runtime/base/fn.def: the rows of the function tables of vx (docs/numerics.md, "Functions").

A row covers a segment of the argument: y = c0 + c1 T + c2 T^2 with T in [0, 1) across the segment, in
units of 2^-27. c0 is the value at the left end, rounded; c1 and c2 make the error cross zero where
that of the best quadratic with a fixed left end does."""
import math

UNIT = 1 << 27
R1, R2 = (0.8660254037844386 / 1.8660254037844386), (2 * 0.8660254037844386 / 1.8660254037844386)


def row(f, left, width):
    at = lambda t: f(left + t * width) * UNIT
    c0 = round(at(0.0))
    d1, d2 = (at(R1) - c0) / R1, (at(R2) - c0) / R2
    c2 = round((d2 - d1) / (R2 - R1))
    c1 = round(((at(R1) - c0 - c2 * R1 * R1) / R1 + (at(R2) - c0 - c2 * R2 * R2) / R2) / 2)
    assert 0 <= c0 < 1 << 28 and -(1 << 22) <= c1 < 1 << 22 and -(1 << 14) <= c2 < 1 << 14
    return c0, c1, c2


def segments(f, pieces):
    return [row(f, lo + i * (hi - lo) / n, (hi - lo) / n) for lo, hi, n in pieces for i in range(n)]


TABLES = [
    ("exp", "2^x, x in [0, 1): 64", segments(lambda x: 2.0 ** x, [(0, 1, 64)])),
    ("rcp", "1 / x, x in [1, 2): 128", segments(lambda x: 1 / x, [(1, 2, 128)])),
    ("rsq", "1 / sqrt(x), x in [1, 2): 64, [2, 4): 64",
     segments(lambda x: 1 / math.sqrt(x), [(1, 2, 64), (2, 4, 64)])),
    ("tanh", "tanh x, x in [0, 2): 128, [2, 4): 64, [4, 8): 64",
     segments(math.tanh, [(0, 2, 128), (2, 4, 64), (4, 8, 64)])),
]

print("/* runtime/base/fn.def -- function tables of the vector unit, printed by scripts/fn_table.py.\n"
      " *\n"
      " *   TABLE(name, rows)       the rows that follow are its\n"
      " *   ROW(c0, c1, c2)         a segment: c0 + c1 T + c2 T^2, T in [0, 1), in units of 2^-27\n"
      " */\n"
      "#ifndef TABLE\n#define TABLE(...)\n#endif\n#ifndef ROW\n#define ROW(...)\n#endif")
for name, doc, rows in TABLES:
    print(f"/* {doc} */\nTABLE({name}, {len(rows)})")
    for i in range(0, len(rows), 3):
        print(" ".join("ROW(%d, %d, %d)" % c for c in rows[i:i + 3]))
print("#undef TABLE\n#undef ROW")

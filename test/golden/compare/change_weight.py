#!/usr/bin/env python3
"""Flips a bit of one byte of a tensor in an ONNX file, to see that the layer that uses it is named.

usage: change_weight.py IN.onnx TENSOR INDEX OUT.onnx
"""
import sys


def varint(b, i):
    v = shift = 0
    while True:
        v |= (b[i] & 127) << shift
        shift += 7
        i += 1
        if b[i - 1] < 128:
            return v, i


def fields(b, i, end):
    """(number, wire type, begin, end) of each field of the message b[i:end]."""
    while i < end:
        key, i = varint(b, i)
        if key & 7 == 0:
            _, j = varint(b, i)
            yield key >> 3, 0, i, j
        else:
            n, i = (varint(b, i) if key & 7 == 2 else ({1: 8, 5: 4}[key & 7], i))
            j = i + n
            yield key >> 3, key & 7, i, j
        i = j


def main(path, name, index, out):
    b = bytearray(open(path, "rb").read())
    for f, _, i, j in fields(b, 0, len(b)):
        if f != 7:  # graph
            continue
        for g, _, p, q in fields(b, i, j):
            if g != 5:  # initializer
                continue
            parts = {h: (s, t) for h, _, s, t in fields(b, p, q)}
            if bytes(b[slice(*parts[8])]) == name.encode():
                at = parts[9][0] + int(index)  # raw_data
                b[at] ^= 0x40
                open(out, "wb").write(b)
                return
    sys.exit(f"change_weight: {path} has no tensor {name}")


main(*sys.argv[1:])

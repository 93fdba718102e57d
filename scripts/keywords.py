#!/usr/bin/env python3
"""Makes samples of spoken words that nobody has spoken: keywords.py OUT.npz CALIBRATE.npy [N] [SEED]

A sample is 49 spectra of 10 bands, f32 [1,49,10], as keyword networks take them; its class is one of 8
words. A word is three of five sounds in an order of its own. A sound is one or two bright bands; its
length, pitch and loudness differ from sample to sample, words begin at any time, and there is noise.
CALIBRATE gets the first 64 samples. The same SEED gives the same bytes. Standard library only."""
import array
import math
import random
import sys
import zipfile

FRAMES, BANDS = 49, 10
SOUNDS = {"a": (2.0, 5.0), "i": (1.0, 7.5), "u": (1.5, 3.0), "s": (8.5,), "m": (0.5,)}
WORDS = ["sam", "mas", "sim", "mis", "uma", "amu", "isu", "usi"]


def sample(r, word):
    x = [r.gauss(0, 0.3) for _ in range(FRAMES * BANDS)]
    pitch, loud, pace = r.uniform(-0.7, 0.7), r.uniform(0.6, 1.2), r.uniform(0.75, 1.25)
    length = [r.uniform(7, 13) * pace for _ in word]
    at = r.uniform(0, FRAMES - sum(length))
    for sound, n in zip(word, length):
        for f in range(max(0, int(at - 2)), min(FRAMES, int(at + n + 3))):
            inside = 1 / (1 + math.exp(-2 * (f - at))) / (1 + math.exp(2 * (f - at - n)))
            for b in range(BANDS):
                peak = sum(math.exp(-((b - c - pitch) / 0.9) ** 2) for c in SOUNDS[sound])
                x[f * BANDS + b] += loud * inside * peak
        at += n
    return [max(-1.0, min(1.0, v)) for v in x]


def npy(kind, shape, data):
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (63 - (len(head) + 10) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + data


def main(out, calibrate, n=2400, seed=1):
    n, r = int(n), random.Random(int(seed))
    labels = array.array("B", [r.randrange(len(WORDS)) for _ in range(n)])
    x = array.array("f", [v for k in labels for v in sample(r, WORDS[k])])
    size = FRAMES * BANDS
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        for name, data in (("image", npy("<f4", (n, 1, FRAMES, BANDS), x.tobytes())),
                           ("label", npy("|u1", (n,), labels.tobytes()))):
            z.writestr(zipfile.ZipInfo(name + ".npy"), data)
    first = min(n, 64)
    with open(calibrate, "wb") as f:
        f.write(npy("<f4", (first, 1, FRAMES, BANDS), x[:first * size].tobytes()))


if len(sys.argv) not in (3, 4, 5):
    sys.exit(__doc__)
main(*sys.argv[1:])

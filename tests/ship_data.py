#!/usr/bin/env python3
"""Writes the data of tests/suites/ship.sh into a folder, with the standard library alone.

photos/     six PNG pictures of 48x40 pixels
classes/    two of them under classes/2, one under classes/7
truth.csv   a label for each picture of photos/
many-idx3-ubyte.gz, many-labels   five grey pictures of 28x28 and their labels, as IDX
damaged.trivet is made by the suite itself.
"""

import gzip
import pathlib
import random
import struct
import sys
import zlib


def png(width, height, rng):
    """A PNG file: smooth colours with some noise."""
    rows = []
    base = [rng.randrange(256) for _ in range(3)]
    for y in range(height):
        row = bytearray([0])
        for x in range(width):
            for c in range(3):
                row.append((base[c] + x * (c + 1) + y * 2 + rng.randrange(9)) % 256)
        rows.append(bytes(row))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = zlib.compress(b"".join(rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def idx(shape, data):
    """An IDX file of unsigned bytes."""
    return bytes([0, 0, 8, len(shape)]) + struct.pack(f">{len(shape)}I", *shape) + bytes(data)


def main():
    root = pathlib.Path(sys.argv[1])
    rng = random.Random(0)
    (root / "photos").mkdir(parents=True)
    truth = ["file,label"]
    for i in range(6):
        picture = png(48, 40, rng)
        (root / "photos" / f"{i}.png").write_bytes(picture)
        truth.append(f"{i}.png,{i % 4}")
        if i < 3:
            folder = root / "classes" / ("2" if i < 2 else "7")
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{i}.png").write_bytes(picture)
    (root / "truth.csv").write_text("\n".join(truth) + "\n")
    pixels = [rng.randrange(256) for _ in range(5 * 28 * 28)]
    (root / "many-idx3-ubyte.gz").write_bytes(gzip.compress(idx([5, 28, 28], pixels)))
    (root / "many-labels").write_bytes(idx([5], [0, 1, 2, 3, 4]))


if __name__ == "__main__":
    main()

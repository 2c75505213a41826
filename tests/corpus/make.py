#!/usr/bin/env python3
"""Writes the seeds of the fuzzers of src/io, which are test data too. Needs numpy and Pillow."""

import pathlib

import numpy as np
from PIL import Image

HERE = pathlib.Path(__file__).resolve().parent


def picture(width, height):
    """RGB with steep edges, the same formula as in the tests."""
    y, x = np.mgrid[0:height, 0:width]
    return np.stack(
        [(x * 37 + y * 11) % 256, (x * x + 5 * y) % 256, (x * y * 3 + 128) % 256], axis=-1
    ).astype(np.uint8)


def arrays():
    folder = HERE / "npy_fuzz"
    np.save(folder / "fortran_big_endian.npy", np.asfortranarray(np.arange(6, dtype=">i2").reshape(2, 3)))
    np.save(folder / "complex_big_endian.npy", np.array([1 + 2j, -3.5j], dtype=">c8"))
    np.save(folder / "float16.npy", np.array([0.5, -2, np.inf], np.float16))
    np.save(folder / "bool.npy", np.array([[True], [False]]))
    np.save(folder / "scalar.npy", np.float64(2.5))
    np.save(folder / "empty.npy", np.zeros((0, 3), np.float32))
    np.save(folder / "text.npy", np.array(["a", "žluť", "", "😀"]))
    np.save(folder / "text_big_endian.npy", np.array(["ab", "ž"], dtype=">U2"))
    np.save(folder / "bytes.npy", np.array([b"ab", b"c"]))
    with open(folder / "version2.npy", "wb") as file:
        np.lib.format.write_array(file, np.arange(3, dtype=np.uint8), version=(2, 0))
    np.save(folder / "structured.npy", np.zeros(2, dtype=[("a", "<f4"), ("b", "<i2")]))


def archives():
    folder = HERE / "npz_fuzz"
    named = {"x:0": np.zeros((2, 3), np.float32), "y": np.array([True, False])}
    np.savez(folder / "stored.npz", **named)
    np.savez_compressed(folder / "deflated.npz", **named)


def pictures():
    folder = HERE / "image_fuzz"
    image = Image.fromarray(picture(7, 5))
    image.save(folder / "rgb.png")
    image.save(folder / "rgb.bmp")
    image.convert("L").save(folder / "gray.png")
    image.convert("P").save(folder / "palette.png")
    image.convert("RGBA").save(folder / "rgba.png")
    Image.new("RGB", (8, 8), (200, 30, 60)).save(folder / "plain.jpg", quality=90)
    image.save(folder / "progressive.jpg", quality=60, progressive=True)


if __name__ == "__main__":
    arrays()
    archives()
    pictures()

"""The trained models of tools/assets.json with inputs as their users feed them.

Photographs, drawn text and recorded speech, at sizes that exercise every symbolic dimension.
"""

import dataclasses
import pathlib
import subprocess
import sys

import numpy as np
from PIL import Image, ImageDraw, ImageFont

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import fetch  # noqa: E402

FACE = 54  # the photograph with a face in it
IMAGENET_MEAN = np.array([0.485, 0.456, 0.406], np.float32) * 255
IMAGENET_STD = np.array([0.229, 0.224, 0.225], np.float32) * 255


@dataclasses.dataclass
class Case:
    """One model with what it is run on.

    `steps` are fed one after the other, each a dictionary of input name to array. `carry` says
    which output of a step becomes which input of the next: {output name: input name}. `expected`
    holds recorded outputs by name, for each step; without it onnxruntime computes them.
    """

    model: pathlib.Path
    label: str
    steps: list
    carry: dict = dataclasses.field(default_factory=dict)
    expected: list | None = None


def photographs(indices, height, width):
    """Real photographs as float32 [N, height, width, 3], RGB, 0 to 255."""
    folder = fetch.fetch("photographs")
    pictures = [Image.open(folder / f"{i:03}.jpg").convert("RGB").resize((width, height)) for i in indices]
    return np.stack([np.asarray(picture, np.float32) for picture in pictures])


def page(count, height, width):
    """Pictures of printed text as float32 [count, height, width, 3], 0 to 255."""
    pages = []
    for number in range(count):
        picture = Image.new("RGB", (width, height), "white")
        draw, size = ImageDraw.Draw(picture), min(height, 48) * 2 // 3
        for line, top in enumerate(range(4, height - size, size * 2)):
            draw.text((6, top), f"Trivet {number + line} 2048 kg", "black", ImageFont.load_default(size))
        pages.append(np.asarray(picture, np.float32))
    return np.stack(pages)


def nchw(pictures):
    """[N, H, W, C] to a contiguous [N, C, H, W]."""
    return np.ascontiguousarray(pictures.transpose(0, 3, 1, 2), np.float32)


def speech(rate):
    """A spoken sentence as float32 in -1 to 1 at `rate` Hz (16000 or 8000).

    Where the recording cannot be had, a made-up voice: harmonics of 120 Hz with a syllable's rhythm.
    """
    try:
        raw = np.fromfile(fetch.fetch("speech") / "goforward.raw", "<i2")
        sound = raw.astype(np.float32) / 32768
    except fetch.Unavailable:
        time = np.arange(2 * 16000, dtype=np.float32) / 16000
        voice = sum(np.sin(2 * np.pi * 120 * k * time) / k for k in range(1, 20))
        sound = (0.2 * voice * np.sin(2 * np.pi * 2 * time) ** 2).astype(np.float32)
    return sound if rate == 16000 else sound[: sound.size // 2 * 2].reshape(-1, 2).mean(axis=1)


def efficientnet_lite0():
    model = ROOT / ".cache" / "demo" / "efficientnet_lite0.onnx"
    for name in ("efficientnet-lite0", "photographs", "imagenet-labels"):
        fetch.fetch(name)
    subprocess.run([sys.executable, ROOT / "tools" / "prepare_demo.py"], check=True)
    pictures = nchw((photographs(range(3), 224, 224) - 127) / 128)
    return [Case(model, f"batch {n}", [{"input": pictures[:n]}]) for n in (1, 3)]


def pp_ocr():
    """Pages of text: without text the detector's map is zero but for rounding, and compares nothing."""
    folder = fetch.fetch("pp-ocr-v4")

    def detect(pictures):
        return nchw((pictures - IMAGENET_MEAN) / IMAGENET_STD)

    def read(pictures):
        return nchw(pictures / 127.5 - 1)

    return [
        Case(folder / "det.onnx", "1x3x320x480", [{"x": detect(page(1, 320, 480))}]),
        Case(folder / "det.onnx", "3x3x256x352", [{"x": detect(page(3, 256, 352))}]),
        Case(folder / "rec.onnx", "1x3x48x320", [{"x": read(page(1, 48, 320))}]),
        Case(folder / "rec.onnx", "3x3x48x200", [{"x": read(page(3, 48, 200))}]),
        Case(folder / "cls.onnx", "1x3x48x192", [{"x": read(page(1, 48, 192))}]),
        Case(folder / "cls.onnx", "3x3x48x192", [{"x": read(page(3, 48, 192))}]),
    ]


def silero_vad():
    """Six chunks of 32 ms in a row, the state carried from each to the next."""
    model = fetch.fetch("silero-vad-v5") / "silero_vad.onnx"
    cases = []
    for rate, length, batch in ((16000, 512, 1), (8000, 256, 1), (16000, 512, 3)):
        sound = speech(rate)
        steps = []
        for chunk in range(6):
            begins = [rate // 2 + (chunk + 7 * row) * length for row in range(batch)]
            steps.append(
                {
                    "input": np.stack([sound[b : b + length] for b in begins]),
                    "state": np.zeros((2, batch, 128), np.float32),
                    "sr": np.array(rate, np.int64),
                }
            )
        cases.append(Case(model, f"{rate} Hz, batch {batch}, 6 chunks", steps, {"stateN": "state"}))
    return cases


def blazeface():
    folder = fetch.fetch("blazeface")
    return [
        Case(
            folder / f"blazeface_{size}.onnx",
            f"1x{size}x{size}x3",
            [{"input:0": photographs([FACE], size, size) / 127.5 - 1}],
        )
        for size in (128, 256)
    ]


def open_nsfw():
    model = fetch.fetch("open-nsfw") / "open-nsfw.onnx"
    pictures = photographs(range(10, 13), 224, 224)[..., ::-1] - np.array([104, 117, 123], np.float32)
    return [Case(model, f"batch {n}", [{"input:0": np.ascontiguousarray(pictures[:n])}]) for n in (1, 3)]


# name -> function that fetches the model and returns its cases; raises fetch.Unavailable
REAL_MODELS = {
    "efficientnet-lite0": efficientnet_lite0,
    "pp-ocr-v4": pp_ocr,
    "silero-vad-v5": silero_vad,
    "blazeface": blazeface,
    "open-nsfw": open_nsfw,
}

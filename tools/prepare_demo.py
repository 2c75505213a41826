#!/usr/bin/env python3
"""Makes what the demonstration ships, in .cache/demo: a trained network, photographs, class names.

efficientnet_lite0.onnx, photos/ (100 JPEG files of about 512x512 pixels) and labels.txt (the 1,000 names
of ImageNet's classes, one a line). What is already there is kept.
"""

import json
import os
import subprocess
import sys

import fetch

DEMO = fetch.ROOT / ".cache" / "demo"
SCRIPTS = [
    fetch.ROOT / "tools" / name for name in ("build_efficientnet_lite0.py", "torch_file.py", "assets.json")
]


def say(text):
    """One line of progress, shown at once."""
    print(f"demo: {text}", flush=True)


def build_network():
    """Writes efficientnet_lite0.onnx unless it is newer than the scripts that make it."""
    model = DEMO / "efficientnet_lite0.onnx"
    if model.exists() and all(model.stat().st_mtime > script.stat().st_mtime for script in SCRIPTS):
        return
    say("building EfficientNet-Lite B0 from its weights")
    # A process of its own: only this step loads the onnx package, and it is rarely needed.
    subprocess.run([sys.executable, SCRIPTS[0], model], check=True)


def main():
    DEMO.mkdir(parents=True, exist_ok=True)
    try:
        fetch.fetch("efficientnet-lite0", log=say)
        photographs = fetch.fetch("photographs", log=say)
        names = json.loads((fetch.fetch("imagenet-labels", log=say) / "names.json").read_text())
        build_network()
    except (fetch.Unavailable, fetch.Mismatch) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 2
    except subprocess.CalledProcessError:
        return 2
    (DEMO / "labels.txt").write_text("".join(f"{name}\n" for name in names))
    link = DEMO / "photos"
    if not link.exists():
        link.unlink(missing_ok=True)
        link.symlink_to(os.path.relpath(photographs, DEMO))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Files that are made of a model once, each in a process of its own, and kept."""

import json
import pathlib
import shutil
import sys

from children import Child, EngineFailed

WORKER = pathlib.Path(__file__).with_name("worker.py")
TIMEOUTS_S = {"convert": 300, "quantise": 900}


def made_once(folder, verb, engine, source, *arguments):
    """The file that `worker.py VERB ENGINE` makes in the folder. EngineFailed says why there is none."""
    note = folder / "converted.json"
    if not note.is_file():
        folder.mkdir(exist_ok=True)
        # Some converters write to the file that they read, which the other engines have mapped.
        copy = folder / "source.onnx"
        shutil.copy(source, copy)
        command = [sys.executable, WORKER, verb, engine, copy, folder, *arguments]
        with Child(command, folder / f"{verb}.log") as child:
            try:
                answer = child.read_answer(TIMEOUTS_S[verb])
            except EngineFailed as error:
                answer = {"error": str(error)}
        if answer.get("file") != copy.name:
            copy.unlink()
        note.write_text(json.dumps(answer))
    answer = json.loads(note.read_text())
    if "error" in answer:
        raise EngineFailed(f"cannot {verb}: {answer['error']}")
    return folder / answer["file"]

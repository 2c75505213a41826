"""What the engines' conversions share: why one failed, and where the converters are."""

import importlib.resources
import pathlib


class CannotConvert(Exception):
    """An engine does not take a model; the text says why, in one line."""


def last_words(done):
    """The last line that a finished program printed, or how it ended."""
    lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    ended = f"signal {-done.returncode}" if done.returncode < 0 else f"exit code {done.returncode}"
    return f"{ended}: {lines[-1][:200]}" if lines else ended


def program_of(package, *path):
    """A file inside a package, found without importing it."""
    return pathlib.Path(importlib.util.find_spec(package).origin).parent.joinpath(*path)

"""The precisions that are measured, and which outputs count as right in each."""

import dataclasses
import math
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "tools"))
from difference import difference  # noqa: E402


@dataclasses.dataclass(frozen=True)
class Precision:
    """Differences are relative to the largest magnitude of the reference's outputs.

    The sensitivity of a case is the difference that a perturbation of its inputs makes in the reference.
    Where it is above `chaotic`, rounding alone moves the outputs too far for anybody's to be compared.
    """

    title: str
    tolerance: float | None  # the difference that is allowed at least
    margin: float = 0  # how many times the sensitivity is allowed, where that is more
    perturbation: float = 1e-6  # relative; about eight units in the last place of float32
    chaotic: float = 1e-3
    least_cosine: float | None = None  # allowed instead of a difference, which is shown beside the time
    trivet: str | None = None  # what Trivet computes in, where it does not know the precision

    def comparable(self, sensitivity):
        return sensitivity <= self.chaotic

    def objection(self, gap, similarity, sensitivity):
        """Why outputs count as wrong, or nothing."""
        if self.least_cosine is not None:
            if not similarity >= self.least_cosine:
                return f"wrong: the outputs have a cosine of {similarity:.2f} with those of float32"
        elif not gap <= max(self.tolerance, self.margin * sensitivity):
            return f"wrong: the outputs differ by {gap:.2g} of the largest magnitude"
        return None


# Winograd's transforms alone cost 1e-5 to 1e-4; bfloat16 has 8 bits. A value of the QDQ file on the other
# side of a rounding border moves steps in all layers behind it: docs/BENCHMARKS.md has the measurements.
PRECISIONS = {
    "float32": Precision("float32", tolerance=1e-3),
    "bfloat16": Precision("bfloat16", tolerance=1e-1, trivet="float32"),
    "qdq": Precision(
        "int8, the same QDQ file", tolerance=0.02, margin=3, perturbation=1e-4, chaotic=1 / 3
    ),
    "int8": Precision(
        "int8, each engine's own quantisation", tolerance=None, least_cosine=0.7, trivet="float32"
    ),
}


def cosine(ours, theirs):
    """Of the angle between two outputs, each less the mean of theirs: an offset of all says nothing."""
    if ours.shape != theirs.shape:
        return math.nan
    a, b = ours.astype(np.float64).ravel(), theirs.astype(np.float64).ravel()
    centre = b.mean() if b.size > 1 else 0.0
    a, b = a - centre, b - centre
    norms = np.linalg.norm(a) * np.linalg.norm(b)
    return float(a @ b / norms) if norms else float(np.array_equal(a, b))


def compare(ours, theirs):
    """The largest difference and the least cosine over all outputs of two .npz files."""
    with np.load(ours) as a, np.load(theirs) as b:
        if len(a.files) != len(b.files):
            return math.inf, math.nan
        pairs = [(a[x], b[y]) for x, y in zip(a.files, b.files)]
    cosines = [cosine(x, y) for x, y in pairs]
    gap = max(float(difference(x, y)) for x, y in pairs)
    return gap, math.nan if any(map(math.isnan, cosines)) else min(cosines)

"""How far two outputs are apart: what the comparisons with other runtimes share."""

import numpy as np


def difference(ours, theirs):
    """max|ours - theirs| / max|theirs|, infinite where shape, type, NaN or infinity disagree."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    if theirs.size == ours.size == 0 and ours.dtype == theirs.dtype:
        return 0.0  # of nothing, the axes that no element ever filled differ between runtimes
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return np.inf
    if theirs.dtype.kind != "f":
        return 0.0 if np.array_equal(ours, theirs) else np.inf
    finite = np.isfinite(theirs)
    if (
        not np.array_equal(ours[~finite], theirs[~finite], equal_nan=True)
        or not np.isfinite(ours[finite]).all()
    ):
        return np.inf
    a, b = ours[finite].astype(np.float64), theirs[finite].astype(np.float64)
    gap, largest = np.abs(a - b).max(initial=0.0), np.abs(b).max(initial=0.0)
    return gap / largest if largest else np.inf if gap else 0.0

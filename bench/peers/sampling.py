"""Alternating rounds, and what is computed of their samples."""

import math

import numpy as np

WARM_UP = 2  # runs after waking that do not count: caches and sleeping threads
LONG_RUN_MS = 100  # one such run warms up enough
MIN_RUNS = 2  # counted runs of an engine in a round
ROUNDS = 10
MIN_ROUNDS = 5  # even where the time is up
RESAMPLES = 2000


def schedule(names, rounds, seed):
    """The order of the engines in each round: every one once, shuffled anew."""
    rng = np.random.default_rng(seed)
    return [[names[i] for i in rng.permutation(len(names))] for _ in range(rounds)]


def warm_up_runs(run_ms):
    return 1 if run_ms > LONG_RUN_MS else WARM_UP


def runs_in_turn(run_ms, turn_s):
    """How many counted runs fill one engine's turn, beside the warm-up."""
    return max(MIN_RUNS, math.floor(1000 * turn_s / run_ms) - warm_up_runs(run_ms))


def pooled_median(rounds):
    return float(np.median(np.concatenate(rounds)))


def ratio_interval(peer, own, seed=0):
    """Ratio of the medians peer/own, with the ends of its 95 % bootstrap interval.

    `peer` and `own` hold one list of samples per round. Whole rounds are drawn, the same ones for both:
    the samples of a round share what the machine did then, and are no independent observations.
    """
    rng = np.random.default_rng(seed)
    peer, own = [[np.asarray(samples) for samples in rounds] for rounds in (peer, own)]
    ratios = [
        pooled_median([peer[i] for i in drawn]) / pooled_median([own[i] for i in drawn])
        for drawn in rng.integers(len(own), size=(RESAMPLES, len(own)))
    ]
    low, high = np.quantile(ratios, [0.025, 0.975])
    return pooled_median(peer) / pooled_median(own), float(low), float(high)


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))

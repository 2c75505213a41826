#!/usr/bin/env python3
"""fuzz_seeds.py FOLDER: writes FOLDER/<fuzzer>/*, what those fuzzers begin with that have no seeds in tests/corpus.

operator_fuzz: bytes, each of which makes some operator; model_fuzz: the models of checks.py, behind one byte.
"""

import pathlib
import random
import sys

import checks


def main():
    folder = pathlib.Path(sys.argv[1])
    operators = folder / "operator_fuzz"
    operators.mkdir(parents=True, exist_ok=True)
    generator = random.Random(20261207)
    for i in range(1000):
        (operators / f"{i}").write_bytes(generator.randbytes(generator.choice([60, 200, 500])))
    models = folder / "model_fuzz"
    models.mkdir(parents=True, exist_ok=True)
    for i, pair in enumerate(checks.FAULTS.values()):
        for name, model in zip(("fault", "twin"), pair):
            (models / f"{i}_{name}").write_bytes(generator.randbytes(1) + model.SerializeToString())


if __name__ == "__main__":
    main()

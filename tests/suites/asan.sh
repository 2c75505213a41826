#!/bin/bash
# trivet_tests, and `trivet check` with its repairs, under AddressSanitizer and UndefinedBehaviorSanitizer.
set -eu
cd "$(dirname "$0")/../.."
. scripts/counts.sh

WERROR=OFF scripts/build.sh asan trivet_tests trivet
# Two thousand full parses are left to the fuzzer of the reader, which runs for as long here.
export GTEST_FILTER=-DamagedModels.EveryByteEveryValueOfTheFirstHundred
export TRIVET_PARITY_CASES=${TRIVET_PARITY_CASES:-60}  # random graphs per family; unoptimised, each takes long
run_gtest asan
echo "asan: $gtest_passed test cases passed, $gtest_failed failed"
[ "$gtest_failed" -eq 0 ]
.venv/bin/python tests/checks.py build/asan/trivet

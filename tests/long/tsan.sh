#!/bin/bash
# trivet_tests under ThreadSanitizer.
set -eu
cd "$(dirname "$0")/../.."
. scripts/counts.sh

scripts/build.sh tsan trivet_tests
export TRIVET_PARITY_CASES=${TRIVET_PARITY_CASES:-100}  # random graphs per family, as they are slow here
run_gtest tsan
echo "tsan: $gtest_passed test cases passed, $gtest_failed failed"
[ "$gtest_failed" -eq 0 ]

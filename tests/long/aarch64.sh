#!/bin/bash
# The AArch64 build, and trivet_tests of it under QEMU, with NEON and without.
set -eu
cd "$(dirname "$0")/../.."
. scripts/counts.sh

scripts/build.sh aarch64
status=0
for isa in neon generic; do
  TRIVET_ISA=$isa run_gtest aarch64
  echo "aarch64 ($isa): $gtest_passed test cases passed, $gtest_failed failed"
  [ "$gtest_failed" -eq 0 ] || status=1
done
exit $status

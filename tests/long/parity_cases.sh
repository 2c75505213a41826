#!/bin/bash
# Thousands of random graphs per family of operators, cpu against the reference, for each instruction set that
# this processor has. TRIVET_PARITY_CASES says how many.
set -eu
cd "$(dirname "$0")/../.."

scripts/build.sh release trivet trivet_tests
export TRIVET_PARITY_CASES=${TRIVET_PARITY_CASES:-5000}
filter='CpuParity.*'
families=$(build/release/trivet_tests --gtest_list_tests --gtest_filter="$filter" | grep -c '^  ')
status=0
for isa in generic neon avx2 avx512; do
  TRIVET_ISA=$isa build/release/trivet providers >/dev/null 2>&1 || continue
  results=build/release/parity_$isa.xml
  if TRIVET_ISA=$isa build/release/trivet_tests --gtest_brief=1 --gtest_filter="$filter" --gtest_output=xml:"$results"; then
    refused=$(sed -n 's/.*name="refused" value="\([0-9]*\)".*/\1/p' "$results" | awk '{ sum += $1 } END { print sum + 0 }')
    echo "parity_cases ($isa): $families families of $TRIVET_PARITY_CASES cases agree, $refused of them refused by both"
  else
    echo "parity_cases ($isa): FAILED"
    status=1
  fi
done
exit $status

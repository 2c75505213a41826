#!/bin/bash
# Runs trivet_tests and every executable suite of tests/suites (with --long: of tests/long), all of them
# even after a failure, and ends with the line "N passed, N failed": test cases and suites together.
set -u
cd "$(dirname "$0")/.."
. scripts/counts.sh

folder=tests/suites
passed=0
failed=0
failures=""
if [ "${1:-}" = --long ]; then
  folder=tests/long
else
  run_gtest release
  passed=$gtest_passed
  failed=$gtest_failed
  [ "$failed" -eq 0 ] || failures=" trivet_tests"
fi

for suite in "$folder"/*.sh; do
  [ -x "$suite" ] || continue
  name=$(basename "$suite" .sh)
  echo "== $name"
  start=$SECONDS
  if "$suite"; then
    passed=$((passed + 1))
    echo "== $name: passed in $((SECONDS - start)) s"
  else
    failed=$((failed + 1))
    failures="$failures $name"
    echo "== $name: FAILED after $((SECONDS - start)) s"
  fi
done

[ -z "$failures" ] || echo "failed:$failures"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

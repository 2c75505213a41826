# Sourced by the test scripts: counts cases in the results that GoogleTest wrote.

# Sums an attribute ("tests", "failures", …) over the shards of build/PRESET.
gtest_sum() { # preset attribute
  sed -n "s/^<testsuites .*[ ]\{0,1\}$2=\"\([0-9]*\)\".*/\1/p" \
    "build/$1"/test_results/*/results.xml 2>/dev/null | awk '{ sum += $1 } END { print sum + 0 }'
}

gtest_skipped() { # preset
  cat "build/$1"/test_results/*/results.xml 2>/dev/null | grep -c 'result="skipped"' || true
}

# Runs the tests of a preset and sets gtest_passed and gtest_failed; a skipped case is neither. A program that ends before it has
# written its results (a crash, a sanitizer's report) counts as one failure.
run_gtest() { # preset
  rm -f "build/$1"/test_results/*/results.xml
  gtest_status=0
  ctest --preset "$1" -j "${JOBS:-$(nproc)}" || gtest_status=$?
  gtest_failed=$(($(gtest_sum "$1" failures) + $(gtest_sum "$1" errors)))
  gtest_passed=$(($(gtest_sum "$1" tests) - $(gtest_sum "$1" disabled) - $(gtest_skipped "$1") - gtest_failed))
  if [ "$gtest_status" -ne 0 ] && [ "$gtest_failed" -eq 0 ]; then gtest_failed=1; fi
}

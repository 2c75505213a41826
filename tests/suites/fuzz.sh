#!/bin/bash
# Runs each libFuzzer program for a short time (FUZZ_SECONDS, 20), starting from tests/corpus/<program>
# where there is one. What it finds is left in build/asan/fuzz/findings.
set -eu
cd "$(dirname "$0")/../.."

if ! find src -name '*_fuzz.cc' | grep -q .; then
  echo "fuzz: no fuzz targets"
  exit 0
fi
WERROR=OFF scripts/build.sh asan fuzzers  # clang warns of other things than the compiler of releases
mkdir -p build/asan/fuzz/findings

# As many at once as there are processors; each writes a log of its own.
fuzz_one() {
  local name=$1 seeds=()
  mkdir -p "build/asan/fuzz/corpus/$name"
  [ ! -d "tests/corpus/$name" ] || seeds=("tests/corpus/$name")
  "build/asan/fuzzers/$name" -max_total_time="${FUZZ_SECONDS:-20}" -timeout=60 -rss_limit_mb=2048 \
    -max_len=65536 -print_final_stats=1 -artifact_prefix="build/asan/fuzz/findings/$name-" \
    "build/asan/fuzz/corpus/$name" "${seeds[@]}" >"build/asan/fuzz/$name.log" 2>&1
}
export -f fuzz_one

status=0
find src -name '*_fuzz.cc' -exec basename {} .cc \; | sort |
  xargs -P "${JOBS:-$(nproc)}" -I{} bash -c 'fuzz_one {} || { touch build/asan/fuzz/{}.failed; exit 1; }' || status=1

for source in $(find src -name '*_fuzz.cc' | sort); do
  name=$(basename "$source" .cc)
  if [ -e "build/asan/fuzz/$name.failed" ]; then
    rm "build/asan/fuzz/$name.failed"
    tail -n 40 "build/asan/fuzz/$name.log"
    echo "fuzz: $name FAILED; the input is in build/asan/fuzz/findings"
  else
    echo "fuzz: $name: $(sed -n 's/^stat::number_of_executed_units: *//p' "build/asan/fuzz/$name.log") runs, no fault"
  fi
done
exit $status

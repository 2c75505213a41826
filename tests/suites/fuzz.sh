#!/bin/bash
# Runs each libFuzzer program for a short time (FUZZ_SECONDS, 30), starting from tests/corpus/<program>
# where there is one. What it finds is left in build/fuzz/findings.
set -eu
cd "$(dirname "$0")/../.."

if ! find src -name '*_fuzz.cc' | grep -q .; then
  echo "fuzz: no fuzz targets"
  exit 0
fi
WERROR=OFF scripts/build.sh fuzz  # clang warns of other things than the compiler of releases
mkdir -p build/fuzz/findings

# As many at once as there are processors; each writes a log of its own.
fuzz_one() {
  local name=$1 seeds=()
  mkdir -p "build/fuzz/corpus/$name"
  [ ! -d "tests/corpus/$name" ] || seeds=("tests/corpus/$name")
  "build/fuzz/fuzzers/$name" -max_total_time="${FUZZ_SECONDS:-30}" -timeout=10 -rss_limit_mb=2048 \
    -max_len=65536 -print_final_stats=1 -artifact_prefix="build/fuzz/findings/$name-" \
    "build/fuzz/corpus/$name" "${seeds[@]}" >"build/fuzz/$name.log" 2>&1
}
export -f fuzz_one

status=0
find src -name '*_fuzz.cc' -exec basename {} .cc \; | sort |
  xargs -P "${JOBS:-$(nproc)}" -I{} bash -c 'fuzz_one {} || { touch build/fuzz/{}.failed; exit 1; }' || status=1

for source in $(find src -name '*_fuzz.cc' | sort); do
  name=$(basename "$source" .cc)
  if [ -e "build/fuzz/$name.failed" ]; then
    rm "build/fuzz/$name.failed"
    tail -n 40 "build/fuzz/$name.log"
    echo "fuzz: $name FAILED; the input is in build/fuzz/findings"
  else
    echo "fuzz: $name: $(sed -n 's/^stat::number_of_executed_units: *//p' "build/fuzz/$name.log") runs, no fault"
  fi
done
exit $status

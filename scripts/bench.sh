#!/bin/sh
# Builds the micro-benchmarks and runs them with each instruction set that this processor has, or with
# the arguments given:  scripts/bench.sh [ISA [NAME]]
set -eu
cd "$(dirname "$0")/.."
cmake --preset release -DTRIVET_BUILD_BENCH=ON >/dev/null
cmake --build build/release -j "$(nproc)" --target kernels_bench
exec build/release/kernels_bench "$@"

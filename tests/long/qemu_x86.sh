#!/bin/bash
# The program and its kernels on emulated processors: Nehalem has no AVX, IvyBridge has AVX without AVX2, Haswell has
# AVX2 and FMA, `max` is all that QEMU emulates. One instruction that the processor lacks ends the program.
set -u
cd "$(dirname "$0")/../.."
if [ "$(uname -m)" != x86_64 ]; then
  echo "qemu_x86: this is no x86-64 machine, and its program is none of them; nothing was tested"
  exit 0
fi
scripts/build.sh release trivet trivet_tests || exit 1
program=build/release/trivet
models=tests/models
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
  echo "qemu_x86: $1" >&2
  failures=$((failures + 1))
}

# on CPU COMMAND…: runs it there. What QEMU says of features that it does not emulate is left out.
on() {
  { qemu-x86_64 -cpu "$@" >"$work/out" 2>"$work/err"; } 2>"$work/shell"
  local code=$?
  sed -i '/^qemu-x86_64: warning: /d' "$work/err"
  return $code
}

# expect CODE CPU COMMAND…
expect() {
  local code=$1
  shift
  on "$@"
  local got=$?
  [ $got -eq "$code" ] || fail "on $*: exit code $got instead of $code: $(tail -n 3 "$work/err" "$work/out")"
}

# says TEXT WHAT: the last command printed it.
says() {
  grep -qF -- "$1" "$work/out" "$work/err" || fail "$2: '$1' is missing: $(cat "$work/out" "$work/err")"
}

# What is tested at all: an emulated processor must end a program that has instructions which it lacks.
check_emulator() {
  echo 'int main(void) { __asm__ volatile("vpaddd %ymm0, %ymm0, %ymm0"); return 0; }' >"$work/avx2.c"
  ${CC:-gcc} -o "$work/avx2" "$work/avx2.c" || exit 1
  expect 132 Nehalem "$work/avx2"
  expect 132 IvyBridge "$work/avx2"
  expect 0 Haswell "$work/avx2"
}

# CPU MODEL INPUTS…: what cpu gives there is what the reference gave here.
check_model() {
  local cpu=$1 model=$models/$2.onnx
  shift 2
  "$program" run "$model" "$@" --provider reference --save "$work/expected.npz" --force >"$work/out" || {
    fail "the reference does not run $model"
    return
  }
  expect 0 "$cpu" "$program" inspect "$model"
  expect 0 "$cpu" "$program" verify "$model" "$work/expected.npz" "$@"
  says PASS "$model on $cpu"
}

# CPU ISA: the whole program, which must choose that instruction set by itself.
check_program() {
  local cpu=$1 isa=$2
  expect 0 "$cpu" "$program" --version
  expect 0 "$cpu" "$program" providers
  says "instruction set  $isa" "trivet providers on $cpu"
  check_model "$cpu" resnet18 --random --shape batch=2
  check_model "$cpu" mobilenet_v3_small --random --shape batch=1
  check_model "$cpu" convnext_tiny --random --shape batch=1
  check_model "$cpu" swin_t --random --shape batch=1
  check_model "$cpu" lstm --random
  expect 0 "$cpu" "$program" bench "$models/resnet18.onnx" --random --shape batch=1 --runs 5 --warmup 1
  says p50 "trivet bench on $cpu"
}

# The kernels' tests end their buffers before unmapped pages, and QEMU 7.2 reads the whole vector of a masked
# load: with AVX2 only the others can run.
check_tests() { # CPU
  on "$1" build/release/trivet_tests --gtest_brief=1 \
    --gtest_filter='Small/*:Tables/*:CpuParity.*:ConvNodes.*:ProductNodes.*-Tables/*/avx*' ||
    fail "trivet_tests on $1: $(grep -v '^Running main' "$work/out" | head -n 20; tail -n 3 "$work/err")"
  echo "qemu_x86: $1: $(sed -n 's/^\[==========\] //p' "$work/out")"
}

check_emulator
expect 2 Nehalem -E TRIVET_ISA=avx2 "$program" providers
says "does not have" "TRIVET_ISA=avx2 on Nehalem"
check_program Nehalem generic
check_program IvyBridge generic
check_program Haswell avx2
check_program max avx2
for processor in Nehalem Haswell max; do check_tests $processor; done
[ $failures -eq 0 ] || { echo "qemu_x86: $failures failures" >&2; exit 1; }
echo "qemu_x86: Nehalem, IvyBridge, Haswell and max give what the reference gives"

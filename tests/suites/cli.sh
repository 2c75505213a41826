#!/bin/bash
# The command line from outside: exit codes, one line per error, JSON, and the examples of --help,
# which must work when they are pasted in the repository's root.
set -u
cd "$(dirname "$0")/../.."
root=$PWD
program=${TRIVET:-$root/build/release/trivet}
[ -x "$program" ] || { echo "cli: $program is missing: run make build" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir bin
ln -s "$program" bin/trivet
ln -s "$root/tests" tests  # examples name files of the repository, and write beside them
export PATH=$work/bin:$PATH
models=tests/models
checks=0
failures=0

fail() {
  echo "cli: $1" >&2
  failures=$((failures + 1))
}

# expect CODE COMMAND…: runs it with its streams in out and err.
expect() {
  local code=$1 got
  shift
  checks=$((checks + 1))
  "$@" >out 2>err </dev/null
  got=$?
  [ "$got" -eq "$code" ] || fail "'$*': exit code $got instead of $code: $(head -c 400 err)"
}

# refused TEXT COMMAND…: exit code 2, nothing on standard output, one line "trivet: …" with the text.
refused() {
  local text=$1
  shift
  expect 2 "$@"
  [ ! -s out ] || fail "'$*': an error, but standard output holds: $(head -c 200 out)"
  [ "$(wc -l <err)" -eq 1 ] || fail "'$*': not one line: $(head -c 400 err)"
  grep -q '^trivet: .' err || fail "'$*': the line does not start with 'trivet: ': $(head -c 200 err)"
  grep -qF -- "$text" err || fail "'$*': '$text' is missing in: $(cat err)"
}

# json COMMAND…: exit code 0, and one JSON document.
json() {
  expect 0 "$@"
  python3 -m json.tool out >/dev/null 2>&1 || fail "'$*': no JSON: $(head -c 300 out)"
  [ ! -s err ] || fail "'$*': something on standard error: $(head -c 200 err)"
}

# holds EXPRESSION: true of the last document, as d.
holds() {
  python3 -c "import json, sys; d = json.load(open('out')); sys.exit(not ($1))" || fail "not ($1) in: $(head -c 600 out)"
}

# ---- help ----
expect 0 trivet --help
expect 0 trivet --version
grep -q '^trivet [0-9]' out || fail "--version says: $(cat out)"
expect 0 trivet --help
sed -n '/^Subcommands:/,/^$/s/^  \([a-z-]\{1,\}\) .*/\1/p' out >commands
[ -s commands ] || fail "--help lists no commands"
while read -r command; do
  expect 0 trivet "$command" --help
  grep -q '^  -h,--help' out || fail "$command --help lists no options"
  sed -n '/^Examples:/,$p' out | grep '^ .*trivet ' | sed 's/^ *//' >examples
  [ "$(wc -l <examples)" -ge 2 ] || fail "$command --help has fewer than two examples"
  while read -r example; do
    expect 0 bash -c "$example"
  done <examples
done <commands

# ---- usage ----
refused "trivet --help" trivet
refused "there is no command 'fly'" trivet fly
refused "trivet run --help" trivet run
refused "trivet run --help" trivet run a.onnx --no-such-option
refused "trivet run --help" trivet run a.onnx --threads many
refused "trivet run --help" trivet run a.onnx --threads 0
refused "none.onnx" trivet run none.onnx --random
refused "none.onnx" trivet inspect none.onnx
echo "this is not a model" >bad.onnx
refused "bad.onnx" trivet run bad.onnx --random
refused "bad.onnx" trivet inspect bad.onnx
: >empty.onnx
refused "empty.onnx" trivet inspect empty.onnx
refused "." trivet inspect .

# ---- run ----
lite=$models/efficientnet_lite0.onnx
json trivet run $lite --random --json
holds "d['outputs'][0]['name'] == 'output' and d['outputs'][0]['shape'] == [1, 10]"
holds "d['inputs'] == [{'name': 'input', 'dtype': 'float32', 'shape': [1, 3, 32, 32]}]"
json trivet run $lite --random --json --shape input:3x3x32x32 --provider reference
holds "d['outputs'][0]['shape'] == [3, 10] and d['providers'][0]['name'] == 'reference'"
refused "--random" trivet run $lite
refused "'nose'" trivet run $lite --input nose=x.npy
refused "x.npy" trivet run $lite --input x.npy
refused "--shape" trivet run $lite --random --shape input=1x4x32x32
refused "--shape" trivet run $lite --random --shape nose=1x3x32x32
refused "MB" trivet run $lite --random --shape batch=9000000000000
refused "there is no provider" trivet run $lite --random --provider abacus
refused "nowhere.so" trivet run $lite --random --provider ./nowhere.so
refused "--resize" trivet run $lite --input tests/corpus/image_fuzz/rgb.png
refused "--mean" trivet run $lite --input tests/corpus/image_fuzz/rgb.png --mean 1,2
refused "--shape x=1x3x" trivet run $models/ocr_det.onnx --random
expect 0 trivet run $lite --random --seed 7 --save a.npz
refused "--force" trivet run $lite --random --seed 7 --save a.npz
expect 0 trivet run $lite --random --seed 7 --save b.npz --threads 1
expect 0 trivet run $lite --random --seed 8 --save c.npz
cmp -s a.npz c.npz && fail "another seed gives the same outputs"
expect 0 trivet run $lite --random --seed 7 --save a.npz --force
seq 1 10 | sed 's/^/class /' >labels.txt
expect 0 trivet run $lite --random --labels labels.txt
grep -q 'class [0-9]' out || fail "no labels in: $(cat out)"
json trivet run $lite --random --labels labels.txt --json
holds "len(d['top5'][0]['classes']) == 5"
seq 1 9 >labels.txt
refused "--labels" trivet run $lite --random --labels labels.txt
python3 - <<'END'
import struct
for name, value in (("ones", 1.0), ("nans", float("nan"))):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3, 32, 32), }".ljust(117) + "\n"
    with open(name + ".npy", "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        f.write(struct.pack("<f", value) * 3072)
END
mkdir nans && cp nans.npy nans/
cp $lite own.onnx
refused "write over" trivet run own.onnx --random --save own.onnx --force
refused "write over" trivet run own.onnx --input ones.npy --save ./ones.npy --force
refused "twice" trivet run own.onnx --input ones.npy --input ones.npy
refused "--limit" trivet eval own.onnx --data nans --limit 0
refused "--limit" trivet eval own.onnx --data nans --limit -1
refused "'-1'" trivet run own.onnx --random --seed -1
refused "--scale" trivet run own.onnx --input tests/corpus/image_fuzz/rgb.png --scale 0
json trivet run own.onnx --input nans.npy --json
holds "d['outputs'][0]['not_finite'] == 10"
expect 0 trivet run own.onnx --input nans.npy --save nans.npz
grep -q '10 not finite' out || fail "run does not tell of NaN: $(cat out)"
json trivet verify own.onnx nans.npz --input nans.npy --json
holds "d['nonfinite_elements'] == 10 and d['max_abs_diff'] is None and d['min_cosine'] is None"
expect 0 trivet verify own.onnx nans.npz --input nans.npy
grep -q 'note: 10 elements are NaN' out || fail "verify does not tell of NaN: $(cat out)"
expect 1 trivet verify own.onnx nans.npz --input ones.npy --json
holds "d['max_abs_diff'] is None and d['min_cosine'] is None"
expect 1 trivet ship own.onnx --data nans -o nans.trivet --runs 2 --warmup 0
grep -q 'FAIL  NaN or infinite' out || fail "ship does not fail for NaN: $(cat out)"
(ulimit -v 200000 && trivet run $lite --random --shape batch=20000 >out 2>err)
[ $? -eq 2 ] || fail "little memory: not exit code 2: $(head -c 300 err)"
[ "$(wc -l <err)" -eq 1 ] || fail "little memory: not one line: $(head -c 300 err)"
trivet run $lite --random >/dev/full 2>err
[ $? -eq 2 ] || fail "a full disk goes unnoticed"

# ---- inspect ----
json trivet inspect $lite --json --layers
holds "d['nodes'] == 64 and d['operators']['Conv'] == 19 and d['opsets']['ai.onnx'] >= 7"
holds "d['macs'] > 0 and d['flops'] == 2 * d['macs'] and d['macs_symbolic'].endswith('batch')"
holds "sum(l['macs'] for l in d['layers']) == d['macs']"
holds "sum(l['parameters'] for l in d['layers']) == d['parameters']"
json trivet inspect $lite --json --shape batch=4
holds "d['counted_for'][0]['shape'] == [4, 3, 32, 32]"
json trivet inspect $models/several_domains.onnx --json
for model in "$models"/*.onnx; do
  expect 0 trivet inspect "$model" --layers
  json trivet inspect "$model" --json
done

# ---- providers ----
json trivet providers --json
holds "{p['name'] for p in d['providers']} >= {'cpu', 'reference'} and d['threads'] >= 1"
expect 0 env TRIVET_ISA=generic trivet providers --json
holds "d['isa'] == 'generic'"
refused "TRIVET_ISA" env TRIVET_ISA=abacus trivet providers
refused "TRIVET_ISA" env TRIVET_ISA=abacus trivet run $lite --random
refused "TRIVET_ISA" env TRIVET_ISA=abacus trivet verify $lite --count 1
refused "TRIVET_ISA" env TRIVET_ISA=AVX2 trivet eval $lite --data tests/corpus/image_fuzz --resize 32x32 --against reference
refused "--against" trivet verify $lite --count 1 --provider reference
refused "--against" trivet verify $lite $lite --count 1
expect 0 trivet verify $lite $lite --count 1 --against reference

# ---- bench-worker ----
printf 'run 3\nsave worker.npz\nquit\nrun 1\n' >steps
expect 0 bash -c "trivet bench-worker $lite --random --seed 7 <steps"
python3 - <<'END' || fail "bench-worker answers: $(cat out)"
import json
ready, timed, saved = map(json.loads, open("out"))
assert ready["ready"] and ready["load_ms"] > 0 and ready["first_run_ms"] > 0
assert len(timed["ms"]) == 3 and min(timed["ms"]) > 0
assert saved == {"saved": "worker.npz"}
END
cmp -s a.npz worker.npz || fail "bench-worker saves other outputs than run"
expect 0 bash -c "trivet bench-worker $lite --random </dev/null"
for step in 'run' 'run 0' 'run 1e3' 'run 1 2' 'fly 1' 'save worker.npz'; do
  expect 2 bash -c "echo '$step' | trivet bench-worker $lite --random"
  [ "$(wc -l <err)" -eq 1 ] || fail "bench-worker at '$step': not one line: $(head -c 300 err)"
done
refused "--random" trivet bench-worker $lite

echo "cli: $checks commands, $failures failures"
[ "$failures" -eq 0 ]

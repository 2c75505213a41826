#!/bin/bash
# verify, eval and ship from outside: exit codes, JSON, the bundle and its hashes.
set -u
cd "$(dirname "$0")/../.."
trivet=$PWD/build/release/trivet
models=$PWD/tests/models
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
  echo "ship: $1" >&2
  failures=$((failures + 1))
}

# expect CODE WHAT COMMAND…: runs it; its output is in $work/out and $work/err.
expect() {
  local code=$1 what=$2
  shift 2
  "$@" >"$work/out" 2>"$work/err"
  local got=$?
  [ $got -eq "$code" ] && return
  fail "$what: exit code $got instead of $code: $(tail -n 3 "$work/err" "$work/out")"
}

# says TEXT WHAT: the last command printed the text, on either stream.
says() {
  grep -qF -- "$1" "$work/out" "$work/err" || fail "$2: '$1' is missing: $(cat "$work/out" "$work/err")"
}

# json EXPRESSION WHAT: true of the document `d` on standard output.
json() {
  python3 -c "import json, sys; d = json.load(open(sys.argv[1])); sys.exit(0 if ($1) else 1)" \
    "$work/out" || fail "$2: not ($1): $(head -c 600 "$work/out")"
}

python3 tests/ship_data.py "$work/data" || exit 1
data=$work/data
lite=$models/efficientnet_lite0.onnx
pictures="--resize 40 --crop 32 --mean 127 --std 128"

# ---- verify ----
expect 0 "verify on the reference" "$trivet" verify "$lite" --count 3 --shape 1x3x32x32
says "PASS" "verify prints the verdict"
expect 0 "verify with pictures" "$trivet" verify "$lite" --data "$data/photos" $pictures --count 2 --json
json "d['passed'] and d['inputs'] == 2 and d['max_abs_diff'] < 1e-3" "verify --json"
expect 1 "verify of two unlike models" \
  "$trivet" verify "$models/efficientnet_lite0.onnx" "$models/mobilenet_v3_small.onnx" --count 1 --shape 1x3x32x32
says "FAIL" "verify of two unlike models"
expect 0 "outputs to compare with" \
  "$trivet" run "$lite" --random --seed 5 --shape 1x3x32x32 --save "$work/outputs.npz"
expect 0 "verify of saved outputs" \
  "$trivet" verify "$lite" "$work/outputs.npz" --random --seed 5 --shape 1x3x32x32
expect 1 "verify of saved outputs of other inputs" \
  "$trivet" verify "$lite" "$work/outputs.npz" --random --seed 6 --shape 1x3x32x32
expect 2 "saved outputs without inputs" "$trivet" verify "$lite" "$work/outputs.npz"
says "--input" "saved outputs without inputs"
expect 2 "verify of no file" "$trivet" verify "$work/none.onnx"
expect 2 "verify without sizes" "$trivet" verify "$lite" --against nothing
says "nothing" "an unknown provider is named"

# ---- eval ----
expect 0 "eval by folders" "$trivet" eval "$lite" --data "$data/classes" $pictures --json
json "d['inputs'] == 3 and d['accuracy']['top1']['trials'] == 3" "eval by folders"
expect 0 "eval by a table" "$trivet" eval "$lite" --data "$data/photos" --truth "$data/truth.csv" $pictures
says "top-5" "eval prints top-5"
says "95 % interval" "eval prints the interval"
expect 0 "eval of IDX" "$trivet" eval "$lite" --data "$data/many-idx3-ubyte.gz" \
  --truth "$data/many-labels" --resize 32 --limit 4 --json
json "d['inputs'] == 4" "eval --limit"
expect 0 "eval of agreement" "$trivet" eval "$lite" --data "$data/photos" $pictures --against reference --json
json "d['agreement']['value'] == 1 and d['min_cosine'] > 0.9999" "eval --against"
expect 2 "eval without labels" "$trivet" eval "$lite" --data "$data/photos" $pictures
says "--truth" "eval without labels says what to give"
expect 2 "eval without data" "$trivet" eval "$lite" --data "$data/nothing"
echo "0.png 12345678" >"$work/wrong.txt"
expect 2 "eval with an incomplete table" \
  "$trivet" eval "$lite" --data "$data/photos" --truth "$work/wrong.txt" $pictures

# ---- ship ----
for i in $(seq 10); do echo "class <$i> & more"; done >"$work/labels.txt"
bundle=$work/net.trivet
ship=("$trivet" ship "$lite" --data "$data/photos" --labels "$work/labels.txt" $pictures --runs 20)
expect 0 "ship" "${ship[@]}" -o "$bundle" --fps 1 --ram 1G
says "PASS  frame rate" "ship prints the budget"
says "agreement" "ship prints the table"
says "class <" "ship prints predictions"
for file in manifest.json model.onnx labels.txt parity.json latency.json memory.json report.json report.html; do
  [ -s "$bundle/$file" ] || fail "ship: $file is missing"
done
grep -q "class &lt;" "$bundle/report.html" || fail "report.html has no escaped label"
if grep -q "class <" "$bundle/report.html"; then fail "report.html has an unescaped label"; fi
grep -q "data:image/jpeg;base64," "$bundle/report.html" || fail "report.html has no thumbnail"
cp "$bundle/report.json" "$work/out"
json "d['passed'] and d['rows'][1]['latency']['p50_ms'] > 0 and d['rows'][1]['memory']['peak_rss_bytes'] > 0" \
  "report.json"
json "len(d['parity']) == 2 and d['parity'][1]['inputs'] == 3 and d['rows'][1]['agreement']['value'] == 1" \
  "report.json"
cp "$bundle/latency.json" "$work/out"
json "len(d['shipped']['samples_ms']) == 20 and d['shipped']['p99_is_max']" "latency.json"
[ "$(ls -A "$work" | grep -c '^\.')" -eq 0 ] || fail "ship left a temporary folder"

expect 2 "ship onto an existing bundle" "${ship[@]}" -o "$bundle"
says "--force" "ship onto an existing bundle"
expect 0 "ship --force --json" "${ship[@]}" -o "$bundle" --force --json
json "d['model']['name'] == 'efficientnet_lite0' and d['target']['threads'] >= 1" "ship --json"
expect 1 "a budget that cannot be met" "${ship[@]}" -o "$work/slow.trivet" --fps 1e9
says "FAIL  frame rate" "a budget that cannot be met"
[ -s "$work/slow.trivet/report.html" ] || fail "a missed budget still writes the report"
expect 2 "a size that is none" "${ship[@]}" -o "$work/x.trivet" --ram much
expect 1 "a failure does not replace a bundle" "${ship[@]}" -o "$bundle" --force --fps 1e9
says "kept the bundle" "a failure does not replace a bundle"
cp "$bundle/report.json" "$work/out"
json "d['passed']" "the bundle that was kept"
expect 2 "ship onto its own model" "$trivet" ship "$bundle" -o "$bundle" --force
expect 2 "outputs into the bundle" "$trivet" run "$bundle" --random --shape 1x3x32x32 --save "$bundle/report.json" --force
expect 2 "ship onto the folder of its model" "$trivet" ship "$bundle/model.onnx" -o "$bundle" --force
expect 2 "--truth without --data" "$trivet" ship "$lite" --truth "$data/truth.csv" -o "$work/x.trivet"
head -9 "$work/labels.txt" >"$work/few.txt"
expect 2 "labels that fit no output" "$trivet" ship "$lite" --labels "$work/few.txt" -o "$work/x.trivet"
says "lines" "labels that fit no output"
expect 0 "batch 4" "$trivet" ship "$lite" --shape batch=4 $pictures --fps 1 --runs 5 -o "$work/four.trivet"
says "one inference of batch 4" "the batch is told"
grep -q 'batch 4' "$work/four.trivet/report.html" || fail "report.html does not tell the batch"
cp "$work/four.trivet/report.json" "$work/out"
json "d['batch'] == 4" "report.json has the batch"
cp "$work/four.trivet/manifest.json" "$work/out"
json "d['preprocessing']['resize'] == '40'" "picture options without data"
expect 0 "a bundle of a bundle" "$trivet" ship "$bundle" --data "$data/photos" --runs 5 -o "$work/again.trivet"
cp "$work/again.trivet/manifest.json" "$work/out"
json "d['preprocessing']['crop'] == '32x32'" "the bundle's picture options"
cmp -s "$bundle/labels.txt" "$work/again.trivet/labels.txt" || fail "the bundle's labels are lost"
for signal in INT TERM HUP; do
  mkdir "$work/$signal"
  python3 -c 'import os, signal, sys
for s in (signal.SIGINT, signal.SIGHUP): signal.signal(s, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$trivet" ship "$lite" --runs 10000000 -o "$work/$signal/x.trivet" >"$work/out" 2>&1 &
  child=$!
  for _ in $(seq 100); do ls -A "$work/$signal" | grep -q . && break; sleep 0.05; done
  sleep 0.3
  kill -s $signal $child
  { wait $child; } 2>"$work/err"
  [ $? -gt 128 ] || fail "SIG$signal did not end ship"
  [ -z "$(ls -A "$work/$signal")" ] || fail "SIG$signal leaves $(ls -A "$work/$signal")"
done
for option in "--atol nan" "--atol -1" "--rtol inf" "--fps nan" "--fps 0" "--ram nan" "--scale nan"; do
  expect 2 "ship $option" "$trivet" ship "$lite" -o "$work/x.trivet" $option
  says "'${option#* }'" "ship $option names the value"
  [ "$(wc -c <"$work/err")" -lt 200 ] || fail "ship $option: a long message: $(cat "$work/err")"
done
expect 0 "ship without data" "$trivet" ship "$models/lstm.onnx" -o "$work/lstm.trivet" --runs 5

# ---- the bundle as a model ----
expect 0 "verify of a bundle" "$trivet" verify "$bundle" "$lite" --data "$data/photos"
expect 0 "eval of a bundle" "$trivet" eval "$bundle" --data "$data/classes"
printf 'x' | dd of="$bundle/model.onnx" bs=1 seek=5000 conv=notrunc 2>"$work/dd"
expect 2 "a bundle that was changed" "$trivet" verify "$bundle" "$lite" --data "$data/photos"
says "SHA-256" "a bundle that was changed"

[ $failures -eq 0 ] || { echo "ship: $failures failures" >&2; exit 1; }

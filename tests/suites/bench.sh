#!/bin/bash
# trivet bench from outside: its protocol, its files, its comparisons. What it times is not judged here.
suite=bench
. "$(dirname "$0")/from_outside.bash"
small="$models/resnet18.onnx"

# ---- latency ----
json trivet bench $small --runs 12 --warmup 2 --threads 1 --json
holds "len(d['results']) == 1 and d['machine']['cpu'] and d['trivet_version']"
holds "(lambda l: l['runs'] == 12 and l['warmup'] == 2 and l['p99_is_max'] and l['min_ms'] <= l['p50_ms'] <= l['p99_ms'] <= l['max_ms'])(d['results'][0]['latency'])"
holds "'samples_ms' not in d['results'][0]['latency'] and d['results'][0]['threads'] == 1"
holds "d['results'][0]['memory']['peak_rss_bytes'] > 0 and len(d['results'][0]['memory_timeline']) >= 3"
holds "{'load', 'first run', 'run'} <= {s['phase'] for s in d['results'][0]['memory_timeline']}"
holds "d['results'][0]['providers'][0] == {'name': 'cpu', 'nodes': d['results'][0]['providers'][0]['nodes'], 'segments': 1}"
expect 0 trivet bench $small --runs 5
head -n 1 out | grep -q 'nodes on cpu, .* thread' || fail "the first line is: $(head -n 1 out)"
json trivet bench $small --batch 1,2,4 --runs 3 --warmup 0 --json
holds "[r['batch'] for r in d['results']] == [1, 2, 4] and d['results'][2]['inputs'][0]['shape'][0] == 4"
json trivet bench $small --seconds 0.2 --json
holds "d['results'][0]['latency']['runs'] >= 1"
json trivet bench $small $lite --runs 12 --json
holds "len(d['results']) == 2 and len(d['ratios']) == 1"
holds "(lambda r: r['model'] == 'efficientnet_lite0' and r['low'] <= r['ratio'] <= r['high'])(d['ratios'][0])"
json trivet bench $models/lstm.onnx --runs 3 --json
holds "'source' in d['results'][0]['energy']"
json trivet bench $small --runs 3 --watts 15 --json
holds "(lambda e: e['mj_per_inference'] > 0 and (e['estimate'] or e['source'] != 'estimate'))(d['results'][0]['energy'])"
json trivet bench --machine --seconds 1 --save machine.json --json
holds "d['cpu'] and d['peaks'][0]['fma_gflops'] > 0"
[ -s machine.json ] || fail "--machine wrote no file"
refused "machine.json" trivet bench --machine --seconds 1 --save machine.json
refused "takes no MODEL" trivet bench --machine $small
refused "no MODEL" trivet bench
refused "missing.onnx" trivet bench missing.onnx
refused "batch is fixed" trivet bench $models/blazeface.onnx --batch 2
refused "--batch makes the inputs up" trivet bench $small --batch 2 --input x.npy
refused "cannot go together" trivet bench $small --pace 30 --scenario Offline
refused "takes one MODEL" trivet bench $small $lite --pace 30

# ---- saved and compared ----
expect 0 trivet bench $small --runs 40 --save a.json
refused "a.json" trivet bench $small --runs 2 --save a.json
expect 0 trivet bench --compare a.json a.json
grep -q 'same' out || fail "a file against itself is not the same: $(cat out)"
scaled() { # FACTOR: a.json with every time multiplied
  python3 -c "import json, sys
d = json.load(open('a.json'))
l = d['results'][0]['latency']
# Of little spread, so that the verdict does not hang on how quiet this machine is.
l['samples_ms'] = [$1 * (10 + 0.001 * (i % 7)) for i in range(len(l['samples_ms']))]
json.dump(d, open('$2', 'w'))"
}
scaled 1 calm.json
scaled 1.05 slower.json
expect 1 trivet bench --compare calm.json slower.json
grep -q 'slower' out || fail "5 % are not found: $(cat out)"
json trivet bench --compare slower.json calm.json --json
holds "d['comparisons'][0]['verdict'] == 'faster' and abs(d['comparisons'][0]['ratio'] * 1.05 - 1) < 1e-6"
json trivet bench --compare calm.json slower.json --threshold 10 --json
holds "d['comparisons'][0]['verdict'] == 'same'"
echo '{"results": [{"latency": {"samples_ms": [1, "x"]}}]}' >bad.json
refused "bad.json" trivet bench --compare a.json bad.json
refused "not a result" trivet bench --compare a.json tests/models/README.md
refused "no MODEL" trivet bench $small --compare a.json a.json

# ---- load ----
json trivet bench $small --pace 200 --runs 20 --json
holds "d['frames'] == 20 and d['missed'] == d['late'] + d['dropped'] and d['latency']['runs'] + d['dropped'] == 20"
expect 0 trivet bench $small --pace 50 --runs 5
grep -q 'missed ' out || fail "pace tells no misses: $(cat out)"
expect 1 trivet bench $small --scenario SingleStream --seconds 0.001 --json
holds "not d['valid'] and 'needs 64' in d['faults'][0]"
json trivet bench $small --scenario offline --batch 4 --seconds 0.2 --json
holds "d['valid'] and d['metric'] > 0 and d['samples'] == 4 * d['queries']"
expect 1 trivet bench $small --scenario Server --qps 10 --target-ms 0.0001 --seconds 0.3
grep -q '^INVALID' out || fail "an impossible target is not INVALID: $(cat out)"
refused "SingleStream" trivet bench $small --scenario burst
refused "--qps" trivet bench $small --scenario Server
refused "for --scenario Server" trivet bench $small --scenario Offline --qps 3

# ---- the whole way of a picture ----
json trivet bench $small --end-to-end --input tests/corpus/image_fuzz/rgb.png --resize 40x40 --runs 8 --json
holds "[s['stage'] for s in d['stages']] == ['decode', 'resize', 'normalise', 'inference', 'postprocess']"
holds "abs(sum(s['mean_ms'] for s in d['stages']) - d['whole']['mean_ms']) < 1e-6 * d['whole']['mean_ms'] + 1e-9"
refused "needs one picture" trivet bench $small --end-to-end
refused "needs one picture" trivet bench $small --end-to-end --input x.npy

cp -L $small own.onnx
refused "write over" trivet bench own.onnx --runs 2 --save own.onnx --force

# ---- what only one mode reads ----
refused "requires --compare" trivet bench $small --threshold 5
refused "requires --emit-script" trivet bench $small --torch
refused "requires --scenario" trivet bench $small --qps 5
refused "excludes --watts" trivet bench --machine --watts 15
refused "excludes" trivet bench --compare a.json b.json --save c.json

# ---- the same protocol elsewhere ----
expect 0 trivet bench $small --runs 6 --warmup 1 --threads 1 --emit-script script.py
expect 0 "$root/.venv/bin/python" script.py
holds "d['engine'].startswith('onnxruntime') and d['runs'] == 6 and d['p50_ms'] >= d['min_ms'] > 0"
refused "script.py" trivet bench $small --emit-script script.py
expect 0 trivet bench $small --torch --emit-script torch.py
expect 0 python3 -m py_compile torch.py

echo "bench: $checks commands, $failures failures"
[ "$failures" -eq 0 ]

#!/bin/bash
# The command line from outside: exit codes, one line per error, JSON, and the examples of --help,
# which must work when they are pasted in the repository's root.
suite=cli
. "$(dirname "$0")/from_outside.bash"

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
refused "more than the 1.0 MB of --max-memory" trivet run $lite --random --shape batch=1 --max-memory 1MB
expect 0 trivet verify $lite --random --max-memory 1GB --memory low
refused "cannot keep to --max-memory" trivet run $lite --random --provider reference --max-memory 1GiB
refused "--max-memory" trivet run $lite --random --max-memory 64XB
refused "--max-memory" trivet run $lite --random --max-memory -5
refused "--memory" trivet run $lite --random --memory tiny
expect 0 trivet run $lite --random --memory low --max-memory 0.1GiB
json trivet bench $lite --runs 2 --warmup 0 --memory low --json
holds "d['results'][0]['memory_plan']['packed_weight_bytes'] > 0"
json trivet bench $lite --runs 2 --warmup 0 --provider reference --json
holds "d['results'][0]['memory_plan'] is None"
expect 0 trivet run $lite --random --threads 3 --pin --no-spin --save pinned.npz
expect 0 trivet verify $lite pinned.npz --random --threads 3
expect 0 trivet run $lite --random --threads 2 --tune quick --tune-cache tune/new.txt
cp tune/new.txt tuned.txt
expect 0 trivet run $lite --random --threads 2 --tune quick --tune-cache tune/new.txt
cmp -s tune/new.txt tuned.txt || fail "a second run with --tune quick tunes again"
echo 'my notes' >notes.txt
refused "no tuning cache" trivet run $lite --random --tune quick --tune-cache notes.txt
[ "$(cat notes.txt)" = 'my notes' ] || fail "--tune-cache wrote over notes.txt"
refused "--tune" trivet run $lite --random --tune fast
refused "--tune-cache" trivet run $lite --random --tune-cache t.txt
refused "/proc/none" trivet run $lite --random --tune full --tune-cache /proc/none/t.txt
trivet run $lite --random >/dev/full 2>err
[ $? -eq 2 ] || fail "a full disk goes unnoticed"

# ---- inspect ----
json trivet inspect $lite --json --layers
holds "d['nodes'] == 64 and d['operators']['Conv'] == 19 and d['opsets']['ai.onnx'] >= 7"
holds "d['macs'] > 0 and d['flops'] == 2 * d['macs'] and d['macs_symbolic'].endswith('batch')"
holds "sum(l['macs'] for l in d['layers']) == d['macs']"
holds "sum(l['parameters'] for l in d['layers']) == d['parameters']"
json trivet inspect $lite --json --layers --roofline 230,37
holds "d['roofline']['source'] == '--roofline' and abs(d['roofline']['ridge_flops_per_byte'] - 230 / 37) < 1e-9"
holds "abs(sum(l['flops_share'] for l in d['layers']) - 1) < 1e-9"
holds "all(l['side'] == ('memory' if l['arithmetic_intensity'] < 230 / 37 else 'compute') for l in d['layers'])"
holds "d['weight_bytes_at']['fp32'] == 4 * d['parameters'] and d['weight_bytes_at']['int8'] == d['parameters']"
holds "abs(d['weight_stream_ms']['fp32'] - 4 * d['parameters'] / 37e6) < 1e-9"
refused "--roofline" trivet inspect $lite --roofline 230
export XDG_CACHE_HOME=$work/cache  # a machine's file that is not there
expect 0 trivet inspect $lite --layers
grep -q 'note: no roofline.*trivet bench --machine' out || fail "no note on the roofline: $(tail -2 out)"
mkdir -p cache/trivet && echo '{"cpu": "x"}' >cache/trivet/machine.json
json trivet inspect $lite --layers --json
holds "d['roofline'] is None and d['layers'][0]['side'] is None and 'machine.json' in d['notes'][-1]"
json trivet inspect $lite --json --shape batch=4
holds "d['counted_for'][0]['shape'] == [4, 3, 32, 32]"
json trivet inspect $models/several_domains.onnx --json
for model in "$models"/*.onnx; do
  expect 0 trivet inspect "$model" --layers
  json trivet inspect "$model" --json
done

# ---- profile ----
expect 0 trivet profile $lite --runs 3 --top 2 --roofline 100,10
head -1 out | grep -q '^[0-9]* nodes on cpu, [0-9]* thread' || fail "profile does not begin with who ran it: $(head -1 out)"
grep -q 'more; --top all' out || fail "profile --top 2 shows all: $(cat out)"
json trivet profile $lite --runs 3 --save p.json --trace t.json --json
holds "d == json.load(open('p.json')) and d['format'] == 'trivet-profile/1' and d['runs'] == 3"
holds "abs(sum(n['share'] for n in d['nodes']) - 1) < 1e-9 and sum(o['steps'] for o in d['operators']) == len(d['nodes'])"
holds "any(n['op'] == 'Conv+Clip' and n['flops'] > 0 and len(n['names']) == 2 for n in d['nodes'])"
json python3 -c "import json; print(json.dumps(json.load(open('t.json'))['traceEvents']))"
holds "sum(e['ph'] == 'X' and e['cat'] == 'run' for e in d) == 3 and all('ts' in e and 'dur' in e for e in d if e['ph'] == 'X')"
json trivet profile --compare p.json t.json --json
holds "d['nodes'] and not d['only_a'] and not d['only_b'] and all(abs(n['difference_ms']) < 1e-6 for n in d['nodes'])"
json trivet profile --compare p.json tests/profiles/onnxruntime.json --json
holds "d['b']['source'] == 'onnxruntime' and len(d['nodes']) > 15 and not d['only_a']"
expect 0 trivet profile --compare tests/profiles/onnxruntime.json p.json
timeout 60 sh -c 'while :; do :; done' &
busy=$!
json trivet profile $lite --runs 2000 --json
holds "any('not quiet: other programs used' in note for note in d['notes'])"
kill $busy
refused "--force" trivet profile $lite --save p.json
refused "--force" trivet profile $lite --trace t.json
refused "same file" trivet profile $lite --trace x.json --save x.json
refused "write over" trivet profile own.onnx --trace own.onnx --force
refused "MODEL is missing" trivet profile
refused "--compare" trivet profile $lite --compare p.json t.json
refused "--roofline" trivet profile $lite --roofline 100
refused "--roofline" trivet profile $lite --roofline 100,0
refused "--top" trivet profile $lite --top some
refused "--runs" trivet profile $lite --runs 0
refused "bad.onnx" trivet profile --compare p.json bad.onnx
echo '[]' >none.json
refused "none.json: it is a trace, and holds no operators" trivet profile --compare p.json none.json

# ---- check ----
json trivet check $models/resnet18.onnx --json
holds "d['errors'] == 0 and all(f['fix'] for f in d['findings'])"
refused "none.onnx" trivet check none.onnx
refused "bad.onnx" trivet check bad.onnx
refused "give a MODEL" trivet check
refused "--fix" trivet check $models/resnet18.onnx --dynamic input:2=height
refused "INPUT:AXIS=NAME" trivet check $models/resnet18.onnx --fix any.onnx --dynamic input
refused "no such input" trivet check $models/resnet18.onnx --fix any.onnx --dynamic nose:2=height
refused "no such axis" trivet check $models/resnet18.onnx --fix any.onnx --dynamic input:9=height
refused "cannot be met" trivet check $models/vit_b_16.onnx --fix any.onnx --dynamic input:2=height
[ ! -e any.onnx ] || fail "check --fix wrote a model that it refused"
json trivet check $models/blazeface.onnx --fix blaze.onnx --json
holds "d['written'] and d['parity']['passed'] and d['batches']['passed']"
expect 0 trivet run blaze.onnx --random --shape batch=5
refused "--force" trivet check $models/blazeface.onnx --fix blaze.onnx
refused "blaze.onnx" trivet check blaze.onnx --fix blaze.onnx --force
json trivet check --json --error "RuntimeError: Unsupported operator: aten::fft_rfft2"
holds "d['known'] and d['diagnoses'][0]['act'] == 'swap-op'"
expect 1 trivet check --error "Simmer the onions for ten minutes"
refused "--error" trivet check $models/resnet18.onnx --error text
json trivet check --json --symptom list
holds "len(d['symptoms']) >= 14 and all(s['causes'] for s in d['symptoms'])"
refused "--symptom" trivet check $models/resnet18.onnx --symptom list

# ---- convert ----
json trivet convert $models/vit_b_16.onnx --opset 13 -o thirteen.onnx --json
holds "d['from'] == 17 and d['to'] == 13 and d['replaced']['LayerNormalization'] == 5 and d['parity']['passed']"
expect 0 "$root/.venv/bin/python" -c "import onnx; onnx.checker.check_model('thirteen.onnx', full_check=True)"
json trivet convert $models/resnet18.onnx --opset lowest --json
holds "d['output'] is None and d['parity'] is None and d['to'] < 17 and d['refusals'] == []"
expect 1 trivet convert $models/opset_20.onnx --opset 13 -o never.onnx
[ ! -e never.onnx ] || fail "convert wrote a model that it refused"
refused "--force" trivet convert $models/resnet18.onnx --opset 13 -o thirteen.onnx
refused "is not one of 7 to" trivet convert $models/resnet18.onnx --opset 99
refused "give a number" trivet convert $models/resnet18.onnx --opset newest

# ---- optimize ----
json trivet optimize $models/mobilevit_s.onnx -o small.onnx --json
holds "d['nodes_before'] == 420 and d['nodes_after'] < 215 and d['parity']['passed'] and d['parity']['inputs'] == 3"
holds "sum(d['operators_after'].values()) == d['nodes_after'] and 'Constant' not in d['operators_after']"
holds "[p['name'] for p in d['passes']][0] == 'fold-constants' and all(p['changes'] >= 0 for p in d['passes'])"
expect 0 trivet verify small.onnx $models/mobilevit_s.onnx --count 2
expect 0 "$root/.venv/bin/python" -c "import onnx; onnx.checker.check_model('small.onnx')"
refused "--force" trivet optimize $models/mobilevit_s.onnx -o small.onnx
refused "write over" trivet optimize small.onnx -o small.onnx --force
json trivet optimize $models/resnet18.onnx --list --skip-pass fold-batch-norm --json
holds "d['output'] is None and d['parity'] is None and all(f['pass'] != 'fold-batch-norm' for f in d['firings'])"
json trivet optimize $models/mobilevit_s.onnx --list --json
holds "any('/3/Gather_1' in n for f in d['firings'] if f['pass'] == 'fold-constants' for n in f['nodes'])"
"$root/.venv/bin/python" - <<'END'
import numpy as np, onnx
from onnx import helper, numpy_helper
x, y = (helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2, 4]) for name in "xy")
w = numpy_helper.from_array(np.eye(4, dtype=np.float32), "w")
nodes = [helper.make_node("MatMul", ["x", "w"], ["z"]), helper.make_node("Identity", ["z"], ["y"])]
model = helper.make_model(helper.make_graph(nodes, "g", [x], [y], [w]), opset_imports=[helper.make_opsetid("", 17)])
onnx.save(model, "outside.onnx", save_as_external_data=True, location="outside.bin", size_threshold=0)
END
expect 0 trivet optimize outside.onnx -o inside.onnx
expect 0 "$root/.venv/bin/python" -c "import onnx; onnx.checker.check_model('inside.onnx')"
cp outside.bin kept.bin
refused "is being read" trivet optimize outside.onnx -o outside.bin --force
cmp -s outside.bin kept.bin || fail "optimize wrote over the weights that it read"
refused "there is no pass 'fly'" trivet optimize $lite --list --skip-pass fly
refused "--list" trivet optimize $lite
refused "bad.onnx" trivet optimize bad.onnx --list

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

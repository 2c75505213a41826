# Sourced by the suites that try the program from outside, after they have set `suite`, their name. Works in
# an empty folder of its own, where `tests` is the repository's and `trivet` the program's name.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
root=$PWD
program=${TRIVET:-$root/build/release/trivet}
[ -x "$program" ] || { echo "$suite: $program is missing: run make build" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir bin
ln -s "$program" bin/trivet
ln -s "$root/tests" tests  # examples name files of the repository, and write beside them
export PATH=$work/bin:$PATH
models=tests/models
lite=$models/efficientnet_lite0.onnx
checks=0
failures=0

fail() {
  echo "$suite: $1" >&2
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

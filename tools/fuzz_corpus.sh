#!/bin/bash
# Puts small models into build/fuzz/corpus/reader_fuzz, where the fuzz suite keeps what it found so
# far: those of tests/models, and all below the folders that are given.
#   tools/fuzz_corpus.sh [FOLDER...]
set -eu
cd "$(dirname "$0")/.."
target=build/fuzz/corpus/reader_fuzz
mkdir -p "$target"
find tests/models "$@" -name '*.onnx' -size -16k -print0 |
  while IFS= read -r -d '' model; do
    cp "$model" "$target/seed-$(sha256sum <"$model" | cut -c1-16)"
  done
echo "$target: $(find "$target" -type f | wc -l) inputs"

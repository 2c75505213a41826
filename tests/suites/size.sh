#!/bin/sh
# The stripped program stays under 5 MB: it goes to devices.
set -eu
cd "$(dirname "$0")/../.."
limit=5000000
stripped=$(mktemp)
trap 'rm -f "$stripped"' EXIT
strip -o "$stripped" build/release/trivet
size=$(stat -c %s "$stripped")
echo "size: the stripped program takes $size bytes of $limit"
[ "$size" -lt "$limit" ]

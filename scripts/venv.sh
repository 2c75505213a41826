#!/bin/sh
# Makes a virtual environment, .venv from tools/requirements.txt if nothing else is said; does nothing
# while the requirements are the same:  scripts/venv.sh [FOLDER REQUIREMENTS [PIP OPTION…]]
set -eu
cd "$(dirname "$0")/.."

folder=.venv
requirements=tools/requirements.txt
if [ $# -ge 2 ]; then
  folder=$1
  requirements=$2
  shift 2
fi
stamp=$folder/requirements.sha256
if [ ! -f "$requirements" ]; then
  echo "venv: no $requirements; nothing to install" >&2
  exit 0
fi
wanted=$(sha256sum <"$requirements")
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then exit 0; fi

# Debian's own Python: the pinned wheels are for 3.11, and another python3 may come first in PATH.
rm -rf "$folder"
/usr/bin/python3 -m venv "$folder"
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --retries 5 \
  -r "$requirements" "$@"
echo "$wanted" >"$stamp"

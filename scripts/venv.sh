#!/bin/sh
# Makes .venv from tools/requirements.txt; does nothing while the requirements are the same.
set -eu
cd "$(dirname "$0")/.."

requirements=tools/requirements.txt
stamp=.venv/requirements.sha256
if [ ! -f "$requirements" ]; then
  echo "venv: no $requirements; nothing to install" >&2
  exit 0
fi
wanted=$(sha256sum <"$requirements")
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then exit 0; fi

# Debian's own Python: the pinned wheels are for 3.11, and another python3 may come first in PATH.
rm -rf .venv
/usr/bin/python3 -m venv .venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-input --retries 5 \
  -r "$requirements"
echo "$wanted" >"$stamp"

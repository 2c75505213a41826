#!/bin/sh
# Installs the Debian packages that a group of targets needs, and only those that are missing.
#   scripts/setup.sh build | test | demo
# Written for plain sh: a fresh Debian 12 with git and make must be enough to start.
set -eu

build_packages="cmake ninja-build g++ ccache libprotozero-dev libexpected-dev libcli11-dev libfmt-dev
  nlohmann-json3-dev libstb-dev googletest"
demo_packages="$build_packages python3 python3-venv"
test_packages="$demo_packages clang-14 libclang-rt-14-dev g++-aarch64-linux-gnu qemu-user
  valgrind"

case "${1:-}" in
  build) wanted=$build_packages ;;
  test) wanted=$test_packages ;;
  demo) wanted=$demo_packages ;;
  *)
    echo "usage: scripts/setup.sh build|test|demo" >&2
    exit 2
    ;;
esac

if ! command -v apt-get >/dev/null 2>&1 || ! command -v dpkg-query >/dev/null 2>&1; then
  echo "setup: this system has no apt; skipping. Install the equivalents of:" $wanted >&2
  exit 0
fi

missing=""
for package in $wanted; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

as_root=""
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null 2>&1; then
    echo "setup: these packages are missing, and installing them needs root (no sudo here):$missing" >&2
    echo "setup: as root, run: apt-get install --no-install-recommends$missing" >&2
    exit 1
  fi
  as_root=sudo
fi

echo "setup: installing$missing"
apt() {
  # `env` carries the setting through sudo, which drops the environment.
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0 -o Acquire::Retries=3 "$@"
}
# The package lists may be old but sufficient, or absent: refresh them only when the install fails.
if ! apt install --no-install-recommends $missing; then
  apt update
  apt install --no-install-recommends $missing
fi

#!/bin/bash
# Code for one instruction set must not leak. When a file that is built with -mavx512f leaves an inline
# function (of the standard library, or a template) out of line, the linker may keep that copy for the
# whole program, which then dies on processors without AVX-512. So each weak symbol of an ISA's object has
# to carry the ISA in its name (its namespace); everything else must be inlined or local.
set -eu
cd "$(dirname "$0")/../.."

objects=build/release/CMakeFiles/trivet_kernels.dir/src/kernels/isa
status=0
count=0
for object in "$objects"/avx*.cc.o; do
  [ -e "$object" ] || continue
  [ -e "src/kernels/isa/$(basename "$object" .o)" ] || continue  # left over from a removed file
  isa=$(basename "$object" .cc.o)
  isa=${isa%%_*}
  count=$((count + 1))
  leaks=$(nm -C --defined-only "$object" | grep -E ' [WVu] ' | grep -v "$isa" | grep -v DW.ref || true)
  if [ -n "$leaks" ]; then
    echo "$object: weak symbols that are not in a namespace of $isa:"
    echo "$leaks" | cut -c1-160 | head -20
    status=1
  fi
done
echo "isa_symbols: $count objects looked at"
[ "$count" -gt 0 ] || [ "$(uname -m)" != x86_64 ] || { echo "isa_symbols: no objects in $objects"; status=1; }
exit $status

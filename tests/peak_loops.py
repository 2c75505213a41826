"""The loops that measure peaks, as the compiler made them: the arithmetic that the rate is worked out from
is there as often as the source says, and nothing in the loop goes to memory.

    peak_loops.py OBJECT…      build/release/CMakeFiles/trivet_kernels.dir/src/kernels/isa/avx2.cc.o
"""

import pathlib
import re
import subprocess
import sys

# Instructions of one round: by instruction set, then by function.
EXPECTED = {
    "generic": {"peak_fma": {"mulps": 12, "addps": 12}},
    "avx2": {
        "peak_fma": {r"vfmadd\d+ps": 12},
        "peak_int8": {"vpmaddubsw": 8, "vpmaddwd": 8, "vpaddd": 8},
        "peak_int8_dot": {"vpdpbusd": 12},
    },
    "avx512": {
        "peak_fma": {r"vfmadd\d+ps": 24},
        "peak_int8": {"vpmaddubsw": 8, "vpmaddwd": 8, "vpaddd": 8},
        "peak_int8_dot": {"vpdpbusd": 24},
        "peak_bf16_dot": {"vdpbf16ps": 24},
    },
}


def functions(path):
    """The instructions of each function of an object, as (address, text), by the name without namespaces."""
    listing = subprocess.run(["objdump", "-d", "-C", "--no-show-raw-insn", path], check=True, capture_output=True,
                             text=True).stdout
    found = {}
    for line in listing.splitlines():
        if head := re.match(r"[0-9a-f]+ <.*::(\w+)\(.*>:$", line):
            body = found.setdefault(head[1], [])
        elif step := re.match(r" +([0-9a-f]+):\t(.*)$", line):
            body.append((int(step[1], 16), step[2]))
    return found


def loops(body):
    """The instructions of each loop without another inside: from the target of a jump back to the jump."""
    spans = []
    for address, text in body:
        jump = re.match(r"j\w+ +([0-9a-f]+) ", text)
        if jump and int(jump[1], 16) < address:
            spans.append((int(jump[1], 16), address))
    for first, last in spans:
        if not any(first <= a and b <= last and (a, b) != (first, last) for a, b in spans):
            yield [text for address, text in body if first <= address <= last]


def faults(isa, body, name):
    wanted = EXPECTED[isa][name]
    inner = list(loops(body))
    if len(inner) != 1:
        return [f"{len(inner)} loops instead of one"]
    out = []
    for pattern, count in wanted.items():
        seen = sum(bool(re.match(rf"(\{{vex\}} )?{pattern}\b", text)) for text in inner[0])
        if seen != count:
            out.append(f"{seen} × {pattern} in the loop instead of {count}")
    out += [f"a memory operand in the loop: {text}" for text in inner[0] if "(%" in text and not text.startswith("nop")]
    return out


def main():
    status = checked = 0
    for path in sys.argv[1:]:
        isa = pathlib.Path(path).name.split(".")[0]
        found = functions(path)
        for name in EXPECTED.get(isa, {}):
            checked += 1
            for fault in faults(isa, found[name], name) if name in found else ["the function is missing"]:
                print(f"{isa} {name}: {fault}", file=sys.stderr)
                status = 1
    print(f"peak_loops: {checked} loops looked at")
    return status if checked else 1


if __name__ == "__main__":
    sys.exit(main())

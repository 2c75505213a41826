"""What the numbers were taken on, and whether anything else ran there meanwhile."""

import os
import pathlib
import platform
import time

# Instruction sets that decide which kernels an engine can choose.
ISA_FLAGS = (
    "avx2 fma avx_vnni avx512f avx512bw avx512_vnni avx512_bf16 avx512_fp16 amx_int8 amx_bf16 "
    "asimd asimddp asimdhp i8mm bf16 sve sve2"
).split()
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def read(path, default=""):
    try:
        return pathlib.Path(path).read_text().strip()
    except OSError:
        return default


def cpu_fields():
    """The first processor of /proc/cpuinfo, as a dict."""
    first = read("/proc/cpuinfo").split("\n\n")[0]
    pairs = (line.partition(":") for line in first.splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}


def memory_gib():
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30


def describe():
    """The machine as a dict of JSON values."""
    cpu = cpu_fields()
    flags = set((cpu.get("flags") or cpu.get("Features", "")).split())
    governor = read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "not readable")
    return {
        "processor": cpu.get("model name") or platform.machine(),
        "family_model_stepping": [cpu.get(key, "") for key in ("cpu family", "model", "stepping")],
        "architecture": platform.machine(),
        "processors": len(os.sched_getaffinity(0)),
        "isa": [flag for flag in ISA_FLAGS if flag in flags],
        "virtual": "hypervisor" in flags,
        "memory_gib": round(memory_gib(), 1),
        "governor": governor,
        "kernel": platform.release(),
        "system": platform.freedesktop_os_release().get("PRETTY_NAME", "Linux"),
    }


def saturates():
    """Whether kernels may add two products of bytes in 16 bits, where they can overflow: x86 without VNNI."""
    facts = describe()
    return facts["architecture"] == "x86_64" and not any("vnni" in name for name in facts["isa"])


def busy_seconds():
    """Processor time that the whole machine has spent, idle and waiting for I/O left out.

    What the hypervisor took away ("steal") counts: it is somebody else's use of this processor.
    """
    user, nice, system, _, _, irq, softirq, steal = map(int, read("/proc/stat").split()[1:9])
    return (user + nice + system + irq + softirq + steal) / TICKS_PER_SECOND


class ForeignLoad:
    """How much of the machine others used while engines measured."""

    def __init__(self):
        self.capacity_s = self.foreign_s = 0.0

    def during(self, child, action):
        """Runs the action, during which `child` works, and returns its result."""
        start, busy, own = time.monotonic(), busy_seconds(), child.cpu_seconds()
        result = action()
        own = child.cpu_seconds() - own
        self.foreign_s += busy_seconds() - busy - own
        self.capacity_s += (time.monotonic() - start) * os.cpu_count()
        return result

    def share(self):
        """Of the machine's processor time, from 0 to 1. Ticks are 10 ms: short measurements are coarse."""
        return max(0.0, self.foreign_s / self.capacity_s) if self.capacity_s else 0.0

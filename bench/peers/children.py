"""Processes that hold a loaded model, stopped while another one measures."""

import json
import os
import pathlib
import select
import signal
import subprocess

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class EngineFailed(Exception):
    """An engine's process says that it cannot, dies, or does not answer; the text is the reason."""


def last_line(log):
    lines = [line.strip() for line in pathlib.Path(log).read_text(errors="replace").splitlines()]
    return next((line[:300] for line in reversed(lines) if line), "no message")


class Child:
    """A process that answers each line on its standard input with one line of JSON.

    Between stop() and wake() none of its threads can run, so none can spin beside another engine.
    """

    def __init__(self, command, log):
        self.log = log
        with open(log, "wb") as errors:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, start_new_session=True
            )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()  # a stopped process too
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def read_answer(self, timeout_s):
        """The next line of the process, as a dict."""
        ready, _, _ = select.select([self.process.stdout], [], [], timeout_s)
        if not ready:
            raise EngineFailed(f"no answer within {timeout_s:g} s")
        line = self.process.stdout.readline()
        if not line:
            code = self.process.wait()
            ended = f"ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
            raise EngineFailed(f"{ended}: {last_line(self.log)}")
        document = json.loads(line)
        if "error" in document:
            raise EngineFailed(document["error"])
        return document

    def ask(self, line, timeout_s):
        """Sends one line to the process, which must be awake, and returns its answer."""
        try:
            self.process.stdin.write(f"{line}\n".encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # the answer says how it ended
        return self.read_answer(timeout_s)

    def stop(self):
        os.kill(self.process.pid, signal.SIGSTOP)

    def wake(self):
        os.kill(self.process.pid, signal.SIGCONT)

    def cpu_seconds(self):
        """Processor time that all its threads have used."""
        stat = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text()
        fields = stat.rpartition(")")[2].split()  # the name before it may hold blanks
        return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND

"""The `arena` command as a person starts it."""

import io
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import pytest

from arena.cli import main

ARENA = (sys.executable, "-P", "-m", "arena")

LIST_LOADED = """
import json, os, sys
from arena.cli import main
for words in json.loads(sys.argv[1]):
    if not os.fork():
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        try:
            main(words)
        except SystemExit as ended:
            assert ended.code == 0, ended.code
        packages = sorted({name if name.startswith("arena.") else name.partition(".")[0] for name in sys.modules})
        os.write(2, ("loaded: " + " ".join(packages) + "\\n").encode())
        os._exit(0)
    os.wait()
"""
"""Runs the command with each of several lists of words, each in a process of its own that begins where all begin alike.

Writes a line with `loaded: ` and the loaded packages for each that ends with exit code 0.
"""


def environment(**more: str) -> dict[str, str]:
    """Return a terminal wide enough that no line is broken, and no colour."""
    return {**os.environ, "COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb", **more}


def heed_interrupts() -> None:
    """Restore the handling of Ctrl-C: a shell makes background tests ignore it, and they pass that on to all processes."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class FullOutput(io.StringIO):
    """Output that cannot be written. `number`: number of the error, such as `errno.ENOSPC`."""

    name = "full"

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number

    def write(self, text: str) -> int:
        raise OSError(self.number, os.strerror(self.number))


class Result(NamedTuple):
    """Exit code and output of a command."""

    code: int
    stdout: str
    stderr: str


@contextmanager
def keep_switch_interval() -> Iterator[None]:
    """Restore the switch interval of threads, which a bot's command changes, after the block."""
    interval = sys.getswitchinterval()
    try:
        yield
    finally:
        sys.setswitchinterval(interval)


def arena(*arguments: str | Path) -> Result:
    """Run the command to its end, in this process: starting one takes most of a second."""
    out, err = io.StringIO(), io.StringIO()
    with (
        keep_switch_interval(),
        redirect_stdout(out),
        redirect_stderr(err),
        pytest.raises(SystemExit) as ended,
    ):
        main([str(each) for each in arguments])
    code = ended.value.code
    assert isinstance(code, int)
    return Result(code, out.getvalue(), err.getvalue())


def fails(told: str, code: int, *arguments: str | Path) -> None:
    """Check that the command ends with this exit code and one line that holds `told`."""
    result = arena(*arguments)
    assert told in result.stderr, result
    assert result.stderr.startswith("arena: ")
    assert result.stderr.count("\n") == 1, result.stderr
    assert result.stdout == ""
    assert result.code == code

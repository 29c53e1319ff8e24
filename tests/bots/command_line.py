"""Calls of the `arena` command with a user's arguments, for tests."""

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
"""Program that runs `arena` with each list of arguments in the JSON of its first argument, each in a fork of itself.

For each run that ends with exit code 0, the program writes a line of `loaded: ` and the loaded packages to standard error.
"""


def environment(**more: str) -> dict[str, str]:
    """Return environment variables with which no line is wrapped and no colour is printed, and the variables `more`."""
    return {**os.environ, "COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb", **more}


def heed_interrupts() -> None:
    """Restore the default handling of Ctrl-C, which tests inherit as ignored if a shell runs them in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Result(NamedTuple):
    """Exit code and output of a command."""

    code: int
    stdout: str
    stderr: str


@contextmanager
def keep_switch_interval() -> Iterator[None]:
    """Restore after the block the interval at which Python switches threads, which `arena bot` changes."""
    interval = sys.getswitchinterval()
    try:
        yield
    finally:
        sys.setswitchinterval(interval)


def arena(*arguments: str | Path) -> Result:
    """Run the command to its end in this process, because the start of a process takes most of a second."""
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


def fails(message: str, code: int, *arguments: str | Path) -> None:
    """Check that the command ends with this exit code and one line that contains `message`."""
    result = arena(*arguments)
    assert message in result.stderr, result
    assert result.stderr.startswith("arena: ")
    assert result.stderr.count("\n") == 1, result.stderr
    assert result.stdout == ""
    assert result.code == code

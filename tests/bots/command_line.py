"""The `arena` command as a person starts it."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import pytest

from arena.cli import main

ARENA = (sys.executable, "-P", "-m", "arena")


def environment(**more: str) -> dict[str, str]:
    """Return a terminal wide enough that no line is broken, and no colour."""
    return {**os.environ, "COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb", **more}


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

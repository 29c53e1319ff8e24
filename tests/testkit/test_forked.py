"""A forked command is a process as any other: its output, folder, environment, exit code and signals are its own."""

from __future__ import annotations

import os
import signal
from importlib import metadata
from pathlib import Path
from subprocess import TimeoutExpired

import pytest

from testkit.forked import ForkedCommand

pytestmark = pytest.mark.usefixtures("loaded_commands")

ENDLESS = ("bot", "random", "--url", "ws://127.0.0.1:9", "--wait", "600")
"""A bot that looks for a server where none is."""


def test_output_is_appended_to_its_files(tmp_path: Path) -> None:
    out, err = tmp_path / "out", tmp_path / "err"
    for words in (("--version",), ("--version",), ("nonsense",)):
        process = ForkedCommand(*words, cwd=tmp_path, stdout=out, stderr=err)
        assert process.wait(30) == process.returncode == (2 if words == ("nonsense",) else 0)
    assert out.read_text() == 2 * f"arena {metadata.version('riskless-arena')}\n"
    assert err.read_text().startswith("arena: ")
    assert err.read_text().count("\n") == 1


def test_it_is_in_its_folder_and_has_its_environment(tmp_path: Path) -> None:
    here = Path.cwd()
    assert ForkedCommand("new", "mine.py", cwd=tmp_path).wait(30) == 0
    assert (tmp_path / "mine.py").exists()
    err = tmp_path / "err"
    variables = {**os.environ, "ARENA_URL": "nonsense"}
    assert ForkedCommand("bot", "random", cwd=tmp_path, env=variables, stderr=err).wait(30) == 2
    assert "'nonsense' is not a server URL" in err.read_text()
    assert (Path.cwd(), os.environ.get("ARENA_URL")) == (here, None)


def test_a_signal_ends_it(tmp_path: Path) -> None:
    process = ForkedCommand(*ENDLESS, cwd=tmp_path)
    assert process.poll() is None
    assert process.pid != os.getpid()
    with pytest.raises(TimeoutExpired):
        process.wait(0.01)
    process.kill()
    assert process.wait(30) == -signal.SIGKILL
    process.terminate()  # of what has ended nothing happens
    assert process.poll() == -signal.SIGKILL

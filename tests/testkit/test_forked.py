"""Commands that are forked from a process which has loaded the program."""

from __future__ import annotations

from pathlib import Path

import pytest

from testkit.forked import ForkedCommand


def test_a_command_that_ended_may_be_killed_before_its_exit_code_arrives(
    loaded_commands: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ForkedCommand("--help", cwd=tmp_path)
    with monkeypatch.context() as patch:
        assert command.wait(150) == 0
        patch.setattr(ForkedCommand, "returncode", None)
        command.kill()
    assert command.poll() == 0

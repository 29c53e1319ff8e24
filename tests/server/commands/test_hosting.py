"""Results of matches that a server prints and appends to its file of records."""

from __future__ import annotations

import errno
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from arena.protocol.record import read_records
from arena.server.commands.hosting import ReloadableHost, read_plan
from arena.server.commands.settings_file import parse_set_options
from tests.bots.command_line import FullOutput
from tests.server.matches import record


async def test_results_that_cannot_be_written_end_no_server(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "records"
    file = folder / "all.jsonl"
    folder.mkdir()
    options = list(parse_set_options([f"store.record={file}"]))
    host = ReloadableHost(None, options, read_plan(None, options))
    folder.rmdir()
    for match in "ab":
        await host.write_result(record(match))
    why = "results stay in the store alone, because they cannot be written"
    assert caplog.messages == [f"{why}: {file}: No such file or directory"]
    folder.mkdir()
    await host.write_result(record("c"))
    assert capsys.readouterr().out.count(" plies\n") == 3
    with redirect_stdout(FullOutput(errno.EPIPE)):
        await host.write_result(record("d"))
    assert caplog.messages[1:] == [f"{why}: standard output: Broken pipe"]
    assert [each.match for each in read_records(file)] == ["c", "d"]

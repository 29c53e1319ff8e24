"""Results of matches, which a server prints and appends to its file of records."""

from __future__ import annotations

import errno
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from arena.protocol.record import read_records
from arena.server.commands.hosting import ReloadableHost, read_server_configuration
from arena.server.commands.settings_file import parse_set_options
from tests.full_disk import FullOutput, limit_file_size
from tests.server.matches import record


async def test_results_that_cannot_be_written_do_not_stop_the_server(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "records"
    file = folder / "all.jsonl"
    folder.mkdir()
    options = list(parse_set_options([f"store.record={file}"]))
    host = ReloadableHost(None, options, read_server_configuration(None, options))
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


async def test_a_record_cut_off_by_a_full_disk_is_removed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "all.jsonl"
    options = list(parse_set_options([f"store.record={file}"]))
    host = ReloadableHost(None, options, read_server_configuration(None, options))
    await host.write_result(record("a"))
    with limit_file_size(file.stat().st_size + 100), redirect_stdout(FullOutput(errno.ENOSPC)):
        await host.write_result(record("b"))
    await host.write_result(record("c"))
    assert [each.match for each in read_records(file)] == ["a", "c"]
    (message,) = caplog.messages
    assert message.endswith(f"standard output: No space left on device; {file}: File too large")


async def test_each_failing_output_is_logged_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = tmp_path / "records"
    folder.mkdir()
    options = list(parse_set_options([f"store.record={folder / 'all.jsonl'}"]))
    host = ReloadableHost(None, options, read_server_configuration(None, options))
    with redirect_stdout(FullOutput(errno.ENOSPC)):
        await host.write_result(record("a"))
        (folder / "all.jsonl").unlink()
        folder.rmdir()
        for match in "bc":
            await host.write_result(record(match))
    assert [message.count(";") for message in caplog.messages] == [0, 1]


@pytest.mark.parametrize(("engines", "admits_guests"), [("greedy", True), ("none", False)])
def test_a_server_without_engines_admits_no_guests(engines: str, *, admits_guests: bool) -> None:
    options = list(parse_set_options([f"house.engines={engines}", "house.guests=true"]))
    assert read_server_configuration(None, options).house.admits_guests is admits_guests

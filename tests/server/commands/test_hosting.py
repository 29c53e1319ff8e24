"""Results of matches, which a server prints and appends to its file of records."""

from __future__ import annotations

import errno
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from arena.protocol.record import read_records
from arena.server.commands.hosting import ReloadableServer, read_server_configuration
from arena.server.commands.settings_file import BadSettingsFile, parse_set_options
from arena.server.host import ArenaServer
from arena.server.shell.house_processes import HouseEngineError
from tests.full_disk import FullOutput, limit_file_size
from tests.server.matches import record


async def test_results_that_cannot_be_written_do_not_stop_the_server(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "records"
    file = folder / "all.jsonl"
    folder.mkdir()
    options = list(parse_set_options([f"store.record={file}"]))
    host = ReloadableServer(None, options, read_server_configuration(None, options))
    folder.rmdir()
    for match in "ab":
        await host.write_match_result(record(match))
    why = "finished matches are only in the store, because they cannot be written elsewhere"
    assert caplog.messages == [f"{why}: {file}: No such file or directory"]
    folder.mkdir()
    await host.write_match_result(record("c"))
    assert capsys.readouterr().out.count(" plies\n") == 3
    with redirect_stdout(FullOutput(errno.EPIPE)):
        await host.write_match_result(record("d"))
    assert caplog.messages[1:] == [f"{why}: standard output: Broken pipe"]
    assert [each.match for each in read_records(file)] == ["c", "d"]


async def test_a_record_cut_off_by_a_full_disk_is_removed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "all.jsonl"
    options = list(parse_set_options([f"store.record={file}"]))
    host = ReloadableServer(None, options, read_server_configuration(None, options))
    await host.write_match_result(record("a"))
    with limit_file_size(file.stat().st_size + 100), redirect_stdout(FullOutput(errno.ENOSPC)):
        await host.write_match_result(record("b"))
    await host.write_match_result(record("c"))
    assert [each.match for each in read_records(file)] == ["a", "c"]
    (message,) = caplog.messages
    assert message.endswith(f"standard output: No space left on device; {file}: File too large")


async def test_each_failing_output_is_logged_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = tmp_path / "records"
    folder.mkdir()
    options = list(parse_set_options([f"store.record={folder / 'all.jsonl'}"]))
    host = ReloadableServer(None, options, read_server_configuration(None, options))
    with redirect_stdout(FullOutput(errno.ENOSPC)):
        await host.write_match_result(record("a"))
        (folder / "all.jsonl").unlink()
        folder.rmdir()
        for match in "bc":
            await host.write_match_result(record(match))
    assert [message.count(";") for message in caplog.messages] == [0, 1]


@pytest.mark.parametrize(("engines", "admits_guests"), [("greedy", True), ("none", False)])
def test_a_server_without_engines_admits_no_guests(engines: str, *, admits_guests: bool) -> None:
    options = list(parse_set_options([f"house.engines={engines}", "house.guests=true"]))
    assert read_server_configuration(None, options).house_engine_plan.admits_guests is admits_guests


@pytest.mark.parametrize(
    ("texts", "why"),
    [
        (["server.metrics_port=8765"], "port 8765 is server.port already: choose another port"),
        (
            ["server.metrics_port=8764", "server.processes=4", "store.url=postgresql://db/arena"],
            "port 8765 is server.port already: choose another port",
        ),
        (
            ["server.metrics_port=65533", "server.processes=4", "store.url=postgresql://db/arena"],
            "the ports of 4 processes end at 65536, above 65535: choose a lower one",
        ),
    ],
)
def test_ports_that_exclude_each_other_are_refused(texts: list[str], why: str) -> None:
    options = list(parse_set_options(texts))
    with pytest.raises(BadSettingsFile, match=f"^--set server.metrics_port: {why}$"):
        read_server_configuration(None, options)


@pytest.mark.parametrize("text", ["server.host=192.0.2.1", "server.role=core"])
def test_the_metrics_may_have_the_port_of_another_address(text: str) -> None:
    texts = [text, "server.metrics_port=8765", "bus.url=nats://bus", "store.url=postgresql://db/arena"]
    options = list(parse_set_options(texts if "role" in text else texts[:2]))
    assert read_server_configuration(None, options).settings.server.metrics_port == 8765


async def test_a_house_engine_that_cannot_be_started_leaves_no_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse_engines(_host: ArenaServer) -> None:
        raise HouseEngineError("no engine is called 'nonsense'")

    monkeypatch.setattr(ArenaServer, "open_house_engines", refuse_engines)
    texts = ["house.engines=nonsense", f"store.url=sqlite:///{tmp_path / 'arena.db'}", "server.port=0"]
    options = list(parse_set_options(texts))
    host = ReloadableServer(None, options, read_server_configuration(None, options))
    with pytest.raises(HouseEngineError, match="no engine is called 'nonsense'"):
        await host.serve()
    assert list(tmp_path.iterdir()) == []

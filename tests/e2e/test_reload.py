"""`arena serve arena.toml` as a process: it hosts by the file, and follows the file on SIGHUP."""

from __future__ import annotations

import signal
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest

from testkit.forked import ForkedCommand
from testkit.tools import mark_requires
from tests.bots.command_line import environment
from tests.certificates import make_certificate
from tests.e2e.commands import Running, running

pytestmark = pytest.mark.usefixtures("loaded_commands")
FIVE_LINES = """\
[server]
port = 0
anyone = true
[pool]
maps = ["m1"]
"""


@contextmanager
def serving(folder: Path, text: str, *options: str) -> Iterator[Running]:
    """Yield `arena serve arena.toml` with this file."""
    (folder / "arena.toml").write_text(text)
    with running("serve", "arena.toml", *options, folder=folder, env=environment()) as server:
        yield server
        server.stop()


def reload(server: Running, folder: Path, text: str) -> None:
    """Change the file and say so."""
    (folder / "arena.toml").write_text(text)
    server.process.send_signal(signal.SIGHUP)


def test_a_file_of_five_lines_hosts_and_its_reloadable_settings_are_followed(tmp_path: Path) -> None:
    record = tmp_path / "record.jsonl"
    with serving(tmp_path, FIVE_LINES) as server:
        url = server.wait_for(r"listening on (ws://\S+:\d+)\n")
        reload(
            server,
            tmp_path,
            FIVE_LINES.replace("port = 0", "port = 1").replace("m1", "path4")
            + f'time_controls = ["5+0.1"]\npause_seconds = 0\n[store]\nrecord = "{record}"\n[limits]\nconnections = 9\n'
            + "cut_offs = 7\nopen_challenges = 3\nmatches_per_bot = 5\nwork_ms_per_second = 50\n",
        )
        told = server.wait_for(r"settings reloaded: (.*)")
        assert told == (
            "applied pool.maps, pool.time_controls, pool.pause_seconds, store.record, limits.connections, "
            "limits.cut_offs, limits.open_challenges, limits.matches_per_bot, limits.work_ms_per_second; "
            "a restart is needed for server.port"
        )
        bots = [
            ForkedCommand("bot", "random", "--name", name, "--url", url, "--games", "1", cwd=tmp_path)
            for name in ("anna", "bert")
        ]
        assert [bot.wait(200) for bot in bots] == [0, 0]
        end = time.monotonic() + 150
        while not record.exists() or "\n" not in record.read_text():
            assert time.monotonic() < end, server.said
            time.sleep(0.05)
        assert '"map":"path4"' in record.read_text().replace(" ", "")
        assert '"time_control":"5+0.1"' in record.read_text().replace(" ", "")


def test_a_file_with_an_error_changes_nothing(tmp_path: Path) -> None:
    with serving(tmp_path, FIVE_LINES) as server:
        url = server.wait_for(r"listening on (ws://\S+:\d+)\n").replace("ws:", "http:")
        reload(
            server,
            tmp_path,
            f'{FIVE_LINES}[limits]\nconnections = 1\nconections = 2\n[log]\nformat = "json"\n',
        )
        told = server.wait_for(r"settings not reloaded: (.*)")
        assert told == 'arena.toml:8: limits.conections: unknown key; did you mean "connections"?'
        reload(server, tmp_path, f"{FIVE_LINES}[log]\nverbose = true\n")
        assert server.wait_for(r"settings reloaded: (.*)").startswith("applied log.verbose; no restart")
        with urlopen(f"{url}/readyz", timeout=500) as answer:
            assert answer.status == 200


def test_options_override_later_changes_of_the_file(tmp_path: Path) -> None:
    with serving(tmp_path, FIVE_LINES, "--map", "m2", "--set", "pool.pause_seconds=2") as server:
        server.wait_for(r"(listening)")
        reload(server, tmp_path, FIVE_LINES.replace("m1", "world") + "pause_seconds = 3\nmargin_ms = 7\n")
        assert server.wait_for(r"settings reloaded: (.*)").startswith("applied pool.margin_ms; no restart")


@mark_requires("openssl")
def test_a_new_certificate_is_shown_to_who_comes_from_then_on(tmp_path: Path) -> None:
    make_certificate(tmp_path, "first")
    with serving(tmp_path, f'{FIVE_LINES}[tls]\ncert = "cert.pem"\nkey = "cert.key"\n') as server:
        port = int(server.wait_for(r"listening on wss://\S+:(\d+)\n"))
        before = ssl.get_server_certificate(("127.0.0.1", port))
        make_certificate(tmp_path, "second")
        server.process.send_signal(signal.SIGHUP)
        server.wait_for(r"settings reloaded: (.*)")
        after = ssl.get_server_certificate(("127.0.0.1", port))
        assert before != after == (tmp_path / "cert.pem").read_text()


def test_without_a_file_sighup_ends_a_server_as_any_program(tmp_path: Path) -> None:
    with running("serve", "--port", "0", "--set=house.engines=none", folder=tmp_path) as server:
        server.wait_for(r"(listening)")
        server.process.send_signal(signal.SIGHUP)
        assert server.process.wait(150) == -signal.SIGHUP

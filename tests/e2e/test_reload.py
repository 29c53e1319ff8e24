"""`arena serve arena.toml` as a process: it hosts by the file, and follows the file on SIGHUP."""

from __future__ import annotations

import re
import signal
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

import pytest

from testkit.forked import ForkedCommand
from testkit.parts import mark_requires
from tests.bots.command_line import environment

pytestmark = pytest.mark.usefixtures("loaded_commands")
FIVE_LINES = """\
[server]
port = 0
anyone = true
[pool]
maps = ["m1"]
"""


@dataclass(frozen=True)
class Server:
    """A running `arena serve arena.toml`."""

    process: ForkedCommand
    file: Path
    log: Path

    def wait(self, pattern: str) -> str:
        """Wait for the pattern in the log, and return its first group."""
        end = time.monotonic() + 150
        while not (found := re.search(pattern, self.log.read_text())):
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < end, self.log.read_text()
            time.sleep(0.05)
        return found[1]

    def reload(self, text: str) -> None:
        """Change the file and say so."""
        self.file.write_text(text)
        self.process.send_signal(signal.SIGHUP)


@contextmanager
def serving(folder: Path, text: str, *options: str) -> Iterator[Server]:
    file, log = folder / "arena.toml", folder / "serve.log"
    file.write_text(text)
    log.touch()
    words = ("serve", "arena.toml", *options)
    process = ForkedCommand(*words, cwd=folder, env=environment(), stdout=log, stderr=log)
    try:
        yield Server(process, file, log)
        process.send_signal(signal.SIGTERM)
        assert process.wait(150) == 0, log.read_text()
    finally:
        process.kill()
        process.wait()


def test_a_file_of_five_lines_hosts_and_its_reloadable_settings_are_followed(tmp_path: Path) -> None:
    record = tmp_path / "record.jsonl"
    with serving(tmp_path, FIVE_LINES) as server:
        url = server.wait(r"listening on (ws://\S+:\d+)\n")
        server.reload(
            FIVE_LINES.replace("port = 0", "port = 1").replace("m1", "path4")
            + f'time_controls = ["5+0.1"]\npause_seconds = 0\n[store]\nrecord = "{record}"\n[limits]\nconnections = 9\n'
            + "cut_offs = 7\nopen_challenges = 3\nmatches_per_bot = 5\nwork_ms_per_second = 50\n"
        )
        told = server.wait(r"settings reloaded: (.*)")
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
            assert time.monotonic() < end, server.log.read_text()
            time.sleep(0.05)
        assert '"map":"path4"' in record.read_text().replace(" ", "")
        assert '"time_control":"5+0.1"' in record.read_text().replace(" ", "")


def test_a_file_with_an_error_changes_nothing(tmp_path: Path) -> None:
    with serving(tmp_path, FIVE_LINES) as server:
        url = server.wait(r"listening on (ws://\S+:\d+)\n").replace("ws:", "http:")
        server.reload(f'{FIVE_LINES}[limits]\nconnections = 1\nconections = 2\n[log]\nformat = "json"\n')
        told = server.wait(r"settings not reloaded: (.*)")
        assert told == 'arena.toml:8: limits.conections: unknown key; did you mean "connections"?'
        server.reload(f"{FIVE_LINES}[log]\nverbose = true\n")
        assert server.wait(r"settings reloaded: (.*)").startswith("applied log.verbose; a restart")
        with urlopen(f"{url}/readyz", timeout=500) as answer:
            assert answer.status == 200


def test_options_override_later_changes_of_the_file(tmp_path: Path) -> None:
    with serving(tmp_path, FIVE_LINES, "--map", "m2", "--set", "pool.pause_seconds=2") as server:
        server.wait(r"(listening)")
        server.reload(FIVE_LINES.replace("m1", "world") + "pause_seconds = 3\nmargin_ms = 7\n")
        assert server.wait(r"settings reloaded: (.*)").startswith("applied pool.margin_ms; a restart")


@mark_requires("openssl")
def test_a_new_certificate_is_shown_to_who_comes_from_then_on(tmp_path: Path) -> None:
    def make(name: str) -> None:
        words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}"]
        files = ["-keyout", str(tmp_path / "key.pem"), "-out", str(tmp_path / "cert.pem")]
        subprocess.run([*words, *files], check=True, capture_output=True)

    make("first")
    with serving(tmp_path, f'{FIVE_LINES}[tls]\ncert = "cert.pem"\nkey = "key.pem"\n') as server:
        port = int(server.wait(r"listening on wss://\S+:(\d+)\n"))
        before = ssl.get_server_certificate(("127.0.0.1", port))
        make("second")
        server.process.send_signal(signal.SIGHUP)
        server.wait(r"settings reloaded: (.*)")
        after = ssl.get_server_certificate(("127.0.0.1", port))
        assert before != after == (tmp_path / "cert.pem").read_text()


def test_without_a_file_sighup_ends_a_server_as_any_program(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.touch()
    words = ("serve", "--port", "0", "--set=house.engines=none")
    process = ForkedCommand(*words, cwd=tmp_path, env=environment(), stdout=log, stderr=log)
    try:
        Server(process, tmp_path, log).wait(r"(listening)")
        process.send_signal(signal.SIGHUP)
        assert process.wait(150) == -signal.SIGHUP
    finally:
        process.kill()
        process.wait()

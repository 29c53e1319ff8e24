"""The profile `postgres` of the compose file, for real: a public host and its database, and bots from outside."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

import msgpack
import pytest
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from arena.protocol.messages import SUBPROTOCOL
from arena.protocol.record import parse_record_line
from testkit.tools import mark_requires
from tests.bots.command_line import ARENA, arena, environment
from tests.docker.compose import ROOT, assert_replays, docker, stand_in, token_in
from tests.docs.hosting_guide import Block, sections

pytestmark = [
    mark_requires("docker"),
]

IMAGE = "postgres:17"
ARENA_USER = 10001
"""The user of the arena's image: who must be able to read the password's file."""
GUIDE = sections()["10. In containers"]
DATABASE = "postgresql://arena@db/arena"

# It makes two moves, and goes on when a file is there.
HELD = """
import time
from pathlib import Path
from arena.bots.api.bot import Bot

class Held(Bot):
    moved = False

    def choose(self, position, clock):
        while self.moved and not (Path(__file__).parent / "go").exists():
            time.sleep(0.05)
        self.moved = True
        return self.game.moves(position)[0]
"""


@dataclass(frozen=True)
class Profile:
    """The running services, as whoever stands in their folder commands them."""

    folder: Path
    environment: dict[str, str]
    address: str

    def do(self, block: Block) -> str:
        """Type a block of the guide, and see what is shown."""
        # Whoever is root already has no need of sudo.
        commands = (
            re.sub("^sudo ", "", block.commands, flags=re.MULTILINE) if os.geteuid() == 0 else block.commands
        )
        result = subprocess.run(
            ["bash", "-e", "-c", commands],
            cwd=self.folder,
            env={**os.environ, **self.environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=500,
        )
        assert result.returncode == 0, result.stdout[-5000:]
        assert block.missing(result.stdout) is None, result.stdout[-5000:]
        return result.stdout

    def compose(self, *words: str) -> str:
        return docker("compose", "--profile", "postgres", *words, **self.environment)

    def get(self, path: str) -> str:
        with urlopen(f"http://{self.address}{path}", timeout=500) as answer:
            text: str = answer.read().decode()
            return text

    def metric(self, line: str) -> float:
        """Return the value of a line of the metrics, or the sum of a metric's lines; 0 while there is none."""
        values = re.findall(rf"^{re.escape(line)}(?:{{.*}})? (\S+)$", self.get("/metrics"), re.MULTILINE)
        return sum(map(float, values))

    def wait(self, line: str, least: float) -> None:
        end = time.monotonic() + 300
        while self.metric(line) < least:
            assert time.monotonic() < end, self.get("/metrics") + self.compose("logs", "host")
            time.sleep(0.1)


@pytest.fixture(scope="module")
def image() -> Iterator[None]:
    """Yield the image of PostgreSQL: the one that is here, else a stand-in, for as long as the tests run."""
    with stand_in(IMAGE, Path(__file__).parent / "postgres"):
        yield


@pytest.fixture(scope="module")
def profile(image: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Profile]:
    """Start the containers of the guide's first block, on a free port."""
    folder = tmp_path_factory.mktemp("host")
    settings = folder / "host.toml"
    shipped = (ROOT / "docker" / "host.toml").read_text(encoding="utf-8")
    settings.write_text(
        f'{shipped}\n[pool]\ngames = ["tictactoe"]\ntime_controls = ["600+1"]\n', encoding="utf-8"
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    environment = {
        "COMPOSE_FILE": str(ROOT / "docker-compose.yml"),
        "COMPOSE_PROJECT_NAME": f"arena-host-{os.getpid()}",
        "DB_PASSWORD_FILE": str(folder / "db_password"),
        "LISTEN": address,
        "HOST_SETTINGS": str(settings),
    }
    profile = Profile(folder, environment, address)
    try:
        profile.do(GUIDE[0])
        yield profile
    finally:
        profile.compose("down", "--volumes", "--timeout", "5")


def test_the_host_waits_for_the_database_and_not_for_the_server_that_makes_it(profile: Profile) -> None:
    container = profile.compose("ps", "--quiet", "host").strip()
    assert docker("inspect", "--format", "{{.RestartCount}}", container).strip() == "0"
    assert profile.get("/readyz") == "ready\n"


def test_nobody_is_root_and_nothing_but_the_volumes_can_be_written(profile: Profile) -> None:
    for service, user in (("host", "arena"), ("db", "postgres")):
        container = profile.compose("ps", "--quiet", service).strip()
        wanted = profile.compose("exec", service, "id", "-u", user).strip()
        status = profile.compose("exec", "--user", user, service, "cat", "/proc/1/status")
        (running_as,) = re.findall(r"^Uid:\s+(.*)$", status, re.MULTILINE)
        assert set(running_as.split()) == {wanted}
        assert wanted != "0"
        result = docker("inspect", "--format", "{{.HostConfig.ReadonlyRootfs}}", container)
        assert result.strip() == "true"
        completed = profile.compose("exec", "--user", "0", service, "sh", "-c", "touch /usr/x 2>&1 || true")
        assert "Read-only file system" in completed


def test_the_password_is_in_its_file_only(profile: Profile) -> None:
    password = profile.compose("exec", "-T", "host", "cat", "/run/secrets/db_password").strip()
    assert re.fullmatch("[0-9a-f]{48}", password)
    containers = profile.compose("ps", "--quiet", "host", "db").split()
    assert len(containers) == 2
    assert password not in docker("inspect", *containers)
    assert password not in profile.compose("logs", "host", "db")
    seen = profile.compose("exec", "host", "cat", "/proc/1/environ", "/proc/1/cmdline")
    assert "ARENA_DB_PASSWORD_FILE=/run/secrets/db_password" in seen
    assert password not in seen
    file = profile.folder / "db_password"
    assert (file.stat().st_uid, file.stat().st_mode & 0o777) == (ARENA_USER, 0o400)


def test_a_proxy_on_this_machine_is_believed(profile: Profile) -> None:
    """Else all who come through it would share one address, and its limits."""
    told = "203.0.113.7"
    with connect(
        f"ws://{profile.address}",
        subprotocols=[Subprotocol(SUBPROTOCOL)],
        additional_headers={"X-Forwarded-For": told},
    ) as client:
        client.send(msgpack.packb({"type": "hello", "name": "guest-1", "token": "", "session": ""}))
        assert msgpack.unpackb(client.recv(timeout=500, decode=False))["type"] == "welcome"
    assert f"connected from {told}" in profile.compose("logs", "host")


@contextmanager
def bot(file: Path, name: str, change: str, profile: Profile) -> Iterator[None]:
    """Yield a bot of its own process, outside of all containers, with the token of `arena token CHANGE NAME`."""
    result = profile.compose("exec", "-T", "host", "arena", "token", change, name, "--db", DATABASE)
    command = [*ARENA, "bot", str(file), "--name", name, "--url", f"ws://{profile.address}"]
    with (file.parent / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(
            command, env=environment(ARENA_TOKEN=token_in(result)), stdout=log, stderr=log
        )
    try:
        yield
        process.send_signal(signal.SIGINT)
        process.wait(150)
    finally:
        process.kill()
        process.wait(150)


def test_a_rated_match_of_bots_from_outside_goes_on_after_the_host_was_killed(
    profile: Profile, tmp_path: Path
) -> None:
    file = tmp_path / "held.py"
    file.write_text(HELD, encoding="utf-8")
    with bot(file, "ada", "rotate", profile), bot(file, "ben", "create", profile):  # the guide created ada
        profile.wait('arena_messages_total{type="move"}', 2)
        profile.compose("kill", "host")
        profile.compose("up", "--detach", "--wait", "host")
        assert "continuing 1 matches" in profile.compose("logs", "host")
        (tmp_path / "go").touch()
        profile.wait("arena_matches_finished_total", 1)
    exported = profile.compose("exec", "-T", "host", "arena", "export", "-", "--db", DATABASE)
    first = parse_record_line(next(line for line in exported.splitlines() if line.startswith("{")))
    assert {first.players.maxie, first.players.minnie} == {"ada", "ben"}
    assert_replays(first)
    ratings = profile.compose("exec", "-T", "host", "arena", "ratings", "--db", DATABASE)
    assert re.search(r"\| *ada *\|", ratings), ratings
    assert re.search(r"\| *ben *\|", ratings), ratings


def test_a_backup_is_brought_out_and_up_again_goes_on(profile: Profile) -> None:
    """The last of this file: it stops the host, as the guide says, and starts it again."""
    profile.do(GUIDE[1])
    backup = f"sqlite:///{profile.folder / 'arena-backup.db'}"
    assert re.search(r"\| *ada *\| *bot *\|", arena("token", "list", "--db", backup).stdout)
    profile.compose("up", "--detach", "--wait", "db", "host")
    assert profile.get("/readyz") == "ready\n"

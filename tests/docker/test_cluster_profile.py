"""The profile `cluster` of the compose file, for real: edges and cores, and a core is killed."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from arena.protocol.record import Record, parse_record_line
from testkit.tools import mark_requires
from tests.docker.compose import ROOT, assert_replays, docker, stand_in, wait_for

pytestmark = [pytest.mark.timeout(900), mark_requires("docker")]

HERE = Path(__file__).parent
IMAGES = {
    "postgres:17": HERE / "postgres",
    "nats:2.11-alpine": HERE / "nats",
    "nginxinc/nginx-unprivileged:1.28-alpine": HERE / "nginx",
}
PAGE = (ROOT / "docs" / "docker.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("## One arena of edges and cores\n")[2].partition("\n## ")[0]
BLOCKS = re.findall(r"```sh\n(.*?)```", SECTION, re.DOTALL)
DATABASE = "postgresql://arena@db/arena"


class Arena:
    """The running services, as whoever stands in their folder commands them."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        self.folder = folder
        settings = folder / "cluster.toml"
        shipped = (ROOT / "docker" / "cluster.toml").read_text(encoding="utf-8")
        # a pause: without one the matches would keep the machine busy for as long as the tests look at other things
        pool = '[pool]\ngames = ["tictactoe"]\ntime_controls = ["60+1"]\npause_seconds = 1\n'
        settings.write_text(shipped.replace("[pool]\n", pool), encoding="utf-8")
        self.environment = {
            "COMPOSE_FILE": str(ROOT / "docker-compose.yml"),
            "COMPOSE_PROJECT_NAME": f"arena-cluster-{os.getpid()}",
            "DB_PASSWORD_FILE": str(folder / "db_password"),
            "BUS_PASSWORD_FILE": str(folder / "bus_password"),
            "LISTEN": self.address,
            "CLUSTER_SETTINGS": str(settings),
        }

    def type(self, commands: str) -> str:
        """Type a block of the page."""
        if os.geteuid() == 0:
            # Whoever is root already has no need of sudo.
            commands = re.sub("^sudo ", "", commands, flags=re.MULTILINE)
        result = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", commands],
            cwd=self.folder,
            env={**os.environ, **self.environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=800,
        )
        assert result.returncode == 0, result.stdout[-5000:] + self.compose("logs", "--tail", "40")
        return result.stdout

    def compose(self, *words: str) -> str:
        return docker("compose", "--profile", "cluster", *words, **self.environment)

    def containers(self, *services: str) -> list[str]:
        """Return the containers of services that have one each."""
        containers = self.compose("ps", "--quiet", *services).split()
        assert len(containers) == len(services)
        return containers

    def get(self, path: str) -> tuple[int, str]:
        """Return the answer of the reverse proxy."""
        try:
            with urlopen(f"http://{self.address}{path}", timeout=500) as answer:
                return answer.status, answer.read().decode()
        except HTTPError as error:
            with error:
                return error.code, ""

    def finished_matches(self) -> set[str]:
        """Return the newest finished matches, as the page lists them; none while the server is busy or has no core."""
        status, text = self.get("/api/records?limit=50")
        if status in (429, 503):
            return set()
        assert status == 200
        return {each["match"] for each in json.loads(text)["matches"]}

    def records(self) -> list[Record]:
        """Return the finished matches."""
        # Docker carries both outputs, and would put the last line of one into a line of the other.
        export = f"arena export - --db {DATABASE} 2>/dev/null"
        exported = self.compose("exec", "-T", "edge-1", "sh", "-c", export)
        return [parse_record_line(line) for line in exported.splitlines() if line.startswith("{")]


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    """Start the containers of the page's first block, on a free port."""
    with ExitStack() as stack:
        for image, folder in IMAGES.items():
            stack.enter_context(stand_in(image, folder))
        arena = Arena(tmp_path_factory.mktemp("cluster"))
        try:
            arena.type(BLOCKS[0])
            yield arena
        finally:
            arena.compose("down", "--volumes", "--timeout", "5")


def test_a_core_that_is_killed_costs_no_match(arena: Arena) -> None:
    wait_for("matches", lambda: len(arena.finished_matches()) >= 3 or None)
    assert "arena_core 1.0" in arena.type(BLOCKS[1])
    before = wait_for("list of matches", lambda: arena.finished_matches() or None)
    wait_for("more matches", lambda: len(arena.finished_matches() - before) >= 3 or None)
    for record in arena.records():
        assert_replays(record)


def test_the_entrance_keeps_the_metrics_and_passes_the_rest_on(arena: Arena) -> None:
    wait_for("core", lambda: arena.get("/readyz") == (200, "ready\n") or None)
    assert arena.get("/metrics")[0] == 404
    assert "<title>" in arena.get("/")[1]


def test_the_passwords_are_in_their_files_only(arena: Arena) -> None:
    services = ("edge-1", "core-1", "bus", "entrance", "db")
    shown = docker("inspect", *arena.containers(*services)) + arena.compose("logs", *services)
    for file in ("db_password", "bus_password"):
        secret = arena.compose("exec", "-T", "edge-1", "cat", f"/run/secrets/{file}").strip()
        assert re.fullmatch("[0-9a-f]{48}", secret)
        assert secret not in shown


def test_nothing_but_the_volumes_can_be_written(arena: Arena) -> None:
    containers = arena.containers("edge-1", "edge-2", "core-1", "core-2", "bus", "entrance")
    read_only = docker("inspect", "--format", "{{.HostConfig.ReadonlyRootfs}}", *containers)
    assert read_only.split() == ["true"] * 6

"""examples/docker: its bots, one in Python and one in C, are built and play a ladder, each in a container of its own."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from arena.protocol.record import read_records
from testkit.tools import mark_requires
from tests.docker.compose import ANY_PORT, ROOT, assert_replays, docker

FOLDER = ROOT / "examples" / "docker"
IMAGES = ("my-python-bot", "my-c-bot")

pytestmark = [pytest.mark.timeout(900), mark_requires("docker")]


def test_a_container_for_each_bot(tmp_path: Path) -> None:
    results = tmp_path / "results"
    results.mkdir()
    variables = {
        "LISTEN": ANY_PORT,
        "RECORD": str(results),
        "GAME": "tictactoe",
        "PYTHON_VERSION": os.environ.get("PYTHON_VERSION", "3.14"),
    }

    def compose(*words: str) -> str:
        name = f"arena-examples-{os.getpid()}"
        return docker(
            "compose",
            "--progress",
            "plain",
            "-f",
            str(FOLDER / "docker-compose.yml"),
            "-p",
            name,
            *words,
            **variables,
        )

    docker("compose", "-f", str(ROOT / "docker-compose.yml"), "build", "server", **variables)
    try:
        result = compose("up", "--build")
        for service in ("python", "c"):
            assert "is connected to ws://server:8765" in compose("logs", service), result[-3000:]
            container = compose("ps", "--all", "--quiet", service).strip()
            limits = docker(
                "inspect", "--format", "{{.HostConfig.Memory}} {{.HostConfig.ReadonlyRootfs}}", container
            )
            assert limits.split() == [str(2**30), "true"]
    finally:
        compose("down", "--volumes", "--timeout", "5")
        docker("image", "rm", "--force", *IMAGES)
    played = list(read_records(results / "ladder.jsonl"))
    for record in played:
        assert_replays(record)
    names = Counter(name for record in played for name in (record.players.maxie, record.players.minnie))
    assert set(names) == {"greedy", "my_bot", "c"}
    assert len(set(names.values())) == 1, "each has met each"

"""The compose file, for real: a Docker engine, containers, their network and their volume.

Runs where DOCKER_HOST names an engine, as `.ci/run` sees to where it can.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import msgspec
import pytest

from protocol.record import Record, read
from testkit.parts import requires
from tests.docker.compose import Compose, assert_replays, compose_project, docker

pytestmark = [
    pytest.mark.docker,
    pytest.mark.timeout(900),  # the first build installs all dependencies
    requires("docker"),
]

OWN_BOT = """
from bots.api.bot import Bot

class Last(Bot):
    def choose(self, position, clock):
        return self.game.moves(position)[-1]
"""


@pytest.fixture
def compose(tmp_path: Path) -> Iterator[Compose]:
    """Runs `docker compose` on a project of its own with one service more, and removes it all at the end."""
    (tmp_path / "last.py").write_text(OWN_BOT, encoding="utf-8")
    (tmp_path / "own.yml").write_text(
        f"""
services:
  last:
    image: riskless-arena
    pull_policy: never
    volumes: ["{tmp_path / "last.py"}:/bots/last.py:ro"]
    command: bot /bots/last.py --url ws://server:8765 --wait 120
""",
        encoding="utf-8",
    )
    run = compose_project(f"arena-test-{os.getpid()}", tmp_path / "own.yml")
    yield run
    run("down", "--volumes", "--timeout", "5")


def exit_codes(compose: Compose) -> dict[str, int]:
    """Of every container, by its service and number."""
    lines = compose("ps", "--all", "--format", "{{.Name}} {{.ExitCode}}").splitlines()
    return {name.split("-", 3)[3]: int(code) for name, code in map(str.split, lines)}


def records(compose: Compose, folder: Path) -> list[Record]:
    compose("cp", "server:/record/ladder.jsonl", str(folder))
    return list(read(folder / "ladder.jsonl"))


def test_up_plays_a_ladder_to_its_end_and_a_service_or_a_scale_adds_a_bot(
    compose: Compose, tmp_path: Path
) -> None:
    bots = {"random", "greedy", "greedy-2", "minimax", "alphabeta", "jamboree", "last"}
    # The margin: a machine that builds and tests may be busy, and this test is not about its speed.
    terms = {"BOTS": "7", "MAP": "path4", "TC": "0.05/move", "MARGIN": "5000", "ROUNDS": "1"}
    output = compose("up", "--build", "--scale", "greedy=2", **terms)
    codes = exit_codes(compose)
    assert len(codes) == 8
    failed = {name: code for name, code in codes.items() if code}
    assert not failed, f"all end by themselves when the ladder is over\n{output[-8000:]}"
    played = records(compose, tmp_path)
    met = sorted((record.players.maxie, record.players.minnie) for record in played)
    assert met == sorted(
        [*combinations(sorted(bots), 2), *((b, a) for a, b in combinations(sorted(bots), 2))]
    )
    for record in played:
        assert_replays(record)
    engines = [
        each for record in played if record.engines for each in (record.engines.maxie, record.engines.minnie)
    ]
    # Two cores are the container's, unless the machine has but one.
    two = min(2, int(docker("info", "--format", "{{.NCPU}}")))
    assert {each.threads for each in engines if each and each.name == "jamboree"} == {two}
    assert {each.threads for each in engines if each and each.name == "alphabeta"} == {1}
    compose("cp", "server:/record/table.json", str(tmp_path))
    table = msgspec.json.decode((tmp_path / "table.json").read_bytes())["table"]
    assert {row["bot"] for row in table} == bots
    assert sum(row["points"] for row in table) == len(played)
    printed = [line.partition("|")[2] for line in output.splitlines() if "server-1 " in line]
    rows = [line for line in printed if line.count("|") > 10]
    assert all(any(f"| {bot} " in row for row in rows) for bot in bots), output[-3000:]


def test_stop_ends_all_cleanly_and_keeps_the_record(compose: Compose, tmp_path: Path) -> None:
    terms = {"BOTS": "3", "TC": "10+1", "MAP": "path4", "ROUNDS": "1000"}
    compose("up", "--build", "--detach", "--scale", "greedy=2", "server", "random", "greedy", **terms)
    limit = time.monotonic() + 60
    while "2/6000 " not in compose("logs", "server"):
        assert time.monotonic() < limit, compose("logs")
        time.sleep(0.5)
    assert compose("exec", "server", "id", "-un").strip() == "arena"
    began = time.monotonic()
    compose("stop", "--timeout", "30")
    assert time.monotonic() - began < 20
    codes = exit_codes(compose)
    assert codes.pop("server-1") == 130, "stopped, not killed (137)"
    assert set(codes.values()) == {0}
    played = records(compose, tmp_path)
    assert len(played) >= 2
    for record in played:
        assert_replays(record)


def matches_of(compose: Compose, folder: Path) -> set[str]:
    """The matches that are in the record, each there once."""
    ids = [record.match for record in records(compose, folder)]
    assert len(ids) == len(set(ids))
    return set(ids)


def test_a_killed_ladder_goes_on_and_every_bot_has_its_limits(compose: Compose, tmp_path: Path) -> None:
    terms = {"BOTS": "3", "TC": "5+1", "MAP": "path4", "ROUNDS": "10", "OPENINGS": "2"}
    services = ("server", "random", "greedy", "last")
    compose("up", "--build", "--detach", *services, **terms)
    limit = time.monotonic() + 120
    while "5/60 " not in compose("logs", "server"):
        assert time.monotonic() < limit, compose("logs")
        time.sleep(0.2)
    compose("kill")
    before = matches_of(compose, tmp_path)
    output = compose("up", *services, **terms)
    assert "goes on: " in output, output
    after = matches_of(compose, tmp_path)
    assert before < after
    assert len(after) == 60
    compose("cp", "server:/record/report.html", str(tmp_path))
    assert "<h2>Ratings</h2>" in (tmp_path / "report.html").read_text(encoding="utf-8")
    names = compose("ps", "--all", "--format", "{{.Name}}").split()
    for name in names:
        if "-random-" in name or "-greedy-" in name:
            shown = docker("inspect", "--format", "{{.HostConfig.NanoCpus}} {{.HostConfig.Memory}}", name)
            assert shown.split() == [str(10**9), str(2**30)]

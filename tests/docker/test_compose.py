"""The compose file, for real: a Docker engine, containers, their network and their volume.

Runs where DOCKER_HOST names an engine, as `.ci/run` sees to where it can.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from urllib.request import urlopen

import msgspec
import pytest

from arena.protocol.codes import EndReason
from arena.protocol.record import Record, read_records
from testkit.tools import mark_requires
from tests.docker.compose import ANY_PORT, Compose, assert_replays, compose_project, docker, wait_for

pytestmark = [
    pytest.mark.timeout(900),  # the first build installs all dependencies
    mark_requires("docker"),
]

SOMEBODY = 12345
"""A user of this machine that nobody else is."""

ANOTHER = {"NUMBA_CPU_NAME": "nocona", "NUMBA_CPU_FEATURES": ""}
"""A processor that no machine has any more on which this is run, as numba names it."""

OWN_BOT = """
from arena.bots.api.bot import Bot

class Last(Bot):
    def choose(self, position, clock):
        return self.game.moves(position)[-1]
"""


@pytest.fixture
def compose(tmp_path: Path) -> Iterator[Compose]:
    """Run `docker compose` on a project of its own with one service more, and removes it all at the end."""
    (tmp_path / "last.py").write_text(OWN_BOT, encoding="utf-8")
    (tmp_path / "own.yml").write_text(
        f"""
services:
  last:
    image: riskless-arena
    pull_policy: never
    volumes: ["{tmp_path / "last.py"}:/bots/last.py:ro"]
    command: bot /bots/last.py --url ws://server:8765 --wait 120
    attach: false
""",
        encoding="utf-8",
    )
    project = compose_project(f"arena-test-{os.getpid()}", tmp_path / "own.yml")
    always = {"LISTEN": ANY_PORT, "RECORD": str(results(tmp_path))}

    def run(*words: str, **environment: str) -> str:
        return project(*words, **{**always, **environment})

    yield run
    run("down", "--volumes", "--timeout", "5")


def results(folder: Path) -> Path:
    """Return a folder for results. It belongs to an ordinary user, whoever runs the tests."""
    made = folder / "results"
    made.mkdir()
    if os.geteuid() == 0:
        os.chown(made, SOMEBODY, SOMEBODY)
    return made


def exit_codes(compose: Compose) -> dict[str, int]:
    """Return the exit code of every playing container, by service and number, after all have ended."""

    def ended() -> dict[str, int] | None:
        lines = compose("ps", "--all", "--format", "{{.Name}} {{.State}} {{.ExitCode}}").splitlines()
        states = {name.split("-", 3)[3]: (state, int(code)) for name, state, code in map(str.split, lines)}
        if any(state != "exited" for state, _ in states.values()):
            return None
        return {name: code for name, (_, code) in states.items() if name != "kernels-1"}

    return wait_for("end of all containers", ended)


def records(folder: Path) -> list[Record]:
    return list(read_records(folder / "results" / "ladder.jsonl"))


def lines_of_server(output: str) -> list[str]:
    """Return the ladder's lines in the output of `up`."""
    return [
        line.partition("| ")[2] for line in output.splitlines() if re.match(r"\W*(\[2K)?server-1 +\| ", line)
    ]


def assert_told_once_and_whole(output: str, matches: int, bots: set[str], earlier: int = 0) -> None:
    """Check that each match has one line, followed by the line of the file, the whole table and its remarks.

    earlier: number of matches in the file before this ladder
    These are of both outputs of the ladder, which Docker carries apart: either may come first.
    """
    told = lines_of_server(output)
    numbers = [int(found[1]) for line in told if (found := re.match(rf"(\d+)/{matches} ", line))]
    assert numbers == list(range(1, matches + 1)), output[-5000:]
    table = [line for line in told if line.startswith("|")]
    assert table, output[-5000:]
    assert table[0].startswith("| # | bot "), output[-5000:]
    assert {row.split("|")[2].strip() for row in table[2:]} == bots, output[-5000:]
    assert len(table) == 2 + len(bots), output[-5000:]
    where = f"{matches} matches are in /record/ladder.jsonl"
    if earlier:
        where += f", after {earlier} that were there before"
    assert told.count(where) == 1, output[-5000:]
    known = "|", "warning: ", "drawn: ", "blunders: "
    last = told[told.index(where) + 1 :]
    assert all(line.startswith(known) or "matches lost on time" in line for line in last), output[-5000:]
    rows = [line for line in output.splitlines() if " | " in line]
    assert len(rows) == len(told), "only the ladder is shown"


def test_up_plays_a_ladder_to_its_end_and_a_service_or_a_scale_adds_a_bot(
    compose: Compose, tmp_path: Path
) -> None:
    bots = {"random", "greedy", "greedy-2", "minimax", "alphabeta", "jamboree", "last"}
    # The margin: a machine that builds and tests may be busy, and this test is not about its speed.
    terms = {"BOTS": "7", "GAME": "tictactoe", "TC": "0.02/move", "MARGIN": "5000", "ROUNDS": "1"}
    output = compose("up", "--build", "--scale", "greedy=2", **terms)
    codes = exit_codes(compose)
    assert len(codes) == 8
    assert_told_once_and_whole(output, 42, bots)
    failed = {name: code for name, code in codes.items() if code}
    assert not failed, f"all end by themselves when the ladder is over\n{output[-8000:]}"
    played = records(tmp_path)
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
    assert not any(record.result.reason is EndReason.NO_SHOW for record in played)
    table = msgspec.json.decode((tmp_path / "results" / "table.json").read_bytes())["table"]
    assert {row["bot"] for row in table} == bots
    assert sum(row["points"] for row in table) == len(played)
    owner = (tmp_path / "results").stat().st_uid
    assert {file.stat().st_uid for file in (tmp_path / "results").iterdir()} == {owner}
    assert owner != 0
    assert ".nbc" not in kernels_in_volume(compose), "the image has all of them"


def test_stop_ends_all_cleanly_and_keeps_the_record(compose: Compose, tmp_path: Path) -> None:
    """Game, map and openings are those that the file gives where nothing else is said."""
    terms = {"BOTS": "3", "TC": "10+1", "ROUNDS": "1000"}
    compose("up", "--build", "--detach", "--scale", "greedy=2", "server", "random", "greedy", **terms)
    wait_for("matches", lambda: "2/6000 " in compose("logs", "server") or None, state=lambda: compose("logs"))
    with urlopen(f"http://{compose('port', 'server', '8765').strip()}/", timeout=500) as page:
        assert "<html" in page.read().decode()
    status = compose("exec", "server", "cat", "/proc/1/status")
    (users,) = re.findall(r"^Uid:\s+(.*)$", status, re.MULTILINE)
    assert set(users.split()) == {str((tmp_path / "results").stat().st_uid)}
    assert set(re.findall(r"^Cap\w+:\s+(\w+)$", status, re.MULTILINE)) == {"0" * 16}
    assert compose("exec", "random", "id", "-un").strip() == "arena"
    compose("stop", "--timeout", "120")
    codes = exit_codes(compose)
    assert codes.pop("server-1") == 130, "stopped, not killed (137)"
    assert set(codes.values()) == {0}
    played = records(tmp_path)
    assert len(played) >= 2
    for record in played:
        assert_replays(record)


def matches_of(folder: Path) -> set[str]:
    """Return the matches that are in the record, each there once."""
    ids = [record.match for record in records(folder)]
    assert len(ids) == len(set(ids))
    return set(ids)


def test_a_killed_ladder_goes_on_and_every_bot_has_its_limits(compose: Compose, tmp_path: Path) -> None:
    terms = {"BOTS": "3", "TC": "5+1", "MAP": "path4", "ROUNDS": "10", "OPENINGS": "2"}
    services = ("server", "random", "greedy", "last")
    compose("up", "--build", "--detach", *services, **terms)
    limit = time.monotonic() + 400
    while "5/60 " not in compose("logs", "server"):
        assert time.monotonic() < limit, compose("logs")
        time.sleep(0.2)
    compose("kill")
    before = matches_of(tmp_path)
    refused = compose("up", *services, **{**terms, "TC": "6+1"})
    told = lines_of_server(refused)
    assert "was started with different settings: time control was 5+1, now 6+1" in told[-1], refused
    assert told[-1].endswith("EVENT=NAME docker compose up begins another event")
    assert exit_codes(compose) == {"server-1": 1, "random-1": 0, "greedy-1": 0, "last-1": 0}
    second = compose("up", *services, **{**terms, "ROUNDS": "1", "EVENT": "my second"})
    assert_told_once_and_whole(second, 6, {"random", "greedy", "last"}, earlier=len(before))
    others = matches_of(tmp_path) - before
    output = compose("up", *services, **terms)
    assert "resumes: " in output, output
    after = matches_of(tmp_path) - others
    assert before < after
    assert len(after) == 60
    assert "<h2>Ratings</h2>" in (tmp_path / "results" / "report.html").read_text(encoding="utf-8")
    names = compose("ps", "--all", "--format", "{{.Name}}").split()
    for name in names:
        if "-random-" in name or "-greedy-" in name:
            assert limits(name) == [10**9, 2**30, 256]
    assert limits(compose("ps", "--all", "--quiet", "server").strip()) == [10**9, 2**30, 256]


def limits(container: str) -> list[int]:
    """Return the cores (in billionths), the bytes of memory and the processes that a container may have."""
    wanted = "{{.HostConfig.NanoCpus}} {{.HostConfig.Memory}} {{.HostConfig.PidsLimit}}"
    return [int(word) for word in docker("inspect", "--format", wanted, container).split()]


OPEN_GAMES = """
import sys
from arena.bots.compiled.catalogue import weights_for
from arena.bots.compiled.searcher import Searcher, Settings
from arena.maps.game_on_map import make_game_on_map
for name in sys.argv[1:]:
    game = make_game_on_map(name, "path4")
    searcher = Searcher(game, weights_for(game, "plain"), Settings(table_mb=1))
    searcher.warm_up()
    searcher.close()
"""
"""Gets the compiled searches of games ready, as the service does for each game: all of them take a minute."""


def kernels_in_volume(compose: Compose) -> str:
    """Return the names and times of the compiled searches in the volume of the service `kernels`."""
    look = "find /var/cache/arena -name '*.nbc' -exec stat -c '%n %Y' {} +"
    return compose("run", "--rm", "--no-deps", "--entrypoint", "sh", "alphabeta", "-c", look)


def test_another_processor_is_compiled_for_once_and_bots_cannot_change_what_was_made(
    compose: Compose,
) -> None:
    compose("build", "server")
    here = "find /tmp -name '*.nbc' | wc -l"
    own = f"python -c '{OPEN_GAMES}' tictactoe riskless && {here}"
    output = compose("run", "--rm", "--no-deps", "--entrypoint", "sh", "alphabeta", "-c", own)
    assert output.splitlines()[-1] == "0", "no bot compiles what the image has"
    another = [word for name, value in ANOTHER.items() for word in ("-e", f"{name}={value}")]
    ready = ("run", "--rm", *another, "--entrypoint", "python", "kernels", "-c", OPEN_GAMES, "tictactoe")
    compose(*ready)
    result = kernels_in_volume(compose)
    assert result.count(".nbc") == 2
    compose(*ready)
    assert kernels_in_volume(compose) == result, "what is there is not made again"
    changed = "touch /var/cache/arena/x 2>&1 || true"
    completed = compose("run", "--rm", "--no-deps", "--entrypoint", "sh", "alphabeta", "-c", changed)
    assert "Read-only file system" in completed

"""A game of somebody's own from end to end: a ladder by a file, its store, what reads it, and a cluster's worker."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from uuid import uuid4

import pytest

from arena.games.catalogue import CATALOGUE
from arena.ladder.bot_pool import BotNotStarted
from arena.ladder.dask_worker import PairJob, play_pair
from arena.ladder.plan import BotPlan
from arena.maps.game_on_map import make_game_on_map
from arena.match.terms import MatchTerms, encode_terms
from arena.processes.bot_process import RestartPolicy
from arena.protocol.record import parse_record_line, read_records
from arena.protocol.timecontrol import TimeControl
from arena.protocol.values import Players
from tests.bots.command_line import ARENA
from tests.e2e.commands import arena
from tests.games.own import EXAMPLES, nim

pytestmark = pytest.mark.usefixtures("loaded_commands")

OTHER_RULES = r"nim has other rules there \(digest \w{16}\) than here \(digest \w{16}\): both sides need the same file of the game"

LADDER = """
event = "nimble"
game = "games/nim.py:Nim"
time_control = "60/move"
rounds = 1
openings = 2
[[bots]]
engine = "greedy"
[[bots]]
engine = "alphabeta"
[[bots]]
engine = "jamboree"
"""


def run(folder: Path, code: int, *words: str, typed: str = "", **environment: str) -> str:
    result = subprocess.run(
        [*ARENA, *words],
        cwd=folder,
        env=os.environ | environment,
        input=typed,
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert result.returncode == code, result.stdout + result.stderr
    return result.stdout + result.stderr


def forked(folder: Path, code: int, *words: str, **environment: str) -> str:
    """Return the output of a command that ends with this exit code, in a process without other user-defined games."""
    result = arena(*words, folder=folder, env=os.environ | environment)
    assert result.code == code, result
    return result.stdout + result.stderr


def test_played_matches_can_be_read_again(tmp_path: Path) -> None:
    (tmp_path / "ladder" / "games").mkdir(parents=True)
    file = nim(tmp_path / "ladder" / "games")
    (tmp_path / "ladder" / "ladder.toml").write_text(LADDER, encoding="utf-8")
    result = forked(
        tmp_path, 0, "ladder", "ladder/ladder.toml", "--db", "sqlite:///a.db", ARENA_RECORDS="kept"
    )
    assert "6 matches are in kept" in result
    (records,) = (tmp_path / "kept").glob("*.jsonl")
    played = list(read_records(records))
    assert {record.game for record in played} == {"nim"}
    assert {record.result.reason.value for record in played} == {"the_last_one"}
    assert {record.result.detail for record in played} == {"the last one"}
    match = played[0].match
    game = ("--game", f"{file}:Nim")

    assert "no game is called 'nim'" in forked(tmp_path, 1, "log", match, "--db", "sqlite:///a.db")
    assert "nobody" not in forked(tmp_path, 0, "log", match, "--db", "sqlite:///a.db", *game)
    forked(tmp_path, 0, "export", "out.jsonl", "--db", "sqlite:///a.db")
    assert "no game is called 'nim'" in forked(tmp_path, 1, "import", "out.jsonl", "--db", "sqlite:///b.db")
    assert "6 matches are new" in forked(
        tmp_path, 0, "import", "out.jsonl", "--db", "sqlite:///b.db", ARENA_GAME=str(file)
    )
    assert "ply 0: maxie" in forked(
        tmp_path, 0, "replay", str(records), "--match", match, "--ply", "1", *game
    )
    assert "no game is called 'nim'" in forked(tmp_path, 1, "replay", str(records), "--match", match)
    judged = forked(tmp_path, 0, "replay", str(records), "--match", match, "--analyse", "alphabeta", *game)
    assert "moves marked" in judged

    # Other rules of the same name are another event, and do not bear out what was played by these.
    nim(tmp_path / "ladder" / "games", ("size = 9", "size = 10"))
    other = forked(tmp_path, 1, "ladder", "ladder/ladder.toml", "--db", "sqlite:///a.db")
    assert "rules" in other
    other = forked(tmp_path, 1, "replay", str(records), "--match", match, *game)
    assert re.fullmatch(rf"arena: .*{OTHER_RULES}\n", other), other
    other = forked(tmp_path, 1, "import", "out.jsonl", "--db", "sqlite:///c.db", *game)
    assert re.search(rf"line 1: .*{OTHER_RULES}$", other, re.MULTILINE), other


def test_a_person_plays_it_at_the_terminal(tmp_path: Path) -> None:
    game = ("--game", f"{nim(tmp_path)}:Nim")
    result = run(tmp_path, 0, "play", "random", *game, "--record", "r.jsonl", typed="1\n" * 5)
    assert "the last one" in result
    nim(tmp_path, ("size = 9", "size = 10"))
    assert re.search(OTHER_RULES, run(tmp_path, 1, "replay", "r.jsonl", *game))


def job(**changes: object) -> PairJob:
    spec = f"{EXAMPLES / 'connect4.py'}:ConnectFour"
    game = make_game_on_map(CATALOGUE.register_game(spec))
    matches = tuple(
        MatchTerms(
            match=uuid4().hex, event="e", game=game, players=players, time_control=TimeControl(60_000, per_move=True),
            margin_ms=500, ready_ms=30_000,
        )
        for players in (Players("a", "b"), Players("b", "a"))
    )  # fmt: skip
    variables = {
        "encoded_terms": tuple(map(encode_terms, matches)),
        "bots": (BotPlan("a", "greedy"), BotPlan("b", "random")),
        "bot_folder": "",
        "restart_policy": RestartPolicy(),
        "game_specs": (spec,),
        "rules_digest": CATALOGUE.get_rules_digest(game),
    }
    return PairJob(**{**variables, **changes})  # type: ignore[arg-type]


def test_a_worker_of_a_cluster_plays_it() -> None:
    done = play_pair(job())
    assert not done.notices
    assert [parse_record_line(line).game for line in done.record_lines] == ["connect4", "connect4"]


def test_a_worker_with_other_rules_or_without_the_file_refuses() -> None:
    with pytest.raises(BotNotStarted, match="connect4 has other rules there"):
        play_pair(job(rules_digest="0123456789abcdef"))
    with pytest.raises(
        BotNotStarted, match=r"a worker of the cluster cannot play the match: .*nowhere\.py does not exist"
    ):
        play_pair(job(game_specs=("/nowhere/nowhere.py:Nowhere",)))

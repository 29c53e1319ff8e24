"""benchmarks.engine.earlier: an engine in a process of its checkout answers as the one in this process."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from arena.bots.compiled.catalogue import weights_for
from arena.bots.compiled.searcher import Searcher, Settings
from arena.games.core import Player
from benchmarks.engine.earlier import ROOT, Earlier, Worker, check, play
from benchmarks.kit.measure import game, positions


def test_a_worker_searches_as_the_engine_of_its_checkout() -> None:
    board = game("m1")
    (position,) = positions(board, 1, first=6)
    searcher = Searcher(board, weights_for(board, "plain"), Settings(exact=True, table_mb=16))
    last = list(searcher.deepen(position, max_depth=4))[-1]
    searcher.close()
    worker = Worker(ROOT, board, exact=True, evaluator="plain")
    try:
        answer = worker.search(position, depth=4)
        worker.clear()
        assert (tuple(answer["move"]), answer["value"], answer["depth"]) == (
            last.move,
            last.value,
            last.depth,
        )
        assert answer["nodes"] == last.nodes
        assert worker.search(position, nodes=500)["nodes"] <= 500
        assert worker.search(position, seconds=0.01)["move"] in [list(move) for move in board.moves(position)]
        assert play(board, (worker, worker), Player.MINNIE, 1, seconds=0.001) in (0.0, 0.5, 1.0)
    finally:
        worker.close()


def test_an_engine_is_found_where_the_first_states_had_it(tmp_path: Path) -> None:
    folder = tmp_path / "bots" / "engine"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text(f"__path__.append({str(ROOT / 'bots')!r})\n")
    (folder / "__init__.py").touch()
    for name in ("searcher", "catalogue"):
        (folder / f"{name}.py").write_text(f"from bots.compiled.{name} import *\n")
    board = game("m1")
    (position,) = positions(board, 1, first=6)
    answers = []
    for checkout in (ROOT, tmp_path):
        worker = Worker(checkout, board, exact=True, evaluator="plain")
        try:
            answers.append(worker.search(position, depth=4) | {"seconds": 0})
        finally:
            worker.close()
    assert answers[0] == answers[1]


def test_an_earlier_state_is_named_by_its_commit_and_day(tmp_path: Path) -> None:
    for command in (
        "init --quiet",
        "-c user.name=A -c user.email=a@b.example commit --quiet --allow-empty -m one",
    ):
        subprocess.run(["git", *command.split()], cwd=tmp_path, check=True)
    assert re.fullmatch(r"[0-9a-f]{7,} of \d{4}-\d\d-\d\d", Earlier.at(tmp_path).commit)


def test_two_searches_that_find_another_move_are_not_the_same() -> None:
    check([{"move": [0, 1], "value": 3}, {"move": [0, 1], "value": 3}])
    with pytest.raises(AssertionError, match="not the same search"):
        check([{"move": [0, 1], "value": 3}, {"move": [1, 0], "value": 3}])

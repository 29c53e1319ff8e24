"""benchmarks.engine.earlier: an engine in a process of its checkout answers as the one in this process."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.engine.earlier import ROOT, Worker, check, play
from benchmarks.kit.measure import game, positions
from bots.compiled.catalogue import weights_for
from bots.compiled.searcher import Searcher, Settings
from games.core import Player


def test_a_worker_searches_as_the_engine_of_its_checkout() -> None:
    board = game("m1")
    (position,) = positions(board, 1, first=6)
    searcher = Searcher(board, weights_for(board, "plain"), Settings(exact=True, table_mb=16))
    last = list(searcher.deepen(position, max_depth=4))[-1]
    searcher.close()
    worker = Worker(ROOT, "m1", exact=True, evaluator="plain")
    try:
        answer = worker.search(position, depth=4)
        worker.clear()
        assert (tuple(answer["move"]), answer["value"], answer["depth"]) == (
            last.move,
            last.value,
            last.depth,
        )
        assert answer["nodes"] == last.nodes
        assert worker.search(position, seconds=0.01)["move"] in [list(move) for move in board.moves(position)]
        assert play(board, (worker, worker), Player.MINNIE, 1, seconds=0.001) in (0.0, 0.5, 1.0)
    finally:
        worker.close()


def test_a_checkout_without_an_environment_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"has no \.venv"):
        Worker(tmp_path, "m1", exact=True, evaluator="plain")


def test_two_searches_that_find_another_move_are_not_the_same() -> None:
    check([{"move": [0, 1], "value": 3}, {"move": [0, 1], "value": 3}])
    with pytest.raises(AssertionError, match="not the same search"):
        check([{"move": [0, 1], "value": 3}, {"move": [1, 0], "value": 3}])

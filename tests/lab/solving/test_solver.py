"""The solver agrees with the rules in Python and with the reference search, and resumes after it was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pytest

from arena.games.core import MAXIE
from arena.games.riskless import RisklessPosition
from arena.games.riskless_map import RisklessMap
from arena.lab.solving.solver import Solver
from arena.lab.variants import load_map_variant
from arena.maps.loader import load_map
from arena.solved.board_numbers import BoardNumbering
from tests.lab.solving.graph_space import solve_game
from tests.lab.solving.maps import MAPS, Endless, exchange_players_for_maxie, solve_to_table

ROOT = Path(__file__).parents[4]


@pytest.mark.parametrize("map", MAPS, ids=lambda each: each.name)
def test_the_compiled_rules_agree_with_the_game(map: RisklessMap, tmp_path: Path) -> None:
    table = solve_to_table(map, tmp_path)
    game = Endless(map)
    boards = (
        RisklessPosition(table.numbering.decode_board(number), MAXIE, 0)
        for number in range(table.numbering.board_count)
    )
    in_play = [each for each in boards if any(each.armies) and game.outcome(each) is None]
    assert len(in_play) == table.header.totals.open > 20
    with ThreadPoolExecutor(1) as workers:
        solution = solve_game(game, workers, in_play, represent=exchange_players_for_maxie)
    for position in in_play:
        assert table.probe_board(position.armies) == solution[position], position


def test_the_file_is_the_same_with_any_number_of_threads(tmp_path: Path) -> None:
    map = load_map("path4")
    first = solve_to_table(map, tmp_path, 1).path.read_bytes()
    assert solve_to_table(map, tmp_path, 5).path.read_bytes() == first


class Stop(Exception):
    """Raised to interrupt the solver."""


def test_the_solver_resumes_after_an_interrupt_at_any_step(tmp_path: Path) -> None:
    map = load_map("path4")
    whole = solve_to_table(map, tmp_path).path.read_bytes()
    path, part = tmp_path / "again.solved", tmp_path / "again.part"
    finished_parts: list[str] = []
    stops = 0
    while True:
        steps = 0

        def report_progress(part_name: str, _done: int, _total: int) -> None:
            nonlocal steps
            steps += 1
            finished_parts.append(part_name.split(",", maxsplit=1)[0])
            if steps > 2 + stops % 4:  # noqa: B023 - called only within this iteration
                raise Stop

        try:
            Solver(
                BoardNumbering.from_map(map), part, 2, report_progress, checkpoint_interval_seconds=0
            ).solve(path)
            break
        except Stop:
            stops += 1
            assert not path.exists()
    assert stops > 5
    assert finished_parts.count("checkpoint") > 3
    assert path.read_bytes() == whole
    assert not part.exists()


PROGRAM = """
import sys
from pathlib import Path
from arena.lab.solving.solver import Solver
from arena.lab.variants import load_map_variant
from arena.solved.board_numbers import BoardNumbering
print("begun", flush=True)
Solver(BoardNumbering.from_map(load_map_variant(sys.argv[2])), Path(sys.argv[1] + ".part"), 2, lambda *_: None, 0).solve(Path(sys.argv[1]))
"""


def test_a_solver_killed_at_random_moments_writes_the_same_file(tmp_path: Path) -> None:
    map, kills = "m1:cap=6", 3
    began = time.monotonic()
    whole = solve_to_table(load_map_variant(map), tmp_path).path.read_bytes()
    span = max(0.5, time.monotonic() - began)
    path = tmp_path / "killed.solved"
    rng = Random(kills)
    done = 0
    while not path.exists() or done < kills:
        path.unlink(missing_ok=True)
        with subprocess.Popen(
            [sys.executable, "-P", "-c", PROGRAM, path, map], cwd=ROOT, stdout=subprocess.PIPE, env=os.environ
        ) as program:
            assert program.stdout is not None
            program.stdout.readline()
            if done < kills:
                time.sleep(rng.random() * span)
                program.send_signal(signal.SIGKILL)
                done += 1
            program.wait()
    assert path.read_bytes() == whole

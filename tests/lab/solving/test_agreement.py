"""A solved table agrees with the reference search, which shares no code with the solver.

For random unfinished boards, the wins and losses that the search finds within its depth are those in the table, with the
same numbers of plies.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from arena.bots.search.alphabeta import failsoft
from arena.bots.search.problem import Problem
from arena.bots.search.search_values import count_plies_to_end
from arena.games.core import MAXIE
from arena.games.riskless import Move, Riskless, RisklessPosition
from arena.games.riskless_map import HIGHEST_PLY_LIMIT, RisklessMap
from arena.lab.variants import load_map_variant
from arena.solved.header import encode_header
from arena.solved.solved_table import SolvedTable
from arena.solved.solved_value import SolvedResult, SolvedValue
from arena.solved.zstandard import zstd
from tests.lab.solving.maps import solve_to_table
from tests.solved.conftest import make_path_map


def compare(map: RisklessMap, table: SolvedTable, boards: int, depth: int) -> tuple[int, int]:
    """Compare the table with the reference search on random boards.

    Return the number of boards that are decided within `depth` plies according to the table, and the number of boards for
    which the two disagree.
    """
    game = Riskless(replace(map, ply_limit=HIGHEST_PLY_LIMIT))
    problem = Problem(game, lambda _: 0)
    rng = Random("7")
    compared = decided = differ = 0
    while compared < boards:
        position = RisklessPosition(
            table.numbering.decode_board(rng.randrange(table.numbering.board_count)), MAXIE, 0
        )
        if not any(position.armies) or game.outcome(position) is not None:
            continue
        truth = table.probe_board(position.armies)
        near = truth.plies is not None and truth.plies <= depth
        compared += 1
        decided += near
        differ += find_reference_value(problem, position, depth) != (truth if near else None)
    return decided, differ


def find_reference_value(
    problem: Problem[RisklessPosition, Move], position: RisklessPosition, depth: int
) -> SolvedValue | None:
    """Return the value for Maxie, who is to move, if the reference search finds a win or a loss; otherwise None."""
    value = failsoft(problem, position, depth).value
    plies = count_plies_to_end(value)
    return None if plies is None else SolvedValue(SolvedResult.WIN if value > 0 else SolvedResult.LOSS, plies)


@pytest.mark.parametrize(
    ("map", "boards", "depth"),
    [
        ("path4", 300, 5),
        ("m1:cap=6", 2_000, 4),
    ],
)
def test_the_reference_search_agrees_within_its_depth(
    map: str, boards: int, depth: int, tmp_path: Path
) -> None:
    decided, differ = compare(
        load_map_variant(map), solve_to_table(load_map_variant(map), tmp_path), boards, depth
    )
    assert differ == 0
    assert 0 < decided < boards


def test_every_kind_of_wrong_value_is_found(tmp_path: Path) -> None:
    """The table has a draw instead of a win, a win instead of a draw, or another number of plies."""
    map = make_path_map()
    table = solve_to_table(map, tmp_path)
    right = table.read_block(0)
    for wrong in (lambda code: 0 if code else 5, lambda code: code + 4 if code > 3 else code):
        block = zstd.compress(bytes(wrong(code) for code in right), 1)
        path = tmp_path / "wrong.solved"
        path.write_bytes(encode_header(table.header, [block]) + block)
        assert compare(map, SolvedTable(path), 60, 3)[1] > 0

"""Maps that are solved within moments, and Riskless without its ply limit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from arena.games.core import MAXIE
from arena.games.riskless import Move, Riskless, RisklessPosition
from arena.games.riskless_map import RisklessMap
from arena.lab.solving.solver import Solver
from arena.maps.generators import make_grid_map, make_ring_map
from arena.solved.board_numbers import BoardNumbering, make_board_for_mover
from arena.solved.solved_table import SolvedTable
from tests.solved.conftest import make_path_map


def solve_to_table(map: RisklessMap, folder: Path, threads: int = 2) -> SolvedTable:
    path = folder / "it.solved"
    Solver(BoardNumbering.from_map(map), folder / "it.part", threads, lambda *_: None).solve(path)
    return SolvedTable(path)


class Endless(Riskless):
    """Riskless without a ply limit: every position has ply 0."""

    def successor(self, position: RisklessPosition, move: Move) -> RisklessPosition:
        return super().successor(position, move)._replace(ply=0)


def exchange_players_for_maxie(position: RisklessPosition) -> RisklessPosition:
    """Return the same position with Maxie to move: if Minnie is to move, the players are exchanged."""
    return RisklessPosition(make_board_for_mover(position), MAXIE, 0)


def replace_cap_and_goal(map: RisklessMap, cap: int, goal: int) -> RisklessMap:
    return replace(map, territory_cap=cap, armies_to_win=goal)


MAPS = [
    make_path_map(),
    make_path_map(4, 2, 6),
    replace_cap_and_goal(make_ring_map(4), 3, 8),
    replace_cap_and_goal(make_grid_map(2, 2), 3, 9),
    make_path_map(5, 2, 7),
    replace(replace_cap_and_goal(make_ring_map(3), 4, 12), ply_limit=9),
]

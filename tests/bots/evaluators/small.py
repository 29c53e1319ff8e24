"""A map whose features are counted by hand."""

from __future__ import annotations

from arena.games.riskless import Riskless
from arena.games.riskless_map import RisklessMap


def path_of_five() -> Riskless:
    return Riskless(
        RisklessMap(
            name="path",
            territories=("a", "b", "c", "d", "e"),
            neighbours=((1,), (0, 2), (1, 3), (2, 4), (3,)),
            territory_cap=6,
            armies_to_win=20,
            ply_limit=50,
            start=(1, 0, 0, 0, -1),
            places=((0, 0),) * 5,
        )
    )

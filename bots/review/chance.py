"""Conversion of an engine's value of a position to a chance of winning."""

from __future__ import annotations

from typing import Any

from arena.bots.search.search_values import is_decided
from arena.games.core import Game
from arena.games.riskless import Riskless
from arena.maps import chance as map_chance

ESTIMATE_POINTS_PER_LOG_ODDS = 3.0
"""Value of a position whose log-odds of winning are 1 (a chance of 73 %), in games other than Riskless.

The unit is the unit of the game's own estimate (`Game.estimate`). The number is assumed, not fitted to data.
"""


def compute_winning_chance(game: Game[Any, Any], search_value: int) -> float:
    """Return Maxie's chance of winning, from 0 to 1, in a position with the value `search_value` for her.

    A draw counts as half a win. The chance is 1 if `search_value` is a certain win, and 0 if it is a certain loss.
    """
    if is_decided(search_value):
        return 1.0 if search_value > 0 else 0.0
    points = search_value / 100
    if isinstance(game, Riskless):
        return map_chance.compute_maxie_winning_chance(points, game.map.name, game.map.armies_to_win)
    return map_chance.logistic(points / ESTIMATE_POINTS_PER_LOG_ODDS)

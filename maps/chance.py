"""Chances of winning on Riskless maps, from curves fitted to the results of matches.

The curve is 1 / (1 + e^(-k v / G)) for a lead of v armies on a map with the goal G, the number of armies that wins.
docs/page.md explains how k was fitted; `page/js/parts/values.js` has the same curves.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

WINNING_CHANCE_STEEPNESS_BY_MAP: Mapping[str, float] = {
    "italy": 14.5,
    "m2": 2.3,
    "poland": 10.8,
    "usa": 21.9,
    "world": 23.8,
}
"""Steepness k of the winning chance 1 / (1 + e^(-k v / G)) for a lead of v armies with the goal G, by map."""
DEFAULT_WINNING_CHANCE_STEEPNESS = 16.7
"""Steepness k of the winning chance 1 / (1 + e^(-k v / G)) on maps that WINNING_CHANCE_STEEPNESS_BY_MAP does not list."""


def compute_maxie_winning_chance(maxie_army_lead: float, map_name: str, armies_to_win: int) -> float:
    """Return Maxie's chance of winning, from 0 to 1, with a draw counted as half.

    maxie_army_lead  number of Maxie's armies minus number of Minnie's armies
    map_name         name of the map
    armies_to_win    number of armies that wins
    """
    return logistic(
        WINNING_CHANCE_STEEPNESS_BY_MAP.get(map_name, DEFAULT_WINNING_CHANCE_STEEPNESS)
        * maxie_army_lead
        / armies_to_win
    )


def logistic(exponent: float) -> float:
    """Return 1 / (1 + e^-exponent), without an overflow."""
    return 1 / (1 + math.exp(-max(-50.0, min(50.0, exponent))))

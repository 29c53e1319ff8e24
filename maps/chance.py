"""Chances of winning on Riskless maps, by curves fitted to matches.

The curve is 1 / (1 + e^(-k v / G)) for a lead of v armies if G armies win. docs/page.md explains how k was fitted;
`page/js/parts/values.js` has the same curves.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

STEEPNESS: Mapping[str, float] = {"italy": 14.5, "m2": 2.3, "poland": 10.8, "usa": 21.9, "world": 23.8}
"""Parameter k for each built-in map."""
DEFAULT_STEEPNESS = 16.7
"""Parameter k for maps that are not built in."""


def winning_chance(lead: float, map: str, goal: int) -> float:
    """Return Maxie's chance of winning with a lead of that many armies, from 0 to 1; a draw counts as half."""
    return logistic(STEEPNESS.get(map, DEFAULT_STEEPNESS) * lead / goal)


def logistic(exponent: float) -> float:
    """Return 1 / (1 + e^-exponent), without an overflow."""
    return 1 / (1 + math.exp(-max(-50.0, min(50.0, exponent))))

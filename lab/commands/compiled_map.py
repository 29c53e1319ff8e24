"""The map named on a command line, for commands that search it with the compiled engines."""

from __future__ import annotations

from arena.bots.compiled.limits import MAX_CAP, MAX_TERRITORIES, fits
from arena.console import UsageError
from arena.games.board import RisklessMap
from arena.games.riskless import Riskless
from arena.lab.variants import variant
from arena.maps.loader import MapError


def compiled_map(name: str) -> RisklessMap:
    """Return the map called `name`, optionally with another cap or goal, as in `world:cap=20`. Raises UsageError, also if the compiled engines cannot hold it."""
    try:
        map = variant(name)
    except MapError as error:
        raise UsageError(str(error)) from None
    if not fits(Riskless(map)):
        raise UsageError(
            f"{name}: too large for the compiled engines: at most {MAX_TERRITORIES} territories, cap {MAX_CAP}"
        )
    return map

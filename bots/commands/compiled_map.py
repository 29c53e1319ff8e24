"""The map that a command line names, for commands that search it with the compiled engines."""

from __future__ import annotations

from arena.bots.compiled.limits import MAX_CAP, MAX_TERRITORIES, fits
from arena.console import Failure
from arena.games.board import RisklessMap
from arena.games.riskless import Riskless
from arena.maps.loader import MapError, load_map


def compiled_map(name: str) -> RisklessMap:
    """The map of that name, as `arena maps` takes it. Raises Failure for one that the compiled engines cannot hold."""
    try:
        map = load_map(name)
    except MapError as error:
        raise Failure(str(error)) from None
    if not fits(Riskless(map)):
        raise Failure(
            f"{name}: too large for the compiled engines: at most {MAX_TERRITORIES} territories, cap {MAX_CAP}"
        )
    return map

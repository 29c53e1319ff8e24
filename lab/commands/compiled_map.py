"""The map that a command line names, for commands that search it with the compiled engines."""

from __future__ import annotations

from arena.bots.compiled.limits import MAX_CAP, MAX_TERRITORIES, fits
from arena.console import Misuse
from arena.games.board import RisklessMap
from arena.games.riskless import Riskless
from arena.lab.variants import variant
from arena.maps.loader import MapError


def compiled_map(name: str) -> RisklessMap:
    """The map of that name, also one with other numbers. Raises Misuse, as for one that the compiled engines cannot hold."""
    try:
        map = variant(name)
    except MapError as error:
        raise Misuse(str(error)) from None
    if not fits(Riskless(map)):
        raise Misuse(
            f"{name}: too large for the compiled engines: at most {MAX_TERRITORIES} territories, cap {MAX_CAP}"
        )
    return map

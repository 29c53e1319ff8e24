"""Loading of a map by its name on the command line, for commands that use the compiled engines."""

from __future__ import annotations

from arena.bots.compiled.availability import (
    MAX_COMPILED_TERRITORIES,
    MAX_COMPILED_TERRITORY_CAP,
    has_compiled_search,
)
from arena.console import UsageError
from arena.games.riskless import Riskless
from arena.games.riskless_map import RisklessMap
from arena.lab.variants import load_map_variant
from arena.maps.loader import MapError


def load_map_for_compiled_search(map_name: str) -> RisklessMap:
    """Return the map called `map_name`. The name may set another cap or number of armies to win, as in `world:cap=20,goal=240`.

    Raises UsageError if there is no such map, or if it is too large for the compiled engines.
    """
    try:
        map = load_map_variant(map_name)
    except MapError as error:
        raise UsageError(str(error)) from None
    if not has_compiled_search(Riskless(map)):
        raise UsageError(
            f"{map_name} is too large for the compiled engines: at most {MAX_COMPILED_TERRITORIES} territories, and a cap of at most {MAX_COMPILED_TERRITORY_CAP} armies on each"
        )
    return map

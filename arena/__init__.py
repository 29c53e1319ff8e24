"""Public interface for authors of bots and games.

    from arena import Bot, Game, Player, Clock, Resign, IllegalMove

The names in `__all__` are stable, and each is loaded on first use. All other modules are internal.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arena.bots.api.bot import Bot, Clock, Ending, Match, Resign, Thinking
    from arena.bots.api.budget import Budget, plan
    from arena.bots.compiled.cache import inlined
    from arena.bots.compiled.catalogue import weights_for
    from arena.bots.compiled.intrinsics import get, lowest_bit, popcount, put
    from arena.bots.compiled.kernel import DRAW, LOST, PLAYING, UNSEEN, WON, CompiledGame, Kernel
    from arena.bots.compiled.searcher import Searcher, Settings
    from arena.bots.evaluators.catalogue import evaluator_for
    from arena.bots.learning import adapters
    from arena.bots.learning.columns import records
    from arena.bots.learning.environment import Environment, batch, make
    from arena.bots.learning.matches import play_match
    from arena.bots.search.deepening import deepen
    from arena.bots.search.play import AlphaBeta
    from arena.bots.search.table import Table
    from arena.games.basics import MAXIE, MINNIE, BadData, GameError, IllegalMove, Outcome, Player
    from arena.games.boards import Grid, Points
    from arena.games.core import Game
    from arena.games.riskless import Riskless
    from arena.maps.loader import load_map

__all__ = [
    "DRAW",
    "LOST",
    "MAXIE",
    "MINNIE",
    "PLAYING",
    "UNSEEN",
    "WON",
    "AlphaBeta",
    "BadData",
    "Bot",
    "Budget",
    "Clock",
    "CompiledGame",
    "Ending",
    "Environment",
    "Game",
    "GameError",
    "Grid",
    "IllegalMove",
    "Kernel",
    "Match",
    "Outcome",
    "Player",
    "Points",
    "Resign",
    "Riskless",
    "Searcher",
    "Settings",
    "Table",
    "Thinking",
    "adapters",
    "batch",
    "deepen",
    "evaluator_for",
    "get",
    "inlined",
    "load_map",
    "lowest_bit",
    "make",
    "plan",
    "play_match",
    "popcount",
    "put",
    "records",
    "weights_for",
]

_PUBLIC_NAMES_BY_MODULE = {
    "arena.bots.api.bot": ("Bot", "Clock", "Ending", "Match", "Resign", "Thinking"),
    "arena.bots.api.budget": ("Budget", "plan"),
    "arena.bots.compiled.cache": ("inlined",),
    "arena.bots.compiled.catalogue": ("weights_for",),
    "arena.bots.compiled.intrinsics": ("get", "lowest_bit", "popcount", "put"),
    "arena.bots.compiled.kernel": ("DRAW", "LOST", "PLAYING", "UNSEEN", "WON", "CompiledGame", "Kernel"),
    "arena.bots.compiled.searcher": ("Searcher", "Settings"),
    "arena.bots.evaluators.catalogue": ("evaluator_for",),
    "arena.bots.learning.columns": ("records",),
    "arena.bots.learning.environment": ("Environment", "batch", "make"),
    "arena.bots.learning.matches": ("play_match",),
    "arena.bots.search.deepening": ("deepen",),
    "arena.bots.search.play": ("AlphaBeta",),
    "arena.bots.search.table": ("Table",),
    "arena.games.basics": ("MAXIE", "MINNIE", "BadData", "GameError", "IllegalMove", "Outcome", "Player"),
    "arena.games.boards": ("Grid", "Points"),
    "arena.games.core": ("Game",),
    "arena.games.riskless": ("Riskless",),
    "arena.maps.loader": ("load_map",),
}
_MODULE_BY_PUBLIC_NAME = {name: module for module, names in _PUBLIC_NAMES_BY_MODULE.items() for name in names}


def __getattr__(name: str) -> Any:
    if name == "adapters":
        return import_module("arena.bots.learning.adapters")
    if name not in _MODULE_BY_PUBLIC_NAME:
        raise AttributeError(f"module 'arena' has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(_MODULE_BY_PUBLIC_NAME[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

"""Public face for authors of bots and games.

    from arena import Bot, Game, Player, Clock, Resign, IllegalMove

The names in `__all__` are stable; each is loaded on first use. All other modules are internal.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arena.bots.api.bot import Bot, Resign
    from arena.bots.api.budget import Budget, plan
    from arena.bots.api.clock import Clock
    from arena.bots.api.match import Ending, Match
    from arena.bots.api.thinking import Thinking
    from arena.bots.compiled.cache import inlined
    from arena.bots.compiled.catalogue import weights_for
    from arena.bots.compiled.intrinsics import get, lowest, popcount, put
    from arena.bots.compiled.kernel import DRAW, LOST, PLAYING, UNSEEN, WON, Compiled, Kernel
    from arena.bots.compiled.searcher import Searcher, Settings
    from arena.bots.evaluators.catalogue import evaluator_for
    from arena.bots.search.deepening import deepen
    from arena.bots.search.play import Table, alphabeta_search
    from arena.games.basics import MAXIE, MINNIE, BadData, GameError, IllegalMove, Outcome, Player
    from arena.games.boards import Grid, Points
    from arena.games.core import Game

__all__ = [
    "DRAW",
    "LOST",
    "MAXIE",
    "MINNIE",
    "PLAYING",
    "UNSEEN",
    "WON",
    "BadData",
    "Bot",
    "Budget",
    "Clock",
    "Compiled",
    "Ending",
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
    "Searcher",
    "Settings",
    "Table",
    "Thinking",
    "alphabeta_search",
    "deepen",
    "evaluator_for",
    "get",
    "inlined",
    "lowest",
    "plan",
    "popcount",
    "put",
    "weights_for",
]

_FROM = {
    "arena.bots.api.bot": ("Bot", "Resign"),
    "arena.bots.api.budget": ("Budget", "plan"),
    "arena.bots.api.clock": ("Clock",),
    "arena.bots.api.match": ("Ending", "Match"),
    "arena.bots.api.thinking": ("Thinking",),
    "arena.bots.compiled.cache": ("inlined",),
    "arena.bots.compiled.catalogue": ("weights_for",),
    "arena.bots.compiled.intrinsics": ("get", "lowest", "popcount", "put"),
    "arena.bots.compiled.kernel": ("DRAW", "LOST", "PLAYING", "UNSEEN", "WON", "Compiled", "Kernel"),
    "arena.bots.compiled.searcher": ("Searcher", "Settings"),
    "arena.bots.evaluators.catalogue": ("evaluator_for",),
    "arena.bots.search.deepening": ("deepen",),
    "arena.bots.search.play": ("Table", "alphabeta_search"),
    "arena.games.basics": ("MAXIE", "MINNIE", "BadData", "GameError", "IllegalMove", "Outcome", "Player"),
    "arena.games.boards": ("Grid", "Points"),
    "arena.games.core": ("Game",),
}
_HOME = {name: module for module, names in _FROM.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'arena' has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

"""Explicit games from nested lists."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from arena.games.core import PlainData, Player
from arena.games.explicit import ExplicitGame


def from_values(values: Iterable[object], player: Player = Player.MAXIE) -> ExplicitGame:
    """Return the game of a tree written as nested lists of leaf values; nodes are named by their moves."""

    def node(entry: object, name: str) -> dict[str, PlainData]:
        if isinstance(entry, int):
            return {"name": name, "value": entry}
        below = [node(each, f"{name}{n}") for n, each in enumerate(cast("Iterable[object]", entry))]
        return {"name": name, "children": below}

    return ExplicitGame.from_tree(node(values, "r"), player)

"""Explicit trees (given node by node) to search: the project's examples, by name, and trees in JSON files.

A file contains {"tree": node, "player": "maxie", "source": "…"}, or just a node. `games.explicit` describes a node.
`player` is the player who moves at the root, and `source` tells where the tree comes from.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from arena import games
from arena.games.core import BadData, Player
from arena.games.explicit import ExplicitGame

TREES_FOLDER = Path(games.__file__).parent / "trees"


class TreeLoadError(ValueError):
    """Raised when a tree cannot be loaded; the message has the file and the reason, or the valid names."""


class UnknownTree(TreeLoadError):
    """Raised when no tree has the given name."""


def list_tree_names() -> list[str]:
    """Return the names of the example game trees that come with the project."""
    return sorted(path.stem for path in TREES_FOLDER.glob("*.json"))


def load_tree(tree_name: str) -> ExplicitGame:
    """Return the project's tree called `tree_name`, ignoring case, or the tree in a file if the name ends in `.json`.

    Raises TreeLoadError if there is no such tree, or the file is invalid.
    """
    if tree_name.endswith(".json"):
        return _read_tree(Path(tree_name))
    for known_name in list_tree_names():
        if known_name.casefold() == tree_name.casefold():
            return _read_tree(TREES_FOLDER / f"{known_name}.json")
    raise UnknownTree(
        f"no tree is called {tree_name!r:.60}: choose from {', '.join(list_tree_names())}, or a file NAME.json"
    )


def _read_tree(path: Path) -> ExplicitGame:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TreeLoadError(f"cannot read {path}: {error.strerror}") from None
    except RecursionError:
        raise TreeLoadError(
            f"{path}: the tree is nested too deeply: it may be at most a few hundred plies deep"
        ) from None
    except ValueError as error:
        raise TreeLoadError(f"{path}: not valid JSON: {error}") from None
    if isinstance(data, Mapping) and "tree" in data:
        player = data.get("player", "maxie")
        if player not in ("maxie", "minnie"):
            raise TreeLoadError(f"{path}: player must be maxie or minnie, not {player!r:.40}")
        tree = data["tree"]
    else:
        player, tree = "maxie", data
    try:
        return ExplicitGame.from_tree(tree, Player(player))
    except BadData as error:
        raise TreeLoadError(f"{path}: {error}") from None

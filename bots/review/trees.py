"""Explicit game trees from files: those that come with the project, and any other JSON file.

A file is {"tree": node, "player": "maxie", "source": "…"} or just a node, as `games.explicit` says.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import games
from games.core import BadData, Player
from games.explicit import Explicit

FOLDER = Path(games.__file__).parent / "trees"


class TreeError(ValueError):
    """A tree that cannot be loaded: says file and why, or which names there are."""


def tree_names() -> list[str]:
    """The trees that come with the project."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def load_tree(name: str) -> Explicit:
    """The tree of that name (case is ignored), or in the file NAME.json. Raises TreeError."""
    if name.endswith(".json"):
        return _read(Path(name))
    for known in tree_names():
        if known.casefold() == name.casefold():
            return _read(FOLDER / f"{known}.json")
    raise TreeError(
        f"no tree is called {name!r:.60}: there are {', '.join(tree_names())}, and files NAME.json"
    )


def _read(path: Path) -> Explicit:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TreeError(f"cannot read {path}: {error.strerror}") from None
    except RecursionError:
        raise TreeError(
            f"{path}: nested too deeply to be read: a file holds a tree of some hundred plies"
        ) from None
    except ValueError as error:
        raise TreeError(f"{path}: not JSON: {error}") from None
    if isinstance(data, Mapping) and "tree" in data:
        player = data.get("player", "maxie")
        if player not in ("maxie", "minnie"):
            raise TreeError(f"{path}: player must be maxie or minnie, not {player!r:.40}")
        tree = data["tree"]
    else:
        player, tree = "maxie", data
    try:
        return Explicit.from_tree(tree, Player(player))
    except BadData as error:
        raise TreeError(f"{path}: {error}") from None

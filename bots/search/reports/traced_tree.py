"""Searched tree, reconstructed from a trace: visited and pruned nodes, windows and results."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from arena.bots.search.monitor import LeafValued, NodeEntered, NodeLeft, Path, TableHit, TraceEvent
from arena.bots.search.move_values import MoveValue
from arena.bots.search.reports.trace_text import format_position
from arena.games.core import Game, Player
from arena.games.explicit import ExplicitGame


@dataclass
class TracedNode:
    """Node of a tree that is reconstructed from the trace of a search.

    label          name of the node in an explicit tree (listed node by node), otherwise its position as text
    move           move that leads to the node, as text; empty for the root
    is_visited     True if the search entered the node
    windows        windows with which the search entered the node, in order; empty if the search has no windows
    result         last result of the node; for an unvisited leaf of an explicit tree, its value; otherwise None
    is_leaf        True if the search gave the node a value as a leaf, or the node has no children in this tree
    is_from_table  True if the transposition table had the node's value
    """

    path: Path
    label: str
    move: str
    player: Player
    is_visited: bool = False
    windows: list[tuple[MoveValue, MoveValue]] = field(default_factory=list)
    result: MoveValue | None = None
    is_leaf: bool = False
    is_from_table: bool = False
    children: list[TracedNode] = field(default_factory=list)

    @property
    def is_cut(self) -> bool:
        """Return True if the search visited the node, but not all of its children."""
        return self.is_visited and not all(child.is_visited for child in self.children)


class TracedTree(NamedTuple):
    """Tree that is reconstructed from the trace of a search."""

    root: TracedNode
    max_shown_ply: int | None
    """Depth in plies below which nodes were left out, so that the tree has at most `max_nodes` nodes (`build_traced_tree`).

    The value is None if no node was left out.
    """


def build_traced_tree(
    game: Game[Any, Any], position: Any, depth: int, events: Iterable[TraceEvent], max_nodes: float = math.inf
) -> TracedTree:
    """Return the tree below `position`, cut to at most `max_nodes` nodes.

    In an explicit tree (`games.explicit`), the nodes are all down to `depth`, visited or not. In any other game, they are the
    visited nodes and their children. If there are more than `max_nodes` nodes, the tree has only its first plies, as many as
    fit completely.

    events  trace of a search of `position` to `depth` plies
    """
    events_by_path: dict[Path, list[TraceEvent]] = {}
    for event in events:
        events_by_path.setdefault(event.path, []).append(event)
    explicit_game = game if isinstance(game, ExplicitGame) else None

    def make_node(position: Any, path: Path, move: str) -> TracedNode:
        node = TracedNode(path, format_position(game, position), move, game.player(position))
        for event in events_by_path.get(path, ()):
            _add_event(node, event)
        return node

    root = make_node(position, (), "")
    level, size, ply = [(root, position)], 1, 0
    while level:
        next_level: list[tuple[TracedNode, Any]] = []
        for node, position_here in level:
            has_children_here = ply < depth and (
                explicit_game is not None or (node.is_visited and not node.is_leaf and not node.is_from_table)
            )
            for index, move in enumerate(game.moves(position_here) if has_children_here else ()):
                if size + len(next_level) == max_nodes:
                    for traced_node, _ in level:
                        traced_node.children.clear()
                    return TracedTree(root, ply)
                position_after = game.successor(position_here, move)
                child = make_node(position_after, (*node.path, index), game.move_to_text(move))
                node.children.append(child)
                next_level.append((child, position_after))
        for node, position_here in level:
            if not node.children:
                node.is_leaf = True
                if explicit_game is not None and not node.is_visited:
                    value = explicit_game.nodes[position_here.node].value
                    node.result = None if value is None else MoveValue(value)
        level, size, ply = next_level, size + len(next_level), ply + 1
    return TracedTree(root, None)


def _add_event(node: TracedNode, event: TraceEvent) -> None:
    match event:
        case NodeEntered(alpha=alpha, beta=beta):
            node.is_visited = True
            if alpha is not None and beta is not None and (alpha, beta) not in node.windows:
                node.windows.append((alpha, beta))
        case LeafValued():
            node.is_leaf = True
        case TableHit():
            node.is_from_table = True
        case NodeLeft(result=result):
            node.result = result

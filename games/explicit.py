"""Explicit game trees: games whose positions and moves are listed as a tree, for examples of searches.

A leaf has a value for Maxie, which is also the game's estimate of the leaf. Estimating a node without a value raises
MissingNodeValue, because a search should not stop there. The players alternate. A move is the number of a child: from 0
to n - 1 for a node with n children.

As data, a tree is a node: {"name": "b", "children": [node, …]} or {"name": "c", "value": 3}. A leaf whose value is null
stands for a part of the tree that a search must not visit. An inner node may have a value, too, and can then be
estimated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self, cast

from arena.games.core import BadData, Game, GameError, Outcome, Player, RuleEndReason, require_integer

MAX_TREE_NODES = 1_000_000
MAX_NODE_VALUE = 900_000
"""Maximum absolute value of a node in a tree, so that no search takes it for a win or a loss."""
MAX_NODE_NAME_LENGTH = 40
"""Maximum length of the name of a tree's node, in characters."""


class MissingNodeValue(GameError):
    """Raised when a search asks for the estimate of a node to which the tree gives no value."""


@dataclass(frozen=True, slots=True)
class Node:
    """Node of a tree: a name, a value for Maxie (None for a node without one), and the numbers of the children."""

    name: str
    value: int | None
    children: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NodePosition:
    """Position in an explicit game (a game whose tree is listed node by node). `node` is the number of a node; the root is 0."""

    node: int


class ExplicitGame(Game[NodePosition, int]):
    """Game whose positions are the nodes of a given tree.

    The root is node 0. A child has a higher number than its parent.
    """

    name = "explicit"

    def __init__(self, nodes: Sequence[Node], player: Player = Player.MAXIE) -> None:
        """Create the game of the tree `nodes`, whose root is node 0. `player` moves first."""
        self.nodes = tuple(nodes)
        self.first_player = player
        plies = [0] * len(self.nodes)
        for number, node in enumerate(self.nodes):
            for child in node.children:
                plies[child] = plies[number] + 1
        self._plies = plies
        """Ply of each node: its distance from the root."""
        self.height = max(plies)
        """Number of plies to the deepest leaf."""

    @classmethod
    def from_tree(cls, root_data: object, first_player: Player = Player.MAXIE) -> Self:
        """Return the game of a tree. `first_player` moves first.

        root_data  root of the tree as data, in the form that the module's docstring describes

        Raises BadData for invalid data; the message names the invalid node.
        """
        nodes: list[Node] = []
        children: list[list[int]] = []
        frontier: list[tuple[object, int | None]] = [(root_data, None)]
        while frontier:
            node_data, parent = frontier.pop()
            number = len(nodes)
            if number >= MAX_TREE_NODES:
                raise BadData(f"a tree must have at most {MAX_TREE_NODES:,} nodes, but this one has more")
            name, value, child_data = _parse_node(node_data, str(number))
            nodes.append(Node(name, value, ()))
            children.append([])
            if parent is not None:
                children[parent].append(number)
            frontier.extend((child, number) for child in reversed(child_data))
        return cls(
            [Node(n.name, n.value, tuple(c)) for n, c in zip(nodes, children, strict=True)], first_player
        )

    def start(self) -> NodePosition:
        return NodePosition(0)

    def get_node_name(self, position: NodePosition) -> str:
        """Return the name that the tree gives to the node of a position."""
        return self.nodes[position.node].name

    def player(self, position: NodePosition) -> Player:
        return self.first_player if self._plies[position.node] % 2 == 0 else self.first_player.opponent

    def ply(self, position: NodePosition) -> int:
        return self._plies[position.node]

    def moves(self, position: NodePosition) -> Sequence[int]:
        return range(len(self.nodes[position.node].children))

    def successor(self, position: NodePosition, move: int) -> NodePosition:
        return NodePosition(self.nodes[position.node].children[move])

    def outcome(self, position: NodePosition) -> Outcome | None:
        """Return the outcome at a leaf: Maxie wins if its value is positive, Minnie if negative; otherwise it is a draw.

        Return None at an inner node.
        """
        node = self.nodes[position.node]
        if node.children:
            return None
        value = node.value or 0
        winner = Player.MAXIE if value > 0 else Player.MINNIE if value < 0 else None
        return Outcome(winner, RuleEndReason.LEAF)

    def estimate(self, position: NodePosition) -> int:
        """Return the value of the node. Raises MissingNodeValue if it has none."""
        node = self.nodes[position.node]
        if node.value is None:
            description = (
                "is an inner node"
                if node.children
                else "stands for a part of the tree that must not be searched"
            )
            raise MissingNodeValue(
                f"node {node.name} has no value for an estimate, because it {description}; search to another depth"
            )
        return node.value


def _parse_node(node_data: object, default_name: str) -> tuple[str, int | None, Sequence[object]]:
    """Return a node's name, its value (None if it has none), and the data of its children. Raises BadData for invalid data.

    default_name  name of the node if its data has none
    """
    if not isinstance(node_data, Mapping):
        raise BadData(
            f'node {default_name}: must be an object, such as {{"name": "a", "value": 3}}, not {node_data!r:.40}'
        )
    name = node_data.get("name", default_name)
    if not isinstance(name, str) or not 0 < len(name) <= MAX_NODE_NAME_LENGTH or not name.isprintable():
        raise BadData(
            f"node {default_name}: the name must be 1 to {MAX_NODE_NAME_LENGTH} printable characters, not {name!r:.60}"
        )
    children = node_data.get("children", ())
    if isinstance(children, str) or not isinstance(children, Sequence):
        raise BadData(f"node {name}: children must be a list, not {children!r:.40}")
    if not children and "value" not in node_data:
        raise BadData(f"node {name}: a leaf needs a value (null if no search should reach it)")
    value = node_data.get("value")
    if value is not None:
        value = require_integer(value, f"the value of node {name}", -MAX_NODE_VALUE, MAX_NODE_VALUE)
    return name, value, cast("Sequence[object]", children)

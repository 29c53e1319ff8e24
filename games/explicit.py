"""Explicit game trees: games that consist of a given tree (ExplicitGame in section 5.4 of source 001 in docs/search.md).

A leaf has a value for Maxie, which is also the game's estimate of the leaf. Estimating a node without a value raises
NodeWithoutValue: the search has stopped at the wrong depth. The players alternate. A move is the number of a child, 0
to n - 1 for a node with n children.

As data, a tree is a node: {"name": "b", "children": [node, …]} or {"name": "c", "value": 3}. A leaf with the value null
stands for a part of the tree that a search must not visit. An inner node that has a value can be estimated too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self, cast

from arena.games.core import BadData, Game, GameError, Outcome, Plain, Player, Reason, require_integer

MAX_NODES = 1_000_000
MAX_VALUE = 900_000
MAX_NAME_LENGTH = 40


class NodeWithoutValue(GameError):
    """Raised when a node without a value is estimated, because a search stops there."""


@dataclass(frozen=True, slots=True)
class Node:
    """Node of a tree: a name, a value for Maxie (None for a node without one), and the numbers of the children."""

    name: str
    value: int | None
    children: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NodePosition:
    """A position: the number of a node. The root is 0."""

    node: int


class Explicit(Game[NodePosition, int]):
    """The game of one tree. Nodes are numbered so that children come after their parents."""

    name = "explicit"

    def __init__(self, nodes: Sequence[Node], player: Player = Player.MAXIE) -> None:
        """Create the game of the tree `nodes`. Its root is node 0, where `player` is to move. Raises BadData."""
        self.nodes = tuple(nodes)
        self.first = player
        if not 1 <= len(self.nodes) <= MAX_NODES:
            raise BadData(f"a tree must have 1 to {MAX_NODES} nodes, not {len(self.nodes)}")
        parents: dict[int, int] = {}
        for number, node in enumerate(self.nodes):
            for child in node.children:
                if not number < child < len(self.nodes) or child in parents:
                    raise BadData(
                        f"node {node.name!r:.40} has the child {child}: each child must come later in the list, and have one parent"
                    )
                parents[child] = number
        if len(parents) != len(self.nodes) - 1:
            raise BadData("every node except the root must be a child of another node")
        plies = [0] * len(self.nodes)
        for child, parent in sorted(parents.items()):
            plies[child] = plies[parent] + 1
        self._plies = plies
        self.height = max(plies)

    @classmethod
    def from_tree(cls, tree: object, player: Player = Player.MAXIE) -> Self:
        """Return the game of a tree, given as the data of its root (see the module). At the root, `player` is to move.

        Raises BadData, which names the invalid node.
        """
        nodes: list[Node] = []
        children: list[list[int]] = []
        frontier: list[tuple[object, int | None]] = [(tree, None)]
        while frontier:
            data, parent = frontier.pop()
            number = len(nodes)
            if number >= MAX_NODES:
                raise BadData(f"a tree must have 1 to {MAX_NODES} nodes")
            name, value, below = _parse_node(data, str(number))
            nodes.append(Node(name, value, ()))
            children.append([])
            if parent is not None:
                children[parent].append(number)
            frontier.extend((child, number) for child in reversed(below))
        return cls([Node(n.name, n.value, tuple(c)) for n, c in zip(nodes, children, strict=True)], player)

    @classmethod
    def from_setup(cls, setup: Mapping[str, object]) -> Self:
        unknown = set(setup) - {"tree", "player"}
        if "tree" not in setup or unknown:
            raise BadData("the setup of explicit must have the keys `tree` and `player` (who moves first)")
        player = setup.get("player", "maxie")
        if player not in ("maxie", "minnie"):
            raise BadData(f"player must be maxie or minnie, not {player!r:.40}")
        return cls.from_tree(setup["tree"], Player(player))

    def setup(self) -> dict[str, Plain]:
        data: list[dict[str, Plain]] = []
        for node in reversed(self.nodes):
            # children have higher numbers, so their data exists already
            below = [data[len(self.nodes) - 1 - child] for child in node.children]
            entry: dict[str, Plain] = {"name": node.name}
            if below:
                entry["children"] = below
            if node.value is not None or not below:
                entry["value"] = node.value
            data.append(entry)
        return {"tree": data[-1], "player": self.first.value}

    def start(self) -> NodePosition:
        return NodePosition(0)

    def node_name(self, position: NodePosition) -> str:
        """Return the name that the tree gives to the node of a position."""
        return self.nodes[position.node].name

    def player(self, position: NodePosition) -> Player:
        return self.first if self._plies[position.node] % 2 == 0 else self.first.opponent

    def ply(self, position: NodePosition) -> int:
        return self._plies[position.node]

    def moves(self, position: NodePosition) -> Sequence[int]:
        return range(len(self.nodes[position.node].children))

    def successor(self, position: NodePosition, move: int) -> NodePosition:
        return NodePosition(self.nodes[position.node].children[move])

    def outcome(self, position: NodePosition) -> Outcome | None:
        """Return the outcome at a leaf: the winner by the sign of its value, a draw if it is 0 or unknown."""
        node = self.nodes[position.node]
        if node.children:
            return None
        value = node.value or 0
        winner = Player.MAXIE if value > 0 else Player.MINNIE if value < 0 else None
        return Outcome(winner, Reason.LEAF)

    def estimate(self, position: NodePosition) -> int:
        """Return the value of the node. Raises NodeWithoutValue if it has none."""
        node = self.nodes[position.node]
        if node.value is None:
            description = (
                "is an inner node"
                if node.children
                else "stands for a part of the tree that must not be searched"
            )
            raise NodeWithoutValue(f"cannot estimate node {node.name}: it {description}, and has no value")
        return node.value

    def broken_rule(self, position: NodePosition, move: int) -> str | None:
        count = len(self.nodes[position.node].children)
        return None if 0 <= move < count else f"{self.node_name(position)} has the moves 0 to {count - 1}"

    def move_from_data(self, data: object) -> int:
        return require_integer(data, "a move of an explicit tree", 0, MAX_NODES)

    def move_to_text(self, move: int) -> str:
        return str(move)

    def move_from_text(self, text: str) -> int:
        typed = text.strip()
        if not typed.isdecimal() or len(typed) > 6:
            raise BadData(f"{typed!r:.40} is not a move: type the number of a child, from 0")
        return int(typed)

    def position_from_data(self, data: object) -> NodePosition:
        if not isinstance(data, Mapping) or set(data) != {"node"}:
            raise BadData("a position of an explicit tree must be an object with only the key `node`")
        return NodePosition(require_integer(data["node"], "node", 0, len(self.nodes) - 1))

    def position_to_text(self, position: NodePosition) -> str:
        """Return the node's name, or #number if another node has the same name."""
        name = self.node_name(position)
        twins = sum(node.name == name for node in self.nodes)
        return name if twins == 1 and not name.startswith("#") else f"#{position.node}"

    def position_from_text(self, text: str) -> NodePosition:
        typed = text.strip()
        if typed.startswith("#") and typed[1:].isdecimal() and len(typed) < 8:
            return self.position_from_data({"node": int(typed[1:])})
        matching = [number for number, node in enumerate(self.nodes) if node.name == typed]
        if len(matching) == 1:
            return NodePosition(matching[0])
        why = "no node has that name" if not matching else "several nodes have that name: write #number"
        raise BadData(f"{typed!r:.60}: {why}")

    def picture(self, position: NodePosition) -> str:
        """Return the tree below the position, one line per node, indented by ply."""
        lines = []
        frontier = [(position.node, 0)]
        while frontier:
            number, indent = frontier.pop()
            node = self.nodes[number]
            value = "" if node.value is None else f"[{node.value}]"
            lines.append(f"{'  ' * indent}{node.name}{value}")
            frontier.extend((child, indent + 1) for child in reversed(node.children))
        return "\n".join(lines)


def _parse_node(data: object, fallback: str) -> tuple[str, int | None, Sequence[object]]:
    if not isinstance(data, Mapping):
        raise BadData(f"node {fallback}: must be an object with name, children or value, not {data!r:.40}")
    name = data.get("name", fallback)
    if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME_LENGTH or not name.isprintable():
        raise BadData(
            f"node {fallback}: the name must be 1 to {MAX_NAME_LENGTH} printable characters, not {name!r:.60}"
        )
    below = data.get("children", ())
    if isinstance(below, str) or not isinstance(below, Sequence):
        raise BadData(f"node {name}: children must be a list, not {below!r:.40}")
    if not below and "value" not in data:
        raise BadData(f"node {name}: a leaf needs a value (null if a search must never reach it)")
    value = data.get("value")
    if value is not None:
        value = require_integer(value, f"the value of node {name}", -MAX_VALUE, MAX_VALUE)
    return name, value, cast("Sequence[object]", below)

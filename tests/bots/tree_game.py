"""Trees as a game with a kernel that logs a search: the nodes entered, their windows, and the estimates.

The notes lie behind the tree in what the kernel's functions read. An inner node makes one as its moves are listed, any
other as it is come to; threads take places for theirs one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from arena.bots.compiled.cache import inlined
from arena.bots.compiled.intrinsics import fetch_add, get, put
from arena.bots.compiled.kernel import LOST, PLAYING, WON, CompiledGame, Kernel, Words
from arena.bots.compiled.memory_layout import CACHE_LINE_WORDS, Frame
from arena.games.core import Game, Outcome, Player

OVER = 1000
"""From this value on a node without children is over, and won."""
MAX_MOVES = 4
FIELDS = 2 + MAX_MOVES
"""Of a node: its value for Maxie, how many moves it has, and the nodes that these lead to."""
WORDS = 2
"""Of a position: its node, and 1 where Maxie is to move, else -1."""
NOTE = 4
"""Words of a note: the node, whether it has a window, and alpha and beta for Maxie."""


@dataclass(frozen=True)
class Place:
    """A node of the tree, at its ply."""

    node: int
    ply: int


@dataclass(frozen=True)
class Node:
    """The children and the value for Maxie; a node above the height without children is won by whom the value is good for."""

    value: int
    children: tuple[int, ...] = ()


class Trees(Game[Place, int]):
    """The game of one tree. Node 0 is the root, and Maxie moves there."""

    name = "trees"

    def __init__(self, nodes: Sequence[Node], height: int) -> None:
        self.nodes, self.height = tuple(nodes), height
        self.read = self._written()
        """Words that the kernel's functions read, and write their notes to."""

    def start(self) -> Place:
        return Place(0, 0)

    def moves(self, position: Place) -> Sequence[int]:
        return range(len(self.nodes[position.node].children))

    def successor(self, position: Place, move: int) -> Place:
        return Place(self.nodes[position.node].children[move], position.ply + 1)

    def outcome(self, position: Place) -> Outcome | None:
        node = self.nodes[position.node]
        if node.children or position.ply >= self.height:
            return None
        return Outcome(Player.MAXIE if node.value > 0 else Player.MINNIE, "the end of a branch")

    def estimate(self, position: Place) -> int:
        return self.nodes[position.node].value

    def compiled(self) -> CompiledGame:
        return CompiledGame(
            kernel(),
            self.read,
            MAX_MOVES,
            lambda place: np.array([place.node, self.player(place).sign], np.int64),
            lambda place: self.height - place.ply + 1,
            int,
            int,
        )

    def _written(self) -> Words:
        """Return the tree, with room behind it for notes."""
        table = np.zeros((len(self.nodes), FIELDS), np.int64)
        for number, node in enumerate(self.nodes):
            table[number, : 2 + len(node.children)] = (node.value, len(node.children), *node.children)
        head = np.zeros(CACHE_LINE_WORDS, np.int64)
        notes = np.zeros(NOTE * 4 * len(self.nodes), np.int64)
        head[:2] = (0, CACHE_LINE_WORDS + table.size)
        return np.concatenate([head, table.ravel(), notes])

    def notes(self) -> list[tuple[int, ...]]:
        """Return the notes of the searches: an inner node with its window, any other node alone."""
        count, begin = int(self.read[0]), int(self.read[1])
        found = self.read[begin : begin + NOTE * count].reshape(count, NOTE)
        return [tuple(map(int, (each[0], *each[2:]) if each[1] else each[:1])) for each in found]


@cache
def kernel() -> Kernel:
    """Return the functions of the game. The ply of a position is not in its words: a node has one ply."""

    @inlined
    def field(rules: Any, mem: Any, at: Any, number: Any) -> Any:
        return get(rules, CACHE_LINE_WORDS + FIELDS * get(mem, at) + number)

    @inlined
    def note(rules: Any, node: Any, windowed: Any, alpha: Any, beta: Any) -> None:
        place = get(rules, 1) + NOTE * fetch_add(rules, 0, 1)
        put(rules, place, node)
        put(rules, place + 1, windowed)
        put(rules, place + 2, alpha)
        put(rules, place + 3, beta)

    @inlined
    def moves(rules: Any, mem: Any, at: Any, to: Any) -> Any:
        count = field(rules, mem, at, 1)
        for move in range(count):
            put(mem, to + move, move)
        alpha = get(mem, at + WORDS + Frame.ALPHA)
        beta = get(mem, at + WORDS + Frame.BETA)
        if get(mem, at + 1) > 0:
            note(rules, get(mem, at), 1, alpha, beta)
        else:
            note(rules, get(mem, at), 1, -beta, -alpha)
        return count

    @inlined
    def play(rules: Any, mem: Any, at: Any, to: Any, move: Any) -> None:
        put(mem, to, field(rules, mem, at, 2 + move))
        put(mem, to + 1, -get(mem, at + 1))

    @inlined
    def status(rules: Any, mem: Any, at: Any) -> Any:
        ended = PLAYING
        if field(rules, mem, at, 1) == 0:
            # estimated or over, nothing is searched below it
            note(rules, get(mem, at), 0, 0, 0)
            if field(rules, mem, at, 0) >= OVER or field(rules, mem, at, 0) <= -OVER:
                ended = WON if (field(rules, mem, at, 0) > 0) == (get(mem, at + 1) > 0) else LOST
        return ended

    @inlined
    def estimate(rules: Any, mem: Any, at: Any) -> Any:
        return 100 * field(rules, mem, at, 0) * get(mem, at + 1)

    @inlined
    def promise(_rules: Any, _mem: Any, _at: Any, _move: Any) -> Any:
        return 0

    return Kernel("trees", WORDS, 1, moves, play, status, estimate, promise)

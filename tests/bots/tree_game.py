"""Game whose game tree is given, with a kernel that logs the nodes that a compiled search visits and their windows.

The log lies behind the tree in the array that the kernel's functions read. An inner node is logged when its moves are
listed, any other node when it is visited. Each thread reserves the place of its next entry atomically.
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
from arena.bots.compiled.memory_layout import CACHE_LINE_WORDS, FrameField
from arena.games.core import Game, Outcome, Player

OVER = 1000
"""Smallest absolute value of a node without children at which the match is over."""
MAX_MOVES = 4
FIELDS = 2 + MAX_MOVES
"""Number of words of a node: its value for Maxie, its number of moves, and the nodes to which they lead."""
WORDS = 2
"""Number of words of a position: its node, and 1 if Maxie is to move, otherwise -1."""
NOTE = 4
"""Number of words of a log entry: the node, 1 if it has a window, otherwise 0, and alpha and beta for Maxie."""


@dataclass(frozen=True)
class Place:
    """Position of the game: a node of the tree, with its ply."""

    node: int
    ply: int


@dataclass(frozen=True)
class Node:
    """Node of the tree: its value for Maxie, and its children.

    In a node without children at a ply below the tree's height, the match is over: Maxie wins if the value is positive.
    """

    value: int
    children: tuple[int, ...] = ()


class Trees(Game[Place, int]):
    """Game on one tree. Node 0 is the root, where Maxie moves."""

    name = "trees"

    def __init__(self, nodes: Sequence[Node], height: int) -> None:
        self.nodes, self.height = tuple(nodes), height
        self.read = self._written()
        """Array that the kernel's functions read, and to which they write the log."""

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
        """Return the array with the tree, and with room for the log behind it."""
        table = np.zeros((len(self.nodes), FIELDS), np.int64)
        for number, node in enumerate(self.nodes):
            table[number, : 2 + len(node.children)] = (node.value, len(node.children), *node.children)
        head = np.zeros(CACHE_LINE_WORDS, np.int64)
        notes = np.zeros(NOTE * 4 * len(self.nodes), np.int64)
        head[:2] = (0, CACHE_LINE_WORDS + table.size)
        return np.concatenate([head, table.ravel(), notes])

    def notes(self) -> list[tuple[int, ...]]:
        """Return the log of all searches: an inner node with its window, any other node alone."""
        count, begin = int(self.read[0]), int(self.read[1])
        found = self.read[begin : begin + NOTE * count].reshape(count, NOTE)
        return [tuple(map(int, (each[0], *each[2:]) if each[1] else each[:1])) for each in found]


@cache
def kernel() -> Kernel:
    """Return the game's kernel. Its positions do not contain the ply, because a node occurs at only one ply."""

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
        alpha = get(mem, at + WORDS + FrameField.ALPHA)
        beta = get(mem, at + WORDS + FrameField.BETA)
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
            # the search does not go below this node, which is estimated or over
            note(rules, get(mem, at), 0, 0, 0)
            if field(rules, mem, at, 0) >= OVER or field(rules, mem, at, 0) <= -OVER:
                ended = WON if (field(rules, mem, at, 0) > 0) == (get(mem, at + 1) > 0) else LOST
        return ended

    @inlined
    def estimate(rules: Any, mem: Any, at: Any) -> Any:
        return 100 * field(rules, mem, at, 0) * get(mem, at + 1)

    @inlined
    def score_move(_rules: Any, _mem: Any, _at: Any, _move: Any) -> Any:
        return 0

    return Kernel("trees", WORDS, 1, moves, play, status, estimate, score_move)

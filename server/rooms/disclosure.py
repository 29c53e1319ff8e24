"""When spectators are told what the players said of their moves.

A player's opponent may watch the match on a second connection. So what a player said of a move is no spectator's before
the opponent has answered that move: until then it would tell the opponent what answer is expected.
"""

from __future__ import annotations

from enum import StrEnum


class Disclosure(StrEnum):
    """From when on `thinking` is told to spectators."""

    REPLY = "reply"
    """Once the move that it is about has been answered."""
    END = "end"
    """Once the match is over."""


def first_secret(disclosure: Disclosure, ply: int, *, over: bool) -> int:
    """The ply from which on thinking is not told yet, in a match whose next ply is `ply`."""
    if over:
        return ply
    return max(0, ply - 1) if disclosure is Disclosure.REPLY else 0

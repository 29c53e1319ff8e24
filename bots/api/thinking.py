"""What a bot tells of how it chose a move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Thinking:
    """The figures behind a move; leave out what there is not."""

    depth: int | None = None
    """How many plies were searched to the end."""
    value: float | None = None
    """The value for Maxie, in the bot's own unit."""
    nodes: int | None = None
    """How many positions were visited."""
    line: Sequence[Any] = ()
    """The moves expected, the chosen one first; what exceeds 64 is not sent."""

"""Time controls: `10+0.1` is 10 s and 0.1 s a move, `0.1/move` is 0.1 s for each move."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Annotated, Literal

from msgspec import Meta, Struct

MAX_MS = 24 * 3600 * 1000
"""The longest time, a day: longer than any match, short enough for 32-bit clocks."""

Milliseconds = Annotated[int, Meta(ge=0, le=MAX_MS)]

_SECONDS = r"[0-9]{1,8}(?:\.[0-9]{1,3})?"
_FORM = re.compile(rf"(?P<base>{_SECONDS})(?:\+(?P<increment>{_SECONDS})|(?P<move>/move))?")


class BadTimeControl(ValueError):
    """Text that is no time control."""


class TimeControl(Struct, frozen=True):
    """How much time a player has, in integer milliseconds.

    per_move False: `base_ms` at the start, and `increment_ms` after each move of one's own.
    per_move True: `base_ms` for each move, whatever the ones before took; `increment_ms` is 0.
    """

    base_ms: Annotated[int, Meta(ge=1, le=MAX_MS)]
    increment_ms: Milliseconds = 0
    per_move: bool = False

    @classmethod
    def parse(cls, text: str) -> TimeControl:
        """The time control that `text` writes, to a thousandth of a second. Raises BadTimeControl."""
        match = _FORM.fullmatch(text.strip())
        wrong = BadTimeControl(
            f"{text!r:.40} is no time control: write 10+0.1 (seconds and increment) or 0.1/move"
        )
        if match is None:
            raise wrong
        base = _milliseconds(match["base"])
        increment = _milliseconds(match["increment"] or "0")
        if not 1 <= base <= MAX_MS or increment > MAX_MS:
            raise wrong
        return cls(base, increment, match["move"] is not None)

    def __str__(self) -> str:
        if self.per_move:
            return f"{_seconds(self.base_ms)}/move"
        return f"{_seconds(self.base_ms)}+{_seconds(self.increment_ms)}"


class TimeOdds(Struct, frozen=True, omit_defaults=True):
    """The times of players that have another than their match's, by seat, as `TimeControl.parse` takes them."""

    maxie: Annotated[str, Meta(max_length=32)] = ""
    minnie: Annotated[str, Meta(max_length=32)] = ""

    def of(self, seat: Literal["maxie", "minnie"], control: TimeControl) -> TimeControl:
        """A player's time in a match under `control`. Raises BadTimeControl."""
        own: str = getattr(self, seat)
        return TimeControl.parse(own) if own else control

    def beside(self, control: str) -> str:
        """A match's time control and the odds, as people read them."""
        if not (self.maxie or self.minnie):
            return control
        return f"{self.maxie or control} (maxie) against {self.minnie or control} (minnie)"


def _milliseconds(text: str) -> int:
    return int(Decimal(text) * 1000)


def _seconds(ms: int) -> str:
    return f"{Decimal(ms) / 1000:f}".rstrip("0").rstrip(".") if ms % 1000 else str(ms // 1000)

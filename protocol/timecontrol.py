"""Time controls and durations as text.

A time control is `10+0.1` or `0.1/move`, in seconds; a duration is `30s`, `10m`, `2h` or `ever`.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Annotated, Literal

from msgspec import Meta, Struct

MAX_BASE_OR_INCREMENT_MS = 24 * 3600 * 1000
"""Maximum of a base time, of an increment, and of most other times in messages: one day, in ms."""

Milliseconds = Annotated[int, Meta(ge=0, le=MAX_BASE_OR_INCREMENT_MS)]

_SECONDS_PATTERN = r"[0-9]{1,8}(?:\.[0-9]{1,3})?"
_TIME_CONTROL_PATTERN = re.compile(
    rf"(?P<base>{_SECONDS_PATTERN})(?:\+(?P<increment>{_SECONDS_PATTERN})|(?P<move>/move))?"
)


class BadTimeControl(ValueError):
    """Raised for a string that is not a time control."""


class TimeControl(Struct, frozen=True):
    """Time control of a player, in ms.

    per_move False: `base_ms` at the start, and `increment_ms` after each of the player's moves.
    per_move True: `base_ms` for each move; unused time is lost, and `increment_ms` is 0.
    """

    base_ms: Annotated[int, Meta(ge=1, le=MAX_BASE_OR_INCREMENT_MS)]
    increment_ms: Milliseconds = 0
    per_move: bool = False

    @classmethod
    def parse(cls, text: str) -> TimeControl:
        """Parse a time control such as `10+0.1` or `0.1/move`, in seconds with up to three decimals.

        Raises BadTimeControl for other texts.
        """
        match = _TIME_CONTROL_PATTERN.fullmatch(text.strip())
        error = BadTimeControl(
            f"{text!r:.40} is not a time control: write 10+0.1 (seconds and increment) or 0.1/move"
        )
        if match is None:
            raise error
        base_ms = _parse_seconds_to_ms(match["base"])
        increment_ms = _parse_seconds_to_ms(match["increment"] or "0")
        if not 1 <= base_ms <= MAX_BASE_OR_INCREMENT_MS or increment_ms > MAX_BASE_OR_INCREMENT_MS:
            raise error
        return cls(base_ms, increment_ms, match["move"] is not None)

    def __str__(self) -> str:
        if self.per_move:
            return f"{_format_ms_as_seconds(self.base_ms)}/move"
        return f"{_format_ms_as_seconds(self.base_ms)}+{_format_ms_as_seconds(self.increment_ms)}"


class TimeOdds(Struct, frozen=True, omit_defaults=True):
    """Each player's own time control as text; empty for a player with the time control of the match."""

    maxie: Annotated[str, Meta(max_length=32)] = ""
    minnie: Annotated[str, Meta(max_length=32)] = ""

    def get_time_control(
        self, seat: Literal["maxie", "minnie"], match_time_control: TimeControl
    ) -> TimeControl:
        """Return the time control of the player in `seat`.

        `match_time_control` is the time control of the match, returned for a player without a time control of its own.
        Raises BadTimeControl if the player's own time control is invalid.
        """
        odds: str = getattr(self, seat)
        return TimeControl.parse(odds) if odds else match_time_control

    def describe_time_controls(self, match_time_control: str) -> str:
        """Return the time controls of both players as text, such as `10+0.1 (maxie) against 5+0.1 (minnie)`.

        Return `match_time_control`, the time control of the match, if neither player has one of its own.
        """
        if not (self.maxie or self.minnie):
            return match_time_control
        return (
            f"{self.maxie or match_time_control} (maxie) against {self.minnie or match_time_control} (minnie)"
        )


def _parse_seconds_to_ms(seconds_text: str) -> int:
    return int(Decimal(seconds_text) * 1000)


def _format_ms_as_seconds(ms: int) -> str:
    return f"{Decimal(ms) / 1000:f}".rstrip("0").rstrip(".") if ms % 1000 else str(ms // 1000)


DURATION_EXAMPLES = "30s, 10m, 2h, or ever"
"""Examples of all forms of a duration, for error messages."""

_SECONDS_BY_DURATION_UNIT = {"s": 1, "m": 60, "h": 3600}


def parse_duration(text: str) -> float:
    """Return the seconds in a duration such as `10m`; infinity for `ever`.

    Raises ValueError for other text; the message names the valid forms.
    """
    if text == "ever":
        return math.inf
    try:
        seconds = float(text[:-1]) * _SECONDS_BY_DURATION_UNIT[text[-1:]]
    except (ValueError, KeyError):
        raise ValueError(
            f"the time must be a duration such as {DURATION_EXAMPLES}, not {text!r:.40}"
        ) from None
    if not 0 < seconds < math.inf:
        raise ValueError(f"the time must be above 0, such as {DURATION_EXAMPLES}")
    return seconds


def format_duration(seconds: float) -> str:
    """Return a duration as text, such as `0.3 s`, `3 s`, `3 min 2 s` or `2 h 5 min`."""
    if seconds < 1:
        return f"{seconds:.1f} s"
    whole_seconds = round(seconds)
    if whole_seconds < 60:
        return f"{whole_seconds} s"
    if whole_seconds < 3600:
        return f"{whole_seconds // 60} min {whole_seconds % 60} s"
    return f"{whole_seconds // 3600} h {whole_seconds % 3600 // 60} min"

"""How long something lasts, as people write it: `30s`, `10m`, `2h`, or `ever`."""

from __future__ import annotations

import math

DURATIONS = "30s, 10m, 2h, or ever"
"""How a duration is written."""

_UNITS = {"s": 1, "m": 60, "h": 3600}


def seconds_of(text: str) -> float:
    """How many seconds `10m` is; `ever` is without end. Raises ValueError with what would be right."""
    if text == "ever":
        return math.inf
    try:
        seconds = float(text[:-1]) * _UNITS[text[-1:]]
    except (ValueError, KeyError):
        raise ValueError(f"must be as in {DURATIONS}, not {text!r:.40}") from None
    if not 0 < seconds < math.inf:
        raise ValueError(f"must be more than nothing, as in {DURATIONS}")
    return seconds


def in_words(seconds: float) -> str:
    """A time for people, as in `0.3 s`, `3 s`, `3 min 2 s` and `2 h 5 min`."""
    if seconds < 1:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"

"""Column names of tables, the same in print, in CSV and in JSON. Pure."""

from __future__ import annotations

from typing import Final

WORDS: Final = {
    "wins": "won",
    "draws": "drawn",
    "losses": "lost",
    "crashes": "crash",
    "time_forfeits": "time",
    "illegal_moves": "illegal",
    "disconnects": "gone",
    "other_forfeits": "other",
}
"""Headings of columns whose fields have a different name in Python."""

"""The words of tables: what is in print, in CSV and in JSON is called the same everywhere. Pure."""

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
"""The headings of columns whose fields have another name in Python."""

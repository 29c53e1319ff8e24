"""Column names of tables, which are the same on screen, in CSV and in JSON. Pure."""

from __future__ import annotations

from typing import Final

COLUMN_NAMES: Final = {
    "wins": "won",
    "draws": "drawn",
    "losses": "lost",
    "crashes": "crash",
    "time_forfeits": "time",
    "illegal_moves": "illegal",
    "disconnects": "gone",
    "other_forfeits": "other",
}
"""Column name of each field whose name in Python is different."""

"""The openings that come with the shipped maps, and what ties a file of openings to the map that it was made for."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from arena.games.board import RisklessMap
from arena.maps.loader import SHIPPED, map_names

FOLDER = SHIPPED / "openings"

KEY = "fingerprint:"
"""Begins the line of a file of openings that tells the map's fingerprint."""


def fingerprint(map: RisklessMap) -> str:
    """Sixteen hexadecimal digits that differ where maps are played differently: by roads, numbers or start.

    Names and places do not count: openings are written in numbers of territories.
    """
    played = [map.neighbours, map.territory_cap, map.armies_to_win, map.ply_limit, map.start]
    return hashlib.sha256(json.dumps(played).encode()).hexdigest()[:16]


def shipped_openings(name: str) -> Path | None:
    """The file of openings of a shipped map; None for other maps, and for one on which no opening is worth playing."""
    path = FOLDER / f"{name}.txt"
    return path if name in map_names() and path.is_file() else None

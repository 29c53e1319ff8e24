"""Folders of solved tables: those shipped with the project and those made on this machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from arena.games.riskless_map import RisklessMap
from arena.solved.board_numbers import BoardNumbering
from arena.solved.header import BadTable, compute_boards_digest
from arena.solved.solved_table import SolvedTable

SHIPPED_TABLES_FOLDER = Path(__file__).parent / "tables"
"""Folder of the solved tables that come with the project."""
TABLE_SUFFIX = ".solved"
"""Suffix of the file name of a solved table."""
TABLE_CACHE_SUBFOLDER = Path("riskless-arena") / "solved"
"""Path, within a cache folder, of the folder with the solved tables."""


def list_table_cache_folders() -> Iterator[Path]:
    """Yield the folders that may hold tables solved on this machine.

    The first folder is in the user's cache folder, the second in the Python environment. Neither need exist.
    """
    xdg_folder = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if xdg_folder.is_absolute():
        yield xdg_folder / TABLE_CACHE_SUBFOLDER
    else:
        with suppress(RuntimeError):  # the home folder is unknown
            yield Path.home() / ".cache" / TABLE_CACHE_SUBFOLDER
    yield Path(sys.prefix) / "cache" / TABLE_CACHE_SUBFOLDER


def get_table_output_folder() -> Path:
    """Return the folder to which `arena solve` writes; it may not exist yet."""
    return next(list_table_cache_folders())


def make_table_file_name(map: RisklessMap) -> str:
    """Return the file name of a map's solved table: the map's name, and a digest of its roads, cap and armies to win."""
    name = "".join(letter if letter.isalnum() else "-" for letter in map.name)
    return f"{name}-{compute_boards_digest(BoardNumbering.from_map(map))}{TABLE_SUFFIX}"


def find_solved_table_file(numbering: BoardNumbering) -> Path | None:
    """Return the path of the solved table of `numbering`, found by the file's name; None if there is none.

    The file is not read.
    """
    pattern = f"*-{compute_boards_digest(numbering)}{TABLE_SUFFIX}"
    for folder in (SHIPPED_TABLES_FOLDER, *list_table_cache_folders()):
        for path in sorted(folder.glob(pattern)):
            return path
    return None


def open_table(numbering: BoardNumbering) -> SolvedTable | None:
    """Open the solved table of `numbering`, and return it; return None if no folder has one.

    Raises BadTable if the file is damaged, or was made for a map with other roads, another cap or another number of
    armies to win.
    """
    path = find_solved_table_file(numbering)
    return None if path is None else _open_table(path, path.stat().st_mtime_ns, numbering)


@lru_cache(maxsize=16)
def _open_table(table_file: Path, _modified_ns: int, numbering: BoardNumbering) -> SolvedTable:
    return require_matching_table(SolvedTable(table_file), numbering)


def require_matching_table(table: SolvedTable, numbering: BoardNumbering) -> SolvedTable:
    """Return `table`. Raises BadTable if its roads, cap or number of armies to win differ from those of `numbering`."""
    if table.numbering != numbering:
        raise BadTable(
            f"{table.path} was solved for a different map (different roads, cap or goal): solve the map again"
        )
    return table

"""Where tables are: those that come with the project, and those that were made on this machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from arena.games.board import RisklessMap
from arena.solved.boards import Boards
from arena.solved.header import BadTable, digest
from arena.solved.table import Table

SHIPPED = Path(__file__).parent / "tables"
SUFFIX = ".solved"
INSIDE = Path("riskless-arena") / "solved"
"""Where tables are inside a folder for caches."""


def caches() -> Iterator[Path]:
    """The folders of tables that were made here, the best first: the user's, then that of the environment it runs in."""
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if given.is_absolute():
        yield given / INSIDE
    else:
        with suppress(RuntimeError):  # there is no home that anybody knows of
            yield Path.home() / ".cache" / INSIDE
    yield Path(sys.prefix) / "cache" / INSIDE


def made_here() -> Path:
    """The folder that `arena solve` writes to; it need not be there."""
    return next(caches())


def file_name(map: RisklessMap) -> str:
    """What the table of a map is called: its name, and a digest of the roads, the cap and the goal."""
    name = "".join(letter if letter.isalnum() else "-" for letter in map.name)
    return f"{name}-{digest(Boards.of(map))}{SUFFIX}"


def find(boards: Boards) -> Path | None:
    """The file of the table of these boards, by its name; None where there is none. The file is not read."""
    wanted = f"*-{digest(boards)}{SUFFIX}"
    for folder in (SHIPPED, *caches()):
        for path in sorted(folder.glob(wanted)):
            return path
    return None


def open_table(boards: Boards) -> Table | None:
    """The table of these boards, or None where there is none. Raises BadTable for a file that is not whole, or of another map."""
    path = find(boards)
    return None if path is None else _opened(path, path.stat().st_mtime_ns, boards)


@lru_cache(maxsize=16)
def _opened(path: Path, _changed: int, boards: Boards) -> Table:
    return checked(Table(path), boards)


def checked(table: Table, boards: Boards) -> Table:
    """The table, if it is of these boards. Raises BadTable."""
    if table.boards != boards:
        raise BadTable(f"{table.path} is of another map: its roads, cap or goal differ; solve the map again")
    return table

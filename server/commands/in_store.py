"""What commands that work on a store share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from io import StringIO
from typing import Literal, TypeVar

import anyio
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from console import Failure, err, out
from server.store.database import Engine, StoreError, file_of, open_store

DATABASE = "sqlite:///arena.db"
"""The store where none is named, which is that of `arena serve`."""

WIDE = 400
"""The width of a table in characters, where there is no terminal to fit into."""

Justify = Literal["left", "right"]
T = TypeVar("T")


def in_store(db: str | None, work: Callable[[Engine], Awaitable[T]], *, make: bool = False) -> T:
    """What `work` returns for a store that is open while it runs. Raises Failure in one line.

    make: whether an SQLite file that is not there is made; else a mistyped name would show an empty store
    """
    url = db or DATABASE
    if not make:
        check_there(url)

    async def main() -> T:
        async with open_store(url) as engine:
            return await work(engine)

    try:
        return anyio.run(main)
    except StoreError as error:
        raise Failure(str(error)) from None


def print_table(columns: Mapping[str, Justify], rows: Iterable[Sequence[str]]) -> None:
    """Print a table: drawn on a terminal; elsewhere plain, unbroken, and valid Markdown.

    columns: each heading, with the side that its cells stand at
    """
    drawn = Table(box=box.SIMPLE_HEAD if out.is_terminal else box.MARKDOWN, pad_edge=not out.is_terminal)
    for heading, side in columns.items():
        drawn.add_column(heading, justify=side, overflow="fold")
    for row in rows:
        drawn.add_row(*map(Text, row))
    if out.is_terminal:
        out.print(drawn)
        return
    wide = Console(file=StringIO(), width=WIDE)
    with wide.capture() as captured:
        wide.print(drawn)
    lines = (line.strip() for line in captured.get().splitlines())
    out.print("\n".join(filter(None, lines)), markup=False, highlight=False, soft_wrap=True)


def say(text: str) -> None:
    """Tell the user something beside the results, in one line."""
    err.print(text, markup=False, highlight=False, soft_wrap=True)


def check_there(url: str) -> None:
    """Raises Failure for an SQLite store whose file is not there."""
    file = file_of(url)
    if file is not None and not file.exists():
        raise Failure(f"there is no database {file}: name one with --db, or let `arena serve` make it")

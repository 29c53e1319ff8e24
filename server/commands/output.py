"""How the commands of a host print: a table for people and for pipes, and a line beside the results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from typing import Literal

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from arena.console import err, out

WIDE = 400
"""The width of a table in characters, where there is no terminal to fit into."""

Justify = Literal["left", "right"]


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

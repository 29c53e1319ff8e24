"""What every command shares: how it fails, the options that all of them spell alike, and its output.

The modules that hold commands import this. `arena.cli` runs a command and turns an error into one line and an exit code: 0, 1 for a failure that is explained, 2 for bad usage.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console

from arena.games.catalogue import KNOWN
from arena.games.core import GameError


class Failure(Exception):
    """The command could not do it: one line that says what, where, and what would be right. Exit 1."""

    exit_code = 1


class Misuse(Failure):
    """The command was called wrongly: an unknown engine, map or option value. Exit 2."""

    exit_code = 2


GameOption = Annotated[
    str,
    typer.Option(
        "--game",
        metavar="GAME",
        help="The game's name, or a class of your own, FILE.py:Class (docs/games.md).",
    ),
]
OwnGamesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--game",
        metavar="FILE.py:Class",
        envvar="ARENA_GAME",
        help="A game of your own that matches here are of; may be given several times.",
    ),
]
MapOption = Annotated[
    str, typer.Option("--map", metavar="MAP", help="A map's name (`arena maps list`), or a .toml file.")
]
TimeOption = Annotated[
    str, typer.Option("--tc", metavar="TIME", help="Time control: 10+0.1 or 0.1/move, in seconds.")
]
MarginOption = Annotated[
    int, typer.Option("--margin", metavar="MS", min=0, max=60_000, help="Network grace on the clock, in ms.")
]
RoundsOption = Annotated[
    int, typer.Option("--rounds", metavar="N", min=1, help="Rounds; each is one pair, seats swapped.")
]
ConcurrencyOption = Annotated[
    int,
    typer.Option("--concurrency", metavar="N", min=0, help="Matches at once; 0: as many as the cores allow."),
]
SeedOption = Annotated[int, typer.Option("--seed", metavar="N", help="Seed for whatever is random.")]
RecordOption = Annotated[
    Path | None, typer.Option("--record", metavar="FILE", help="Write the matches here, one JSON a line.")
]
DatabaseOption = Annotated[
    str | None, typer.Option("--db", metavar="URL", help="Database URL, as in sqlite:///arena.db.")
]
AdjudicateOption = Annotated[
    str,
    typer.Option(
        "--adjudicate",
        metavar="RULES",
        help="End matches early: repetition=3, and any of win=500,draw=20,moves=3,after=40,limit=200,solve=1000,table; "
        "repetition=none or none.",
    ),
]
JsonOption = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="Write the table as JSON here; - is the output.")
]

out = Console()
"""Where results go."""
err = Console(stderr=True)
"""Where progress and complaints go."""


def game_named(spec: str) -> str:
    """The name of the game that `--game` means, which this process knows from now on. Raises Misuse."""
    try:
        return KNOWN.name(spec)
    except GameError as error:
        raise Misuse(f"--game: {error}") from None


def know_games(specs: list[str] | None) -> list[str]:
    """The names of the games that `--game` means, all of which this process knows from now on. Raises Misuse."""
    return [game_named(spec) for spec in specs or ()]


def is_given(context: typer.Context, name: str) -> bool:
    """Whether the option was written, and is not just its default."""
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


def write_json(data: Any, path: Path) -> None:
    """Write `data` (plain, or msgspec structs) as indented JSON to `path`, or to the output for `-`. Raises Failure."""
    write_text(msgspec.json.format(msgspec.json.encode(data), indent=2).decode() + "\n", path)


def write_text(text: str, path: Path) -> None:
    """Write `text` to `path`, or to the output for `-`. Raises Failure."""
    if str(path) == "-":
        typer.echo(text, nl=False)
        return
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Failure(f"cannot write {path}: {error.strerror}") from None

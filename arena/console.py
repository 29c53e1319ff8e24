"""Errors, options and output shared by all commands.

The command modules import this one. `arena.cli` runs a command and turns an error into one line and an exit code:
0 for success, 1 for an explained failure, 2 for bad usage.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
import typer
from rich import box
from rich.console import Console, RenderableType
from rich.table import Table

from arena.atomic_file import open_output_file, require_writable
from arena.bot_file import BotAccount, read_bot_account
from arena.games.catalogue import CATALOGUE
from arena.games.core import GameError
from arena.games.riskless import Riskless
from arena.protocol.timecontrol import BadTimeControl, TimeControl
from arena.toml_file import BadTomlFile

if TYPE_CHECKING:
    from rich.progress import Progress


class CommandError(Exception):
    """Raised when a command fails. The message is one line: the error, its place, and a remedy. Exit code 1."""

    exit_code = 1


class UsageError(CommandError):
    """Raised when a command is called wrongly, for example with an unknown engine, map or option value. Exit code 2."""

    exit_code = 2


def validate_output_file(context: typer.Context, file: Path | None) -> Path | None:
    """Check the value of an option that names an output file, before the command does its work.

    Return `file`, which is None if the option is not given.

    Raises BadParameter if the file cannot be written, or if another option of the command names the same file.
    """
    if file is None:
        return None
    earlier_files = context.meta.setdefault("output files", [])
    if file in earlier_files:
        raise typer.BadParameter(f"another option names {file} too: name another file")
    earlier_files.append(file)
    try:
        if file.is_dir():
            raise typer.BadParameter(f"{file} is a folder: name a file")
        if not file.parent.is_dir():
            raise typer.BadParameter(
                f"cannot write {file}: folder {file.parent} does not exist; create it first"
            )
        if str(file) != "-":
            require_writable(file)
    except OSError as error:
        raise typer.BadParameter(f"cannot write {file}: {error.strerror}") from None
    return file


GameOption = Annotated[
    str,
    typer.Option(
        "--game",
        metavar="GAME",
        help="Game to play: a name, or your own FILE.py:Class (docs/games.md).",
    ),
]
OwnGamesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--game",
        metavar="FILE.py:Class",
        envvar="ARENA_GAME",
        help="Your own game class, as FILE.py:Class; may be repeated.",
    ),
]
MapOption = Annotated[
    str, typer.Option("--map", metavar="MAP", help="Name of a map (`arena maps list`), or a .toml file.")
]
TimeOption = Annotated[
    str,
    typer.Option(
        "--tc", metavar="TIME", help="Time control in seconds: 10+0.1 (base + increment) or 0.1/move."
    ),
]
MarginOption = Annotated[
    int,
    typer.Option(
        "--margin",
        metavar="MS",
        min=0,
        max=60_000,
        help="Time in ms by which a move may exceed its limit, to allow for network delay.",
    ),
]
RoundsOption = Annotated[
    int,
    typer.Option(
        "--rounds",
        metavar="N",
        min=1,
        help="Number of rounds; in each, bots that meet play two matches, with swapped seats.",
    ),
]
ConcurrencyOption = Annotated[
    int,
    typer.Option(
        "--concurrency",
        metavar="N",
        min=0,
        help="Maximum number of parallel matches; 0: as many as the cores allow.",
    ),
]
ProcessesOption = Annotated[
    int,
    typer.Option(
        "--processes", metavar="N", min=0, max=1024, help="Number of parallel processes; 0: one per core."
    ),
]
SeedOption = Annotated[
    int, typer.Option("--seed", metavar="N", help="Random seed; the same seed gives the same random choices.")
]
RecordOption = Annotated[
    Path | None,
    typer.Option(
        "--record",
        metavar="FILE",
        callback=validate_output_file,
        help="Append match records to this file, one JSON object per line.",
    ),
]
DatabaseOption = Annotated[
    str | None, typer.Option("--db", metavar="URL", help="Database URL, e.g. sqlite:///arena.db.")
]
AdjudicateOption = Annotated[
    str,
    typer.Option(
        "--adjudicate",
        metavar="RULES",
        help="Rules that end matches early, e.g. repetition=3,limit=200, or 'none' for no rules (docs/ladders.md).",
    ),
]
BotFileOption = Annotated[
    Path | None,
    typer.Option(
        "--as",
        metavar="BOT.TOML",
        help="Settings file (bot.toml) with the server's address and the bot's name and token.",
    ),
]
JsonOption = Annotated[
    Path | None,
    typer.Option(
        "--json",
        metavar="FILE",
        callback=validate_output_file,
        help="Write the result as JSON to this file (- for standard output).",
    ),
]

out = Console(markup=False, emoji=False, highlight=False, soft_wrap=True)
"""Console for results (standard output).

Text is printed unchanged: brackets in a name are not markup, and long lines are not wrapped.
"""
err = Console(stderr=True, markup=False, emoji=False, highlight=False, soft_wrap=True)
"""Console for progress and errors (standard error)."""


def register_game(game_spec: str) -> str:
    """Register the game that the option `--game` gives, as a name or as `FILE.py:Class`, and return its name.

    Once it is registered, this process knows a game from a file by its name. Raises UsageError for an invalid game.
    """
    try:
        return CATALOGUE.register_game(game_spec)
    except GameError as error:
        raise UsageError(f"--game: {error}") from None


def register_games(game_specs: list[str] | None) -> list[str]:
    """Register the games that the options `--game` name, and return their names. Raises UsageError for an invalid game."""
    return [register_game(spec) for spec in game_specs or ()]


def require_game_with_maps(game_name: str, game_class: type[Any]) -> None:
    """Raise UsageError if the game has no maps. Called if the user gave the option `--map`.

    game_name   name of the game, as the user wrote it
    game_class  class of the game
    """
    if not issubclass(game_class, Riskless):
        raise UsageError(f"--map: {game_name} has no maps; leave out --map")


def parse_time_control_option(text: str, option_name: str = "--tc") -> TimeControl:
    """Parse `text`, the value of the option `option_name`, as a time control. Raises UsageError if it is invalid."""
    try:
        return TimeControl.parse(text)
    except BadTimeControl as error:
        raise UsageError(f"{option_name}: {error}") from None


def load_bot_account(bot_file: Path) -> BotAccount:
    """Return the account in the bot.toml that the option `--as` names. Raises UsageError if it has no valid account."""
    try:
        return read_bot_account(bot_file)
    except BadTomlFile as error:
        raise UsageError(f"--as: {error}") from None


def is_option_given(context: typer.Context, parameter_name: str) -> bool:
    """Return True if the user gave the option, on the command line or in an environment variable.

    parameter_name  name of the command function's parameter for the option
    """
    source = context.get_parameter_source(parameter_name)
    return source is not None and source.name != "DEFAULT"


def write_json(json_data: Any, path: Path) -> None:
    """Write plain data or msgspec structs to `path` as indented JSON; `-` is standard output.

    Raises CommandError if the file cannot be written.
    """
    write_text(msgspec.json.format(msgspec.json.encode(json_data), indent=2).decode() + "\n", path)


def write_text(text: str, path: Path) -> None:
    """Write `text` to `path`; `-` is standard output.

    Raises CommandError, and leaves the file as it was, if it cannot be written.
    """
    if str(path) == "-":
        typer.echo(text, nl=False)
        return
    with explain_write_errors(path), open_output_file(path) as stream:
        stream.write(text)


@contextmanager
def explain_write_errors(output: Path | str) -> Iterator[None]:
    """Convert an OSError raised in the `with` block to a CommandError with the same reason.

    output  file to which the block writes, or its description for the message, such as `standard output`
    """
    try:
        yield
    except OSError as error:
        raise CommandError(f"cannot write {output}: {error.strerror}") from None


def get_progress_console() -> Console:
    """Return the console for a progress bar: standard error if it is a terminal, otherwise a console that prints nothing.

    For each bar, rich would otherwise print an empty line to a standard error that is not a terminal.
    """
    return err if err.is_terminal else Console(quiet=True)


@contextmanager
def hide_progress(progress: Progress) -> Iterator[None]:
    """Hide a progress bar during the `with` block, so that the block can print to standard output."""
    progress.stop()
    try:
        yield
    finally:
        progress.start()


Justify = Literal["left", "right"]

MIN_TEXT_COLUMN_CHARACTERS = 9
"""Minimum width of a column of text in which lines are wrapped, in characters."""
MAX_TABLE_CHARACTERS = 1_000_000
"""Width, in characters, of the imaginary console on which a table is measured without wrapping. No table is that wide."""


def print_table(justification_by_column: Mapping[str, Justify], rows: Iterable[Sequence[str]]) -> None:
    """Print a table to standard output: drawn on a terminal, otherwise as Markdown without line breaks.

    The table is also printed as Markdown on a terminal that is too narrow for its columns of numbers.

    justification_by_column  alignment of each column, by heading: left for text, which may be folded, and right for numbers
    """
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for heading, side in justification_by_column.items():
        table.add_column(heading, justify=side, overflow="fold", no_wrap=side == "right")
    for row in rows:
        table.add_row(*row)
    if fits_terminal(table, out):
        out.print(table)
    else:
        table.box, table.padding, table.pad_edge = box.MARKDOWN, (0, 1), True
        print_markdown_table(table, out)


def print_table_or_write_json(
    json_data: Any,
    json_file: Path | None,
    justification_by_column: Mapping[str, Justify],
    rows: Iterable[Sequence[str]],
) -> None:
    """Write `json_data` to the file that the option `--json` names; without the option, print `rows` as a table instead."""
    if json_file is None:
        print_table(justification_by_column, rows)
    else:
        write_json(json_data, json_file)


def fits_terminal(table: Table, console: Console) -> bool:
    """Return True if `console` is a terminal that is wide enough for the table.

    Each column, except those with `no_wrap`, may be wrapped to MIN_TEXT_COLUMN_CHARACTERS.
    """
    if not console.is_terminal:
        return False
    folded = Table(box=table.box, padding=table.padding, pad_edge=table.pad_edge)
    for column in table.columns:
        width = max(_measure_natural_width(cell, console) for cell in (column.header, *column.cells))
        folded.add_column(width=width if column.no_wrap else min(width, MIN_TEXT_COLUMN_CHARACTERS))
    return _measure_natural_width(folded, console) <= console.width


def print_markdown_table(table: Table, console: Console) -> None:
    """Print a table as Markdown. Its cells are not wrapped, so that the Markdown stays valid."""
    width = _measure_natural_width(table, console)
    wide = Console(file=StringIO(), width=width, markup=False, emoji=False)
    with wide.capture() as captured:
        wide.print(table)
    lines = filter(None, (line.strip() for line in captured.get().splitlines()))
    console.print("\n".join(lines), markup=False, emoji=False, highlight=False, soft_wrap=True)


def _measure_natural_width(renderable: RenderableType, console: Console) -> int:
    """Return the width of a table or a cell in characters, if nothing in it is wrapped."""
    return console.measure(renderable, options=console.options.update(max_width=MAX_TABLE_CHARACTERS)).maximum

"""`arena replay`: step through a finished match."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from http.client import HTTPException
from pathlib import Path
from typing import Annotated
from urllib.error import HTTPError
from urllib.parse import quote, unquote
from urllib.request import urlopen

import typer
from rich.table import Table

from arena.bots.commands.review import judge
from arena.console import Failure, JsonOption, Misuse, OwnGamesOption, know_games, out, write_json
from arena.maps.board import print_position
from arena.match.replay import Replay, verify
from arena.protocol.record import RECORD_BYTES, BadRecord, Record, from_line, read_numbered

KEYS = "Enter, space or → next   ← back   g first   G last   q quit"
FORWARD = {"\r", "\n", " ", "n", "l", "j", "\x1b[C", "\x1b[B", "\x1bOC", "\x1bOB"}
BACK = {"p", "b", "h", "k", "\x1b[D", "\x1b[A", "\x1bOD", "\x1bOA", "\x7f", "\b"}
FIRST = {"g", "\x1b[H", "\x1bOH"}
LAST = {"G", "\x1b[F", "\x1bOF"}
QUIT = {"q", "Q", "\x1b", "\x04"}


NET_SECONDS = 20.0
_ADDRESS = re.compile(r"(https?://[^/#?]+)/(?:#/)?(?:match|api/record)/([^/#?]+)(?:/\d+)?")


def register(app: typer.Typer) -> None:
    """Add `arena replay`."""
    app.command("replay")(replay)


def replay(
    record: Annotated[
        str,
        typer.Argument(
            metavar="RECORD",
            help="A file of records, one JSON a line, or a match's address, http://HOST/match/ID.",
        ),
    ],
    match: Annotated[
        str, typer.Option("--match", metavar="ID", help="The match's id, or how it begins.")
    ] = "",
    ply: Annotated[
        int | None, typer.Option("--ply", metavar="PLY", help="Show only the position before this ply.")
    ] = None,
    analyse: Annotated[
        str,
        typer.Option(
            "--analyse",
            metavar="ENGINE",
            help="Judge every move: alphabeta, minimax …; perfect: by the table.",
        ),
    ] = "",
    depth: Annotated[
        int, typer.Option("--depth", metavar="PLIES", min=2, max=20, help="With --analyse: plies to search.")
    ] = 3,
    svg: Annotated[
        Path | None,
        typer.Option("--svg", metavar="FILE", help="With --analyse: draw the values here; - is the output."),
    ] = None,
    game: OwnGamesOption = None,
    json: JsonOption = None,
) -> None:
    """Step through a finished match, after checking that its moves and its result are true.

    At a terminal: Enter for the next ply, arrow keys, q to leave. Else all plies are printed. A
    file of several matches is listed, until --match picks one; --json writes that list.

    With --analyse an engine tells for each move what it gave away, and the better move: ?? where a
    certain result was thrown away, ? where an army or more was; --json then writes the moves.

    On a solved map (`arena solve`) it also tells what each move truly was: kept, lost the win, lost the draw;
    `--analyse perfect` tells that alone.

    Example: arena replay ladder.jsonl --match 3f2a

    Example: arena replay http://127.0.0.1:8765/match/3f2ab81c

    Example: arena replay ladder.jsonl --match 3f2a --analyse alphabeta --svg values.svg
    """
    know_games(game)
    records = records_of(record)
    if svg is not None and not analyse:
        raise Misuse("--svg draws what --analyse finds: give --analyse ENGINE too")
    if analyse:
        judge(_choose(record, records, match), analyse, depth, json, svg)
    elif json is not None:
        write_json([_row(line, each) for line, each in records], json)
    elif not match and len(records) > 1:
        _list(records)
    else:
        _watch(_choose(record, records, match), ply)


def _choose(file: str, records: Sequence[tuple[int, Record]], match: str) -> Replay:
    """The one match that is meant, checked."""
    found = [(line, each) for line, each in records if each.match.startswith(match)]
    if not found:
        raise Misuse(
            f"--match: no match in {file} begins with {match!r:.70}; leave the option out to list them"
        )
    if len(found) > 1:
        raise Misuse(f"--match: {len(found)} matches in {file} begin with {match!r:.70}; give more of the id")
    line, chosen = found[0]
    try:
        return verify(chosen)
    except BadRecord as error:
        raise Failure(f"{file}, line {line}: match {chosen.match:.12} is wrong: {error}") from None


def _watch(played: Replay, ply: int | None) -> None:
    if ply is not None:
        if not 0 <= ply <= played.plies:
            raise Misuse(f"--ply must be from 0 to {played.plies}, the end of this match, not {ply}")
        _print(played, ply)
    elif sys.stdout.isatty() and sys.stdin.isatty():
        _step(played)
    else:
        for each in range(played.plies + 1):
            _print(played, each)


def _row(line: int, record: Record) -> dict[str, object]:
    return {
        "line": line,
        "match": record.match,
        "game": record.game,
        "map": record.setup.get("map"),
        "maxie": record.players.maxie,
        "minnie": record.players.minnie,
        "winner": record.result.winner,
        "reason": record.result.reason.value,
        "plies": len(record.moves),
    }


def _list(records: Sequence[tuple[int, Record]]) -> None:
    table = Table(title=f"{len(records)} matches; choose one with --match", title_justify="left")
    columns = ("match", "game", "map", "maxie", "minnie", "winner", "reason")
    for column in columns:
        table.add_column(column, overflow="fold")
    table.add_column("plies", justify="right")
    for line, record in records:
        row = _row(line, record)
        row["match"] = record.match[:12]
        table.add_row(*(str(row[column] or "-") for column in columns), str(row["plies"]))
    out.print(table)


def _print(played: Replay, ply: int) -> None:
    typer.echo(played.told(ply))
    print_position(played.game, played.positions[ply], out)
    typer.echo()


def _step(played: Replay) -> None:
    ply = 0
    while True:
        out.clear()
        typer.echo(played.told(0))
        if ply > 0:
            typer.echo(played.told(ply))
        typer.echo()
        print_position(played.game, played.positions[ply], out)
        typer.echo(f"\n{ply} of {played.plies} plies   {KEYS}")
        try:
            key = typer.getchar()
        except EOFError:
            return
        if key in FORWARD:
            ply = min(ply + 1, played.plies)
        elif key in BACK:
            ply = max(ply - 1, 0)
        elif key in FIRST:
            ply = 0
        elif key in LAST:
            ply = played.plies
        elif key in QUIT:
            return


def records_of(source: str) -> list[tuple[int, Record]]:
    """The records of a file, or the one of a match whose address the page shows, with their lines. Raises Failure, Misuse."""
    if source.startswith(("http://", "https://")):
        return [(1, _fetch(source))]
    try:
        records = list(read_numbered(Path(source)))
    except OSError as error:
        raise Failure(f"cannot read {source}: {error.strerror}") from None
    except BadRecord as error:
        raise Failure(str(error)) from None
    if not records:
        raise Failure(f"{source} has no record")
    return records


def _fetch(address: str) -> Record:
    found = _ADDRESS.fullmatch(address)
    if found is None:
        raise Misuse(
            f"{address!r:.120} is no match's address: copy it from the page, as http://HOST:PORT/match/ID"
        )
    server, match = found[1], unquote(found[2])
    try:
        with urlopen(f"{server}/api/record/{quote(match, safe='')}", timeout=NET_SECONDS) as answer:  # noqa: S310 - http or https
            body: bytes = answer.read(RECORD_BYTES + 1)
    except HTTPError as error:
        with error:
            why = error.read(1000).decode(errors="replace").strip()
        raise Failure(f"{server} answers {error.code}: {why}") from None
    except (OSError, HTTPException) as error:
        raise Failure(f"no answer from {server}: {getattr(error, 'reason', error)}") from None
    try:
        return from_line(body)
    except BadRecord as error:
        raise Failure(f"{server} answers with {error}") from None

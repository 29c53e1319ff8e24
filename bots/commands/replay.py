"""`arena replay`: check a finished match, and step through it or analyse it."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated
from urllib.parse import quote, unquote

import typer
from rich.table import Table

from arena.bots.client.status import make_website_url
from arena.bots.commands.analyse import MaxNodesOption, MaxTimeOption
from arena.bots.commands.review import print_review
from arena.bots.review.analysis import SearchLimits
from arena.console import (
    BotFileOption,
    CommandError,
    JsonOption,
    OwnGamesOption,
    UsageError,
    load_bot_account,
    out,
    register_games,
    validate_output_file,
    write_json,
)
from arena.fetch import fetch_body
from arena.maps.terminal import print_position
from arena.match.replay import Replay, verify_record
from arena.protocol.record import (
    MAX_RECORD_BYTES,
    BadRecord,
    Record,
    parse_record_line,
    read_records_with_line_numbers,
)

REPLAY_KEYS_HELP = "Enter, space or → next   ← back   g first   G last   q quit"
NEXT_PLY_KEYS = {"\r", "\n", " ", "n", "l", "j", "\x1b[C", "\x1b[B", "\x1bOC", "\x1bOB"}
PREVIOUS_PLY_KEYS = {"p", "b", "h", "k", "\x1b[D", "\x1b[A", "\x1bOD", "\x1bOA", "\x7f", "\b"}
FIRST_PLY_KEYS = {"g", "\x1b[H", "\x1bOH"}
LAST_PLY_KEYS = {"G", "\x1b[F", "\x1bOF"}
QUIT_KEYS = {"q", "Q", "\x1b", "\x04"}


_MATCH_URL_PATTERN = re.compile(r"(https?://[^/#?]+)/(?:#/)?(?:match|api/record)/([^/#?]+)(?:/\d+)?")


def replay(
    record: Annotated[
        str,
        typer.Argument(
            metavar="RECORD",
            help="Record file, or URL of a match's page; with --as BOT.TOML, a match id.",
        ),
    ],
    match: Annotated[
        str, typer.Option("--match", metavar="ID", help="Match id, or a unique prefix of it.")
    ] = "",
    ply: Annotated[
        int | None, typer.Option("--ply", metavar="PLY", help="Show only the position before this ply.")
    ] = None,
    analyse: Annotated[
        str,
        typer.Option(
            "--analyse",
            metavar="ENGINE",
            help="Analyse every move with this engine; `perfect` uses only the map's tablebase.",
        ),
    ] = "",
    nodes: MaxNodesOption = None,
    time: MaxTimeOption = None,
    depth: Annotated[
        int | None,
        typer.Option(
            "--depth",
            metavar="PLIES",
            min=2,
            max=100,
            help="Maximum search depth, in plies; needs --analyse.",
        ),
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option(
            "--svg",
            metavar="FILE",
            callback=validate_output_file,
            help="SVG file for a chart of the engine's values (- for standard output); needs --analyse.",
        ),
    ] = None,
    account: BotFileOption = None,
    game: OwnGamesOption = None,
    json: JsonOption = None,
) -> None:
    """Check a finished match, and step through it.

    At a terminal, press Enter for the next ply, use the arrow keys, and press q to leave. Otherwise all plies are
    printed. If a file has several matches, they are listed, unless --match selects one; --json writes that list.

    With --analyse an engine shows the better move and each move's loss in the chance of winning: ?! marks 5 %
    or more, ? 10 %, ?? 15 %. --nodes, --time and --depth limit each search; --json then writes the review of each move.

    On a solved map (`arena solve`), the analysis also shows the true result of each move: kept, lost the win, lost the draw;
    `--analyse perfect` shows only that.

    Example: arena replay ladder.jsonl --match 3f2a

    Example: arena replay http://127.0.0.1:8765/match/3f2ab81c

    Example: arena replay 3f2ab81c --as bot.toml

    Example: arena replay ladder.jsonl --match 3f2a --analyse alphabeta --svg values.svg
    """
    register_games(game)
    if account is not None:
        record = f"{make_website_url(load_bot_account(account).url)}/match/{quote(record, safe='')}"
    records = load_records(record)
    if svg is not None and not analyse:
        raise UsageError("--svg draws the values of an analysis: give --analyse ENGINE too")
    if not analyse and (nodes, time, depth) != (None, None, None):
        raise UsageError("--nodes, --time and --depth limit the analysis: give --analyse ENGINE too")
    if analyse:
        print_review(
            _make_replay_of_match(record, records, match),
            analyse,
            SearchLimits(nodes, time or math.inf, depth),
            json,
            svg,
        )
    elif json is not None:
        write_json([_make_json_row(line, record) for line, record in records], json)
    elif not match and len(records) > 1:
        _print_record_list(records)
    else:
        _show_replay(_make_replay_of_match(record, records, match), ply)


def _make_replay_of_match(
    file_name: str, records: Sequence[tuple[int, Record]], match_id_prefix: str
) -> Replay:
    """Return the only match whose id begins with `match_id_prefix` (empty for any id), replayed and verified.

    file_name  name of the file, for error messages
    records    records of the file, each as (line number, record)

    Raises UsageError if there is no such match or more than one, and CommandError if the match cannot be replayed.
    """
    matching_records = [
        (line, record) for line, record in records if record.match.startswith(match_id_prefix)
    ]
    if not matching_records:
        raise UsageError(
            f"--match: no match in {file_name} begins with {match_id_prefix!r:.70}; leave out --match to list them"
        )
    if len(matching_records) > 1:
        raise UsageError(
            f"--match: {len(matching_records)} matches in {file_name} begin with {match_id_prefix!r:.70}; give more of the id"
        )
    line, record = matching_records[0]
    try:
        return verify_record(record)
    except BadRecord as error:
        raise CommandError(
            f"{file_name}, line {line}: match {record.match:.12} cannot be replayed: {error}"
        ) from None


def _show_replay(replay: Replay, ply: int | None) -> None:
    if ply is not None:
        if not 0 <= ply <= replay.ply_count:
            raise UsageError(f"--ply must be from 0 to {replay.ply_count}, the end of this match, not {ply}")
        _print_ply(replay, ply)
    elif sys.stdout.isatty() and sys.stdin.isatty():
        _step_through_plies(replay)
    else:
        for number in range(replay.ply_count + 1):
            _print_ply(replay, number)


def _make_json_row(line_number: int, record: Record) -> dict[str, object]:
    return {
        "line": line_number,
        "match": record.match,
        "game": record.game,
        "map": record.setup.get("map"),
        "maxie": record.players.maxie,
        "minnie": record.players.minnie,
        "winner": record.result.winner,
        "reason": record.result.reason.value,
        "plies": len(record.moves),
    }


def _print_record_list(records: Sequence[tuple[int, Record]]) -> None:
    title = f"{len(records)} matches; choose one with --match"
    table = Table(title=title, title_justify="left", box=None, header_style="bold")
    columns = ("match", "game", "map", "maxie", "minnie", "winner", "reason")
    for column in columns:
        table.add_column(column, overflow="fold", no_wrap=column == "match")  # whole, for --match
    table.add_column("plies", justify="right")
    for line, record in records:
        row = _make_json_row(line, record)
        row["match"] = record.match[:12]
        row["reason"] = record.result.reason.value.replace("_", " ")
        table.add_row(*(str(row[column] or "-") for column in columns), str(row["plies"]))
    out.print(table)


def _print_ply(replay: Replay, ply: int) -> None:
    typer.echo(replay.describe_move(ply))
    print_position(replay.game, replay.positions[ply], out)
    typer.echo()


def _step_through_plies(replay: Replay) -> None:
    ply = 0
    while True:
        out.clear()
        typer.echo(replay.describe_move(0))
        if ply > 0:
            typer.echo(replay.describe_move(ply))
        typer.echo()
        print_position(replay.game, replay.positions[ply], out)
        typer.echo(f"\n{ply} of {replay.ply_count} plies   {REPLAY_KEYS_HELP}")
        try:
            key = typer.getchar()
        except EOFError:
            return
        if key in NEXT_PLY_KEYS:
            ply = min(ply + 1, replay.ply_count)
        elif key in PREVIOUS_PLY_KEYS:
            ply = max(ply - 1, 0)
        elif key in FIRST_PLY_KEYS:
            ply = 0
        elif key in LAST_PLY_KEYS:
            ply = replay.ply_count
        elif key in QUIT_KEYS:
            return


def load_records(path_or_url: str) -> list[tuple[int, Record]]:
    """Return the records in a file with their line numbers, or the record of the match at a URL with the line number 1.

    path_or_url  path of the file, or URL of the match's page or record

    Raises CommandError if there is no record, and UsageError if the URL is not the URL of a match.
    """
    if path_or_url.startswith(("http://", "https://")):
        return [(1, _fetch_record(path_or_url))]
    try:
        records = list(read_records_with_line_numbers(Path(path_or_url)))
    except OSError as error:
        raise CommandError(f"cannot read {path_or_url}: {error.strerror}") from None
    except BadRecord as error:
        raise CommandError(str(error)) from None
    if not records:
        raise CommandError(
            f"{path_or_url} has no match records: give a file written by --record or `arena export`"
        )
    return records


def _fetch_record(url: str) -> Record:
    url_parts = _MATCH_URL_PATTERN.fullmatch(url)
    if url_parts is None:
        raise UsageError(
            f"{url!r:.120} is not a match URL: copy it from the page, e.g. http://HOST:PORT/match/ID"
        )
    server, match = url_parts[1], unquote(url_parts[2])
    body = fetch_body(server, f"{server}/api/record/{quote(match, safe='')}", MAX_RECORD_BYTES + 1)
    try:
        return parse_record_line(body)
    except BadRecord as error:
        raise CommandError(f"{server} did not send a match record: {error}") from None

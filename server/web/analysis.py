"""Analysis by an engine, for visitors of the page: of a position, or of all moves of a finished match.

    GET /api/advice/MAP?position=TEXT
    GET /api/review/MATCH
    GET /api/review?game=NAME&setup=JSON&moves=JSON

MAP is a built-in map, and TEXT a position in the format of `games.riskless.Riskless.position_to_text`. The last form is
for a match that is not in the store. The engine is `arena analyse` or `arena replay --analyse`, in a separate process
under the supervisor.
"""

from __future__ import annotations

import subprocess
import sys
from http import HTTPStatus
from urllib.parse import parse_qs

import anyio
import msgspec

from arena.games.catalogue import KNOWN
from arena.games.riskless import Riskless
from arena.maps.loader import map_names
from arena.maps.setup import make_game_on_map
from arena.protocol.codes import EndReason
from arena.protocol.record import FORMAT, BadRecord, Record, RecordedMove, Result, from_line, to_line
from arena.protocol.values import Players
from arena.server.edge import responses
from arena.server.edge.responses import Response
from arena.server.processes import supervisor
from arena.server.web.board_pages import parse_match_query

ENGINE = "alphabeta"
NODES = 200_000
"""Number of nodes of each search, which takes some tenths of a second.

A limit in nodes gives equal positions equal answers.
"""
MAX_LINES = 3
"""Maximum number of best moves in an analysis."""
SECONDS = 35.0
"""Time limit of an analysis, in seconds. The first search on a machine also compiles the kernels."""
REVIEW_SECONDS = 90.0
"""Time limit of a review, in seconds. A match of a hundred moves takes about 5 s of one core."""
MAX_BYTES = 4 * 1024 * 1024
"""Maximum number of bytes read from the engine."""
NO_POSITION = "the query must be position=TEXT, without other parameters"
DAY = "public, max-age=86400"
"""Cache-Control header of an analysis, which only another version of the server could change."""


class AnalysisLine(msgspec.Struct):
    """One of the best moves. `line` has moves in the game's notation; `value` and `chance` of winning are for Maxie."""

    depth: int
    value: float
    chance: float
    line: list[str]


class Analysis(msgspec.Struct):
    """Analysis of a position, the best line first. `truth` is the exact value if the map is solved, otherwise null."""

    engine: str
    lines: list[AnalysisLine]
    truth: msgspec.Raw = msgspec.Raw(b"null")


class ReviewedMoveEntry(msgspec.Struct):
    """Review of a move: Maxie's winning chance after it, the mover's lost chance, a mark, and a better line."""

    move: str
    mark: str
    chance: float
    chance_lost: float
    line: list[str]


class PlayerAccuracy(msgspec.Struct):
    """Summary of a player's moves, with the accuracy in percent."""

    moves: int
    marked: int
    accuracy: float


class Review(msgspec.Struct):
    """Review of a match. `players` has the summaries of the players that have moved, by seat."""

    engine: str
    players: dict[str, PlayerAccuracy]
    moves: list[ReviewedMoveEntry]


_analysis = msgspec.json.Decoder(Analysis).decode
_review = msgspec.json.Decoder(Review).decode


async def analyse_position(map_name: str, query: str, seconds: float = SECONDS) -> Response:
    """Return the analysis of the position in `query` on a map, or an answer with an error in one line."""
    if map_name not in map_names():
        return responses.not_found(f"no built-in map is called {map_name!r:.80}")
    position = parse_position_query(query)
    if position is None:
        return responses.bad_request(NO_POSITION)
    options = ["--map", map_name, f"--position={position}", "--engine", ENGINE]
    options += ["--nodes", str(NODES), "--lines", str(MAX_LINES)]
    code, output = await _run_engine("analyse", *options, seconds=seconds)
    if code is None:
        return _timeout_answer()
    if code != 0:
        line = "the position cannot be analysed: it is not a position of this map, or its match is over"
        return responses.bad_request(line)
    result = _analysis(output)
    best = msgspec.structs.asdict(result.lines[0])
    whole = {"engine": result.engine, **best, "lines": result.lines, "truth": result.truth}
    return responses.json_response(whole, {"Cache-Control": DAY})


def parse_position_query(query: str) -> str | None:
    """Return the text of the position in a query; None if the query is not exactly one position."""
    try:
        parameters = parse_qs(query, max_num_fields=2, errors="strict")
    except ValueError:
        return None
    return " ".join(parameters["position"][0].split()) if set(parameters) == {"position"} else None


async def review_moves(query: str, seconds: float = REVIEW_SECONDS) -> Response:
    """Return the review of the match in `query`, given as game, setup and moves, or an answer with an error in one line.

    Raises BadRequest.

    On a built-in map, the setup needs only the map's name and the fields that differ from the map.
    """
    name, setup, moves = parse_match_query(query)
    if name == Riskless.name and setup.get("map") in map_names():
        setup = {**make_game_on_map(name, setup["map"]).setup(), **setup}
    record = Record(
        format=FORMAT,
        match="review",
        event="",
        game=name,
        setup=setup,
        players=Players("maxie", "minnie"),
        time_control="1/move",
        started="",
        moves=[RecordedMove(each, 0.0) for each in moves],
        result=Result(None, EndReason.SERVER_FAULT),  # the only one that moves need not lead to
    )
    return await review_match(to_line(record), seconds)


async def review_match(line: str, seconds: float = REVIEW_SECONDS) -> Response:
    """Return the review of a match, given its record as a line of JSON, or an answer with an error in one line."""
    try:
        record = from_line(line)
    except BadRecord as error:
        return responses.bad_request(f"the record cannot be read: {error}")
    if not KNOWN.knows(record.game):
        return responses.bad_request(f"the engine does not know the game {record.game!r:.80}")
    if not record.moves:
        return responses.bad_request("the match cannot be reviewed: it has no moves")
    games = [] if KNOWN.is_builtin(record.game) else ["--game", KNOWN.spec(record.game)]
    async with anyio.TemporaryDirectory(prefix="arena-review-") as folder:
        file = anyio.Path(folder) / "match.jsonl"
        await file.write_text(f"{line}\n", encoding="utf-8")
        code, output = await _run_engine("replay", str(file), "--analyse", ENGINE, *games, seconds=seconds)
    if code is None:
        return _timeout_answer()
    if code != 0:
        return responses.bad_request("the match cannot be reviewed: its record breaks the rules of the game")
    return responses.json_response(_review(output), {"Cache-Control": DAY})


def _timeout_answer() -> Response:
    return responses.text_response("the engine took too long", HTTPStatus.SERVICE_UNAVAILABLE)


async def _run_engine(*arguments: str, seconds: float) -> tuple[int | None, bytes]:
    """Run an `arena` command. Return its exit code, or None if it takes longer than `seconds`, and its output."""
    command = supervisor.make_supervised_command(
        sys.executable, "-P", "-m", "arena", *arguments, "--json", "-"
    )
    with anyio.CancelScope(shield=True):
        process = await anyio.open_process(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    output = b""
    try:
        with anyio.move_on_after(seconds):
            if process.stdout is not None:
                async for piece in process.stdout:
                    output += piece[: MAX_BYTES - len(output)]
            return await process.wait(), output
        return None, b""
    finally:
        # Always wait for its end, because the next engine may start only after it.
        with anyio.CancelScope(shield=True):
            if process.stdin is not None:
                await process.stdin.aclose()  # the supervisor then kills the engine
            await process.wait()
            await process.aclose()

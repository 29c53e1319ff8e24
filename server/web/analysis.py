"""Engine analysis for visitors of the page: of a position, or of all moves of a finished match.

    GET /api/advice/MAP?position=TEXT
    GET /api/review/MATCH
    GET /api/review?game=NAME&setup=JSON&moves=JSON

MAP is a built-in map, and TEXT a position in the format of `games.riskless.Riskless.position_to_text`. MATCH is the id
of a match. The last form is for a match that is not in the store. The engine runs as `arena analyse` or
`arena replay --analyse`, in a separate process that never outlives this one (`processes.supervisor`).
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import anyio
import msgspec

from arena.games.catalogue import CATALOGUE
from arena.games.riskless import Riskless
from arena.maps.game_on_map import make_game_on_map
from arena.maps.loader import list_built_in_map_names
from arena.processes import supervisor
from arena.protocol.codes import EndReason
from arena.protocol.record import (
    RECORD_FORMAT,
    BadRecord,
    Record,
    RecordedMove,
    Result,
    format_record_line,
    parse_record_line,
)
from arena.protocol.values import Players
from arena.server.edge import responses
from arena.server.edge.responses import Response
from arena.server.web.custom_game_boards import parse_setup_and_moves
from arena.server.web.maps import require_built_in_map
from arena.server.web.routes import BadRequest
from arena.server.web.static_files import CACHE_CONTROL_ONE_DAY

ANALYSIS_ENGINE = "alphabeta"
"""Name of the built-in engine that analyses positions and reviews matches."""
ANALYSIS_NODE_COUNT = 200_000
"""Number of nodes that the analysis of a position searches. The analysis takes some tenths of a second.

With a limit in nodes, equal positions have equal analyses.
"""
MAX_BEST_MOVES = 3
"""Maximum number of best moves that the analysis of a position lists."""
MAX_ENGINE_CPU_SECONDS = 90
"""Limit of the analysis engine's CPU time for one run, in seconds. The review of a match of a hundred moves takes about 5 s.

The first run on a machine takes longer, because it also compiles the engine's functions.
"""
ENGINE_TIMEOUT_SECONDS = 240.0
"""Time limit of one run of the analysis engine, in seconds.

The limit is longer than `MAX_ENGINE_CPU_SECONDS`, because the engine waits for a free CPU on a busy machine.
"""
MAX_ENGINE_OUTPUT_BYTES = 4 * 1024 * 1024
"""Maximum size of the analysis engine's output, in bytes. The rest is ignored."""
BEST_MOVE_FIELDS = ("depth", "value", "chance", "line")
"""Fields that a response has for each best move in a position, out of those that `arena analyse --json -` prints."""
REVIEWED_PLAYER_FIELDS = ("moves", "marked", "accuracy")
"""Fields that a review has for each player, out of those that `arena replay --analyse ENGINE --json -` prints."""
REVIEWED_MOVE_FIELDS = ("move", "mark", "chance", "chance_lost", "line")
"""Fields that a review has for each move, out of those that `arena replay --analyse ENGINE --json -` prints."""


async def analyse_position(map_name: str, parameters: Mapping[str, str]) -> Response:
    """Return an engine's analysis of a position on a built-in map, or an error status with a one-line reason.

    parameters: query parameters; `position` is the position in the game's text form

    Raises BadRequest if the parameters have no position, and NotFound for an unknown map.
    """
    require_built_in_map(map_name)
    options = [
        "--map",
        map_name,
        f"--position={parse_position_parameter(parameters)}",
        "--engine",
        ANALYSIS_ENGINE,
    ]
    options += ["--nodes", str(ANALYSIS_NODE_COUNT), "--lines", str(MAX_BEST_MOVES)]
    exit_code, output = await _run_engine_command("analyse", *options)
    if exit_code is None:
        return _make_timeout_response()
    if exit_code != 0:
        refusal = "the position cannot be analysed: it is not a position of this map, or its match is over"
        return responses.make_bad_request_response(refusal)
    analysis = msgspec.json.decode(output)
    lines = [_select_fields(line, BEST_MOVE_FIELDS) for line in analysis["lines"]]
    fields = {"engine": analysis["engine"], **lines[0], "lines": lines, "truth": analysis["truth"]}
    return responses.make_json_response(fields, {"Cache-Control": CACHE_CONTROL_ONE_DAY})


def parse_position_parameter(parameters: Mapping[str, str]) -> str:
    """Return the parameter `position`, with single spaces between its words. Raises BadRequest if it is missing."""
    position = " ".join(parameters.get("position", "").split())
    if not position:
        raise BadRequest("the parameter `position` is missing: add position=TEXT to the query")
    return position


async def review_moves(parameters: Mapping[str, str]) -> Response:
    """Return an engine's review of each move of a match that is not in the store, or an error status with a reason.

    parameters: `game`, and `setup` and `moves` as JSON. On a built-in map, the setup needs only the map's name and the
        fields that differ from the map.

    Raises BadRequest for an invalid setup or invalid moves.
    """
    name = parameters.get("game", "")
    setup, moves = parse_setup_and_moves(parameters)
    if name == Riskless.name and setup.get("map") in list_built_in_map_names():
        setup = {**make_game_on_map(name, setup["map"]).setup(), **setup}
    record = Record(
        format=RECORD_FORMAT,
        match="review",
        event="",
        game=name,
        setup=setup,
        players=Players("maxie", "minnie"),
        time_control="1/move",
        started="",
        moves=[RecordedMove(move, 0.0) for move in moves],
        # The only end reason that need not follow from the moves.
        result=Result(None, EndReason.SERVER_FAULT),
    )
    return await review_match(format_record_line(record))


async def review_match(record_line: str) -> Response:
    """Return an engine's review of each move of a match, or an error status with a one-line reason.

    record_line: record of the match, as one line of JSON
    """
    try:
        record = parse_record_line(record_line)
    except BadRecord as error:
        return responses.make_bad_request_response(f"the record cannot be read: {error}")
    if not CATALOGUE.is_known(record.game):
        return responses.make_bad_request_response(f"the engine does not know the game {record.game!r:.80}")
    if not record.moves:
        return responses.make_bad_request_response("the match cannot be reviewed: it has no moves")
    games = [] if CATALOGUE.is_builtin(record.game) else ["--game", CATALOGUE.get_game_spec(record.game)]
    async with anyio.TemporaryDirectory(prefix="arena-review-") as folder:
        file = anyio.Path(folder) / "match.jsonl"
        await file.write_text(f"{record_line}\n", encoding="utf-8")
        exit_code, output = await _run_engine_command(
            "replay", str(file), "--analyse", ANALYSIS_ENGINE, *games
        )
    if exit_code is None:
        return _make_timeout_response()
    if exit_code != 0:
        return responses.make_bad_request_response(
            "the match cannot be reviewed: its record breaks the rules of the game"
        )
    review = msgspec.json.decode(output)
    fields = {
        "engine": review["engine"],
        "players": {
            seat: _select_fields(player, REVIEWED_PLAYER_FIELDS) for seat, player in review["players"].items()
        },
        "moves": [_select_fields(move, REVIEWED_MOVE_FIELDS) for move in review["moves"]],
    }
    return responses.make_json_response(fields, {"Cache-Control": CACHE_CONTROL_ONE_DAY})


def _select_fields(row: Mapping[str, Any], field_names: Sequence[str]) -> dict[str, Any]:
    return {name: row[name] for name in field_names}


def _make_timeout_response() -> Response:
    return responses.make_text_response("the engine took too long", HTTPStatus.SERVICE_UNAVAILABLE)


async def _run_engine_command(*arguments: str) -> tuple[int | None, bytes]:
    """Run an `arena` command, and return its exit code and its output.

    A command that takes longer than ENGINE_TIMEOUT_SECONDS, or more CPU time than MAX_ENGINE_CPU_SECONDS, is killed, and
    the exit code is None. A cancellation also kills the command.
    """
    shell_command = f'ulimit -S -t {MAX_ENGINE_CPU_SECONDS}; exec "$0" "$@"'
    command = supervisor.make_supervised_command(
        "sh", "-c", shell_command, sys.executable, "-P", "-m", "arena", *arguments, "--json", "-"
    )
    with anyio.CancelScope(shield=True):
        process = await anyio.open_process(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    output = b""
    try:
        with anyio.move_on_after(ENGINE_TIMEOUT_SECONDS):
            if process.stdout is not None:
                async for piece in process.stdout:
                    output += piece[: MAX_ENGINE_OUTPUT_BYTES - len(output)]
            exit_code = await process.wait()
            return (None if exit_code == 128 + signal.SIGXCPU else exit_code), output
        return None, b""
    finally:
        # Close the supervisor's pipe, which kills the engine, and wait until it has ended: only one engine runs at a time.
        with anyio.CancelScope(shield=True):
            await process.aclose()

"""Boards, positions and legal moves in matches of custom games, because the web page does not know the rules.

    GET /api/game/NAME?setup=JSON&moves=JSON

NAME is the name of the game. The response has the board that the game declares (`games.boards`), the contents of the
board after each move, and the legal moves after the last. To play a move, the page asks again with that move added. The
game must be loaded in this server, which checks the moves against the rules of the game.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import anyio.to_thread
import msgspec

from arena.games.boards import format_cell_marks
from arena.games.catalogue import CATALOGUE, make_game
from arena.games.core import Game, GameError
from arena.server.edge import responses
from arena.server.edge.responses import Response
from arena.server.web.routes import BadRequest, NotFound

_Value = TypeVar("_Value")

_SETUP_DECODER = msgspec.json.Decoder(dict[str, Any])
_MOVES_DECODER = msgspec.json.Decoder(list[Any])

MAX_REPLAYED_MOVES = 1500
"""Maximum number of moves of a match that one request may ask to replay."""


async def answer_board_request(game_name: str, parameters: Mapping[str, str]) -> Response:
    """Return a response with the board of a custom game, the position after each move of a match, and the legal next moves.

    If the setup or a move is against the rules of the game, the response has an error status and a one-line reason.

    game_name: name of the custom game
    parameters: `setup` and `moves` of the match, as JSON

    Raises BadRequest for a setup or moves that are not valid JSON, and NotFound for an unknown game.
    """
    if not CATALOGUE.is_known(game_name) or CATALOGUE.is_builtin(game_name):
        raise NotFound(f"no user-written game is called {game_name!r:.80}")
    setup, moves = parse_setup_and_moves(parameters)
    try:
        return responses.make_json_response(
            await anyio.to_thread.run_sync(_replay_match, game_name, setup, moves)
        )
    except (GameError, msgspec.DecodeError) as error:
        return responses.make_bad_request_response(f"the match cannot be shown: {error}")


def parse_setup_and_moves(parameters: Mapping[str, str]) -> tuple[dict[str, Any], list[Any]]:
    """Return the parameters `setup` and `moves`, parsed from JSON. A missing parameter is empty.

    Raises BadRequest if `setup` is not a JSON object or `moves` not a JSON list of at most MAX_REPLAYED_MOVES moves.
    """
    setup = _decode_json_parameter("setup", parameters.get("setup") or "{}", _SETUP_DECODER, "object")
    moves = _decode_json_parameter("moves", parameters.get("moves") or "[]", _MOVES_DECODER, "list")
    if len(moves) > MAX_REPLAYED_MOVES:
        raise BadRequest(
            f"the parameter 'moves' must list at most {MAX_REPLAYED_MOVES} moves, not {len(moves)}"
        )
    return setup, moves


def _decode_json_parameter(
    name: str, text: str, decoder: msgspec.json.Decoder[_Value], json_kind: str
) -> _Value:
    """Return the value of the JSON text of a parameter.

    json_kind: JSON's word for the decoder's type in the error message, as in "object"

    Raises BadRequest if the text is not valid JSON of this type.
    """
    try:
        return decoder.decode(text)
    except (msgspec.DecodeError, RecursionError):
        raise BadRequest(f"the parameter {name!r} must be a JSON {json_kind}") from None


def _replay_match(game_name: str, setup: Mapping[str, Any], moves: list[Any]) -> dict[str, Any]:
    """Replay a match, and return its board, the position after each move, and the legal moves after the last.

    game_name: name of the custom game
    setup, moves: setup and all moves of the match, as plain data

    Any exception raised by a custom game propagates.
    """
    game: Game[Any, Any] = make_game(game_name, setup)
    position = game.start()
    views = [_describe_position(game, position)]
    for move_data in moves:
        move = game.move_from_data(move_data)
        move_fields = {"text": game.move_to_text(move), "squares": list(game.squares(position, move))}
        position = game.play(position, move)
        views.append({**_describe_position(game, position), "move": move_fields})
    legal_moves = [
        {
            "move": game.move_to_data(move),
            "text": game.move_to_text(move),
            "squares": list(game.squares(position, move)),
        }
        for move in game.moves(position)
    ]
    board = None if game.board is None else game.board.to_data()
    return {"board": board, "positions": views, "legal": legal_moves}


def _describe_position(game: Game[Any, Any], position: Any) -> dict[str, Any]:
    """Return the JSON fields of a position: `player` (to move), `over` (the result; null during the match), and its contents.

    The contents are the owner and the text of each cell, or a `picture` in text if the game declares no board.
    """
    outcome = game.outcome(position)
    view: dict[str, Any] = {
        "player": game.player(position),
        "over": None if outcome is None else {"winner": outcome.winner, "reason": outcome.reason_code},
    }
    if game.board is None:
        return view | {"picture": game.picture(position)}
    marks = game.marks(position)
    owners = [str(mark) if mark in ("maxie", "minnie") else "" for mark in marks]
    texts = ["" if owner else text for owner, text in zip(owners, format_cell_marks(marks), strict=True)]
    return view | {"owners": owners, "texts": texts if any(texts) else []}

"""Boards of custom games for the page: one for each position of a match."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

import pytest

from arena.games.catalogue import CATALOGUE, make_game
from arena.games.core import Game
from arena.server.edge import responses
from arena.server.web.custom_game_boards import answer_board_request
from arena.server.web.routes import BadRequest, NotFound
from tests.games.own import EXAMPLES
from tests.games.setups import random_match

FOUR: Game[Any, Any] = make_game(CATALOGUE.register_game(str(EXAMPLES / "connect4.py")), {})


async def ask(moves: list[Any]) -> Any:
    answer = await answer_board_request("connect4", {"setup": "{}", "moves": json.dumps(moves)})
    assert answer.status == 200
    return json.loads(answer.body)


@pytest.mark.parametrize("seed", range(3))
async def test_a_response_has_every_position_of_a_match(seed: int) -> None:
    match = random_match(FOUR, seed)
    response = await ask(list(match.moves))
    assert response["board"] == {
        "kind": "grid",
        "columns": 7,
        "rows": 6,
        "a1_below": True,
        "checkered": False,
    }
    assert len(response["positions"]) == len(match.positions)
    for ply, (position, shown) in enumerate(zip(match.positions, response["positions"], strict=True)):
        assert shown["owners"] == [str(mark) for mark in FOUR.marks(position)]
        assert shown["player"] == FOUR.player(position)
        if ply:
            move = match.moves[ply - 1]
            assert shown["move"] == {"text": FOUR.move_to_text(move), "squares": [move]}
    outcome = FOUR.outcome(match.positions[-1])
    assert outcome is not None
    assert response["positions"][-1]["over"] == {"winner": outcome.winner, "reason": outcome.reason_code}
    assert response["legal"] == []


async def test_a_response_has_all_legal_moves_after_each_ply() -> None:
    match = random_match(FOUR, 5)
    for ply in range(len(match.moves) + 1):
        response = await ask(list(match.moves[:ply]))
        assert [each["move"] for each in response["legal"]] == list(FOUR.moves(match.positions[ply]))


@pytest.mark.parametrize(
    ("name", "parameters", "status", "why"),
    [
        ("riskless", {}, 404, "no user-written game is called 'riskless'"),
        ("chess", {}, 404, "no user-written game is called 'chess'"),
        ("/etc/passwd.py", {}, 404, "no user-written game"),
        ("connect4", {"moves": "x"}, 400, "must be a JSON"),
        ("connect4", {"moves": "{}"}, 400, "must be a JSON"),
        ("connect4", {"setup": "[]"}, 400, "must be a JSON"),
        ("connect4", {"moves": "[3,3,3,3]"}, 400, "cannot be shown: illegal move d1"),
        ("connect4", {"moves": '["x"]'}, 400, "cannot be shown: 'x' is not a move"),
        ("connect4", {"setup": '{"columns":99}'}, 400, "the setup of connect4 must be empty"),
        ("connect4", {"moves": f"[{'3,' * 1500}3]"}, 400, "at most 1500 moves"),
        ("connect4", {"moves": "[" * 3000}, 400, "must be a JSON"),
    ],
)
async def test_an_invalid_board_request_is_refused(
    name: str, parameters: dict[str, str], status: int, why: str
) -> None:
    try:
        answer = await answer_board_request(name, parameters)
    except BadRequest as error:
        answer = responses.make_bad_request_response(str(error))
    except NotFound as error:
        answer = responses.make_text_response(str(error), HTTPStatus.NOT_FOUND)
    assert answer.status == status
    assert why in answer.body.decode()

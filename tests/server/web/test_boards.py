"""What the page asks of a game that somebody has written: its board, position by position, within bounds."""

from __future__ import annotations

import json
from random import Random
from typing import Any
from urllib.parse import quote

import pytest

from arena.games.catalogue import KNOWN, make_game
from arena.games.core import Game
from arena.server.web.boards import KEPT, LONGEST, Boards
from tests.games.own import EXAMPLES
from tests.games.setups import random_match

FOUR: Game[Any, Any] = make_game(KNOWN.name(str(EXAMPLES / "connect4.py")), {})


async def ask(
    boards: Boards, moves: list[Any], setup: dict[str, Any] | None = None, name: str = "connect4"
) -> Any:
    query = f"setup={quote(json.dumps(setup or {}))}&moves={quote(json.dumps(moves))}"
    answer = await boards.answer(name, query)
    body = answer.body.decode()
    return json.loads(body) if answer.status == 200 else (answer.status, body.strip())


@pytest.mark.parametrize("seed", range(3))
async def test_a_match_is_shown_position_by_position(seed: int) -> None:
    match = random_match(FOUR, seed)
    told = await ask(Boards(), list(match.moves))
    assert told["board"] == {"kind": "grid", "columns": 7, "rows": 6, "a1_below": True, "checkered": False}
    assert len(told["positions"]) == len(match.positions)
    for ply, (position, shown) in enumerate(zip(match.positions, told["positions"], strict=True)):
        assert shown["owners"] == [str(mark) for mark in FOUR.marks(position)]
        assert shown["player"] == FOUR.player(position)
        if ply:
            move = match.moves[ply - 1]
            assert shown["move"] == {"text": FOUR.move_to_text(move), "squares": [move]}
    outcome = FOUR.outcome(match.positions[-1])
    assert outcome is not None
    assert told["positions"][-1]["over"] == {"winner": outcome.winner, "reason": outcome.word}
    assert told["legal"] == []


async def test_a_move_more_is_the_same_as_all_at_once() -> None:
    boards, match = Boards(), random_match(FOUR, 5)
    for ply in range(len(match.moves) + 1):
        moves = list(match.moves[:ply])
        grown = await ask(boards, moves)
        assert grown == await ask(Boards(), moves)
        assert [each["move"] for each in grown["legal"]] == list(FOUR.moves(match.positions[ply]))


async def test_two_who_watch_at_different_plies_are_told_the_same() -> None:
    boards, match = Boards(), random_match(FOUR, 6)
    whole = await ask(boards, list(match.moves))
    for ply in (3, 1, 4, 2):
        told = await ask(boards, list(match.moves[:ply]))
        assert told["positions"] == whole["positions"][: ply + 1]
    assert await ask(boards, list(match.moves)) == whole


async def test_what_is_kept_is_bounded() -> None:
    boards, chance = Boards(), Random(1)
    for seed in range(3 * KEPT):
        await ask(boards, list(random_match(FOUR, seed).moves[: chance.randrange(6, 20)]))
    assert len(boards._kept) == KEPT


@pytest.mark.parametrize(
    ("name", "query", "status", "why"),
    [
        ("riskless", "", 404, "no game 'riskless'"),
        ("chess", "", 404, "no game 'chess'"),
        ("/etc/passwd.py", "", 404, "no game"),
        ("connect4", "moves=x", 400, "must be a JSON"),
        ("connect4", "moves={}", 400, "must be a JSON"),
        ("connect4", "setup=[]", 400, "must be a JSON"),
        ("connect4", "moves=[3,3,3,3]", 400, "cannot be shown: illegal move d1"),
        ("connect4", 'moves=["x"]', 400, "cannot be shown: 'x' is no move"),
        ("connect4", 'setup={"columns":99}', 400, "the setup of connect4 is empty"),
        ("connect4", f"moves=[{'3,' * LONGEST}3]", 400, "too long"),
        ("connect4", "moves=" + "[" * 3000, 400, "must be a JSON"),
    ],
)
async def test_what_cannot_be_shown_is_told(name: str, query: str, status: int, why: str) -> None:
    answer = await Boards().answer(name, query)
    assert answer.status == status
    assert why in answer.body.decode()

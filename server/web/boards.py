"""What the page shows of a match of a game that somebody has written, whose rules it does not have itself.

    GET /api/game/NAME?setup=JSON&moves=JSON

The answer has the board that the game declares (`games.boards`), what lies on it after each of the moves, and the
legal moves after the last. The page plays nothing itself: it asks again with one move more. Only games that are known
here are asked, moves are held against the rules, and a replay gives the event loop its turns.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs

import anyio
import anyio.lowlevel
import msgspec

from arena.games.boards import written
from arena.games.catalogue import KNOWN, make_game
from arena.games.core import Game, GameError
from arena.server.net import answers
from arena.server.net.answers import Answer

log = logging.getLogger("arena.boards")

LONGEST = 6000
"""Characters of a question, at the most: about a thousand moves of small numbers, and more than a board has room for."""
MOST_MOVES = 1500
KEPT = 16
"""Matches whose positions are kept, so that a move more is one move's work."""
SLICE = 10
"""Moves that are replayed before others have their turn."""


@dataclass
class _Replay:
    """A match as far as it was asked for."""

    game: Game[Any, Any]
    moves: list[Any] = field(default_factory=list)
    positions: list[Any] = field(default_factory=list)
    shown: list[dict[str, Any]] = field(default_factory=list)


class Boards:
    """Shows matches of the games that somebody has written. One for a server."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str, str], _Replay] = OrderedDict()

    async def answer(self, name: str, query: str) -> Answer:
        """The answer for the game of that name; what is wrong with a question is told in one line."""
        if not KNOWN.knows(name) or KNOWN.brings(name):
            return answers.not_found(f"there is no game {name!r:.80} that is shown by its board")
        if len(query) > LONGEST:
            return answers.bad_request(f"the match is too long to be shown: {LONGEST} characters at the most")
        try:
            given = parse_qs(query, max_num_fields=4, errors="strict")
            setup = msgspec.json.decode(given.get("setup", ["{}"])[0], type=dict[str, Any])
            moves = msgspec.json.decode(given.get("moves", ["[]"])[0], type=list[Any])
        except (msgspec.DecodeError, ValueError, RecursionError):
            return answers.bad_request("setup must be a JSON object, and moves a JSON list")
        if len(moves) > MOST_MOVES:
            return answers.bad_request(f"at most {MOST_MOVES} moves are shown")
        try:
            replay = await self._replay(name, setup, moves)
            legal = _legal(replay)
        except (GameError, msgspec.DecodeError) as error:
            return answers.bad_request(f"the match cannot be shown: {error}")
        except Exception:
            # Whatever a game of somebody's own raises is its author's to read, and ends nothing here.
            log.exception("the game %s failed while it was shown", name)
            return answers.text(
                "the game failed: the server's log says how", HTTPStatus.INTERNAL_SERVER_ERROR
            )
        board = replay.game.board
        return answers.json(
            {"board": None if board is None else board.to_data(), "positions": replay.shown, "legal": legal}
        )

    async def _replay(self, name: str, setup: Mapping[str, Any], moves: list[Any]) -> _Replay:
        words = [name, msgspec.json.encode(setup).decode()]
        before = self._kept.pop((words[0], words[1], _key(moves[:-1])), None) if moves else None
        key = (words[0], words[1], _key(moves))
        replay = self._kept.pop(key, None) or before
        if replay is None:
            game: Game[Any, Any] = make_game(name, setup)
            start = game.start()
            replay = _Replay(game, [], [start], [_shown(game, start)])
        while len(replay.moves) < len(moves):
            data = moves[len(replay.moves)]
            _play(replay, data)
            if len(replay.moves) % SLICE == 0:
                await anyio.lowlevel.checkpoint()
        self._kept[key] = replay
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return replay


def _key(moves: list[Any]) -> str:
    return msgspec.json.encode(moves).decode()


def _play(replay: _Replay, data: Any) -> None:
    """Play one move more. Raises GameError."""
    game, before = replay.game, replay.positions[-1]
    move = game.move_from_data(data)
    after = game.play(before, move)
    replay.moves.append(data)
    replay.positions.append(after)
    about = {"text": game.move_to_text(move), "squares": list(game.squares(before, move))}
    replay.shown.append({**_shown(game, after), "move": about})


def _shown(game: Game[Any, Any], position: Any) -> dict[str, Any]:
    outcome = game.outcome(position)
    found: dict[str, Any] = {
        "player": game.player(position),
        "over": None if outcome is None else {"winner": outcome.winner, "reason": outcome.word},
    }
    if game.board is None:
        return found | {"picture": game.picture(position)}
    marks = game.marks(position)
    owners = [str(mark) if mark in ("maxie", "minnie") else "" for mark in marks]
    texts = ["" if owner else text for owner, text in zip(owners, written(marks), strict=True)]
    return found | {"owners": owners, "texts": texts if any(texts) else []}


def _legal(replay: _Replay) -> list[dict[str, Any]]:
    game, position = replay.game, replay.positions[-1]
    return [
        {
            "move": game.move_to_data(move),
            "text": game.move_to_text(move),
            "squares": list(game.squares(position, move)),
        }
        for move in game.moves(position)
    ]

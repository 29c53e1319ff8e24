"""Terms and records of matches for tests of the server."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from arena.games.catalogue import make_game
from arena.games.core import AnyGame
from arena.games.riskless_map import RisklessMap
from arena.match.terms import MatchTerms
from arena.protocol.codes import EndReason
from arena.protocol.record import RECORD_FORMAT, Record, RecordedMove, Result
from arena.protocol.timecontrol import TimeControl
from arena.protocol.values import Players, Seat

PATH = RisklessMap(
    name="path4",
    territories=("0", "1", "2", "3"),
    neighbours=((1,), (0, 2), (1, 3), (2,)),
    territory_cap=10,
    armies_to_win=30,
    ply_limit=40,
    start=(2, 0, 0, -3),
    places=((0, 0), (1, 0), (2, 0), (3, 0)),
)


def game_of(name: str = "tictactoe") -> AnyGame:
    return make_game(name, PATH.to_data() if name == "riskless" else {})


def terms(
    tc: str = "1+0.1", *, game: str = "tictactoe", margin: int = 50, ready: int = 1000, grace: int = 500
) -> MatchTerms:
    return MatchTerms(
        match="m" * 32,
        event="test",
        game=game_of(game),
        players=Players("anna", "bert"),
        time_control=TimeControl.parse(tc),
        margin_ms=margin,
        ready_ms=ready,
        grace_ms=grace,
    )


def spec(
    maxie: str, minnie: str, tc: str = "600+1", *, game: AnyGame | str = "tictactoe", **limits: int
) -> MatchTerms:
    return MatchTerms(
        match=uuid.uuid4().hex,
        event="test",
        game=game_of(game) if isinstance(game, str) else game,
        players=Players(maxie, minnie),
        time_control=TimeControl.parse(tc),
        margin_ms=limits.get("margin", 100),
        ready_ms=limits.get("ready", 600_000),
    )


def record(
    match: str = "",
    *,
    maxie: str = "anna",
    minnie: str = "bert",
    moves: Sequence[object] = (),
    winner: Seat | None = "minnie",
    reason: EndReason = EndReason.RESIGNATION,
    game: str = "tictactoe",
) -> Record:
    """Return the record of a finished match; by default, Maxie has resigned."""
    return Record(
        format=RECORD_FORMAT,
        match=match or uuid.uuid4().hex,
        event="test",
        game=game,
        setup=game_of(game).setup(),
        players=Players(maxie, minnie),
        time_control="1+0.1",
        started="2026-11-20T12:00:00Z",
        moves=[RecordedMove(move, 1.5) for move in moves],
        result=Result(winner, reason),
    )

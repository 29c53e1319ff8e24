"""Matches to play in tests of the server."""

from __future__ import annotations

import uuid

from games.board import RisklessMap
from games.catalogue import make_game
from games.core import AnyGame
from protocol.messages import Players
from protocol.timecontrol import TimeControl
from server.arena_api import MatchSpec
from server.referee import Terms

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
) -> Terms:
    players = Players("anna", "bert")
    return Terms("m" * 32, game_of(game), players, TimeControl.parse(tc), margin, ready, grace)


def spec(maxie: str, minnie: str, tc: str = "2+0.1", *, game: str = "tictactoe", **limits: int) -> MatchSpec:
    return MatchSpec(
        match=uuid.uuid4().hex,
        event="test",
        game=game_of(game),
        maxie=maxie,
        minnie=minnie,
        time_control=TimeControl.parse(tc),
        margin_ms=limits.get("margin", 100),
        ready_ms=limits.get("ready", 5000),
        threads=1,
    )

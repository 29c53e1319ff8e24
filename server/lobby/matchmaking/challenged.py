"""What a challenge comes to: the game that it asks for, and the terms of its match."""

from __future__ import annotations

import uuid

from arena.games.core import AnyGame, GameError
from arena.maps.loader import MapError, size_of
from arena.maps.setup import make_setup
from arena.match.terms import Terms
from arena.protocol.adjudication import Adjudication
from arena.protocol.codes import Code
from arena.protocol.messages import Challenge
from arena.protocol.values import Players
from arena.server.lobby.matchmaking.challenges import BadChallenge, OpenChallenge
from arena.server.lobby.matchmaking.matchmaker import OPEN_EVENT

MARGIN_MS = 100
"""The margin of matches that come about by challenge."""
READY_MS = 30_000
"""How long the bots of a challenge may take to get ready: a compiled engine may have to compile first."""


def terms_of(
    taken: OpenChallenge, maxie: str, minnie: str, total_ms: int, *, adjudication: Adjudication | None
) -> Terms:
    """The terms of the match of a challenge that was taken."""
    return Terms(
        match=uuid.uuid4().hex,
        event=OPEN_EVENT,
        game=taken.game,
        players=Players(maxie, minnie),
        time_control=taken.asked.time_control,
        margin_ms=MARGIN_MS,
        ready_ms=READY_MS,
        adjudication=adjudication,
        rated=taken.asked.rated,
        total_ms=total_ms,
    )


def game_of(asked: Challenge, most_territories: int) -> AnyGame:
    """The game that a challenge names. Raises BadChallenge."""
    # A path as the name of a map is for the host's own command line alone.
    if asked.game == "riskless" and (asked.map.endswith(".toml") or "/" in asked.map or "\\" in asked.map):
        raise BadChallenge(Code.BAD_CHALLENGE, "a map is named, as in m2, world or grid:5x5")
    try:
        size = size_of(asked.map) if asked.game == "riskless" else None
        if size is not None and size > most_territories:
            detail = f"{asked.map:.40} has {size} territories, and this server makes maps of up to {most_territories}"
            raise BadChallenge(Code.BAD_CHALLENGE, detail)
        return make_setup(asked.game, asked.map)
    except (GameError, MapError) as error:
        raise BadChallenge(Code.BAD_CHALLENGE, str(error)) from None

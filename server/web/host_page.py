"""Page of the host, opened with an admin's token: connected, suspended and banned bots, and directives."""

from __future__ import annotations

import math
from collections.abc import Mapping

from msgspec import Struct

from arena.server.edge import responses
from arena.server.edge.responses import Response
from arena.server.store import tokens
from arena.server.store.aggregates.standings import forfeits_of
from arena.server.store.database import Engine
from arena.server.store.directives import (
    KICK_SECONDS,
    Directive,
    EndedDirective,
    Kind,
    NewDirective,
    in_force,
    new_directive,
    parse_subject,
)
from arena.server.web.credentials import is_valid, parse_basic
from arena.server.web.frames import AskLive, LiveRequest, Prepared
from arena.server.web.routes import BadRequest

ACTIONS = ("kick", "ban", "lift", "notice")
ACTION_TERMS = {
    "kick": (KICK_SECONDS, "the host has closed the connection"),
    "ban": (math.inf, "the host has banned it"),
    "notice": (3600.0, ""),
}
"""Duration of the directive that an action issues, in seconds, and its text if the host gives none."""
MAX_BOTS = 1000
"""Maximum number of bots in an answer."""


class ConnectedBot(Struct, frozen=True):
    """Connected bot, as shown to the host."""

    name: str
    program: str
    matches: int
    """Number of matches in progress."""
    capacity: int
    suspended: str
    """Reason why the bot gets no matches; empty if it is not suspended."""
    forfeits: int
    """Number of rated matches that the bot forfeited, in all games."""
    address: str | None
    """Address of the bot; None for a bot of another process of the server."""
    seconds: int | None
    """Time since the bot connected, in seconds."""


class HostState(Struct, frozen=True):
    """State of the server, as shown to the host."""

    bots: list[ConnectedBot]
    spectators: int
    """Number of spectators connected to this process."""
    directives: list[Directive]
    """Bans and the notice in force."""


class HostPage:
    """Handler of requests of one server's host."""

    def __init__(self, engine: Engine, ask_live: AskLive) -> None:
        self._engine = engine
        self._ask_live = ask_live

    async def answer(self, form: Mapping[str, str], authorization: str) -> Response | Prepared:
        """Return the state of the server and, if the form requests one, the change to make first. Raises BadRequest."""
        name, secret = parse_basic(authorization)
        token = await tokens.find(self._engine, name)
        if token is None or token.role != "admin" or not is_valid(token, secret):
            return responses.unauthorized("this is not the token of an admin of this server", ask=False)
        current = await in_force(self._engine)
        if "do" not in form:
            return responses.json(await self._state(current))
        change = _parse_change(form["do"], form.get("name", ""), form.get("text", ""), current)
        of = change.directive if isinstance(change, NewDirective) else change
        current = [each for each in current if (each.kind, each.subject) != (of.kind, of.subject)]
        if isinstance(change, NewDirective):
            current = sorted([*current, change.directive], key=lambda each: (each.kind, each.subject))
        return Prepared(responses.json(await self._state(current)), change)

    async def _state(self, current: list[Directive]) -> HostState:
        live = await self._ask_live(LiveRequest(clients=True))
        here = live.connected
        by_name = {each.name: each for each in here if each.role == "bot"}
        bots = [each for each in live.bots if not each.house][:MAX_BOTS]
        forfeits = await forfeits_of(self._engine, [each.name for each in bots])
        servers = []
        for each in bots:
            place = by_name.get(each.name)
            servers.append(
                ConnectedBot(
                    each.name,
                    each.program,
                    each.matches,
                    each.capacity,
                    each.benched,
                    forfeits.get(each.name, 0),
                    None if place is None else place.address,
                    None if place is None else place.seconds,
                )
            )
        spectators = sum(each.role == "spectator" for each in here)
        return HostState(servers, spectators, current)


def _parse_change(
    action: str, name: str, text: str, current: list[Directive]
) -> NewDirective | EndedDirective:
    """Return the change that a host's action requests. A notice needs no name or address. Raises BadRequest."""
    notice: tuple[Kind, str] = "notice", ""
    subject = notice if action == "notice" or not name else parse_subject(name)
    if action not in ACTIONS or subject is None or (action in ("kick", "ban") and not name):
        raise BadRequest(
            f"do must be one of {', '.join(ACTIONS)}; kick and ban need name: a name or an address"
        )
    kind, of = subject
    if action == "lift" or (action == "notice" and not text):
        if kind == "name" and not any((each.kind, each.subject) == subject for each in current):
            kind = "owner"
        return EndedDirective(kind, of)
    seconds, reason = ACTION_TERMS[action]
    return new_directive(kind, of, text or reason, seconds)

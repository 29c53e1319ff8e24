"""Answers for owners, who register, rotate and retire names with an invitation code or a bot's token.

They have a secret or change the store, so they use POST. The process that serves matches makes the changes, because a
process with a lower priority would keep the store locked; the page process makes all other answers.
"""

from __future__ import annotations

from http import HTTPStatus

from msgspec import Struct

from arena.protocol.messages import EventPhase
from arena.server.core.calendar import utc
from arena.server.core.event import EventRefused
from arena.server.core.inputs import ControlEvent, EventAction
from arena.server.edge import responses
from arena.server.edge.responses import Response
from arena.server.store import database, events, invitations, tokens
from arena.server.store.database import Engine
from arena.server.store.directives import ban_of
from arena.server.store.tokens import TokenError
from arena.server.web.credentials import bearer, is_valid, name_and_secret
from arena.server.web.routes import RouteMatch


class OwnBot(Struct, frozen=True):
    """Bot as shown to its owner. Times are in the store's format."""

    name: str
    created: str
    rotated: str | None
    retired: str | None


class OwnEvent(Struct, frozen=True):
    """Event that has yet to end, as shown to an owner."""

    event: str
    state: EventPhase
    begins: str
    """Start, in the store's format."""
    bots: list[str]
    """Bots of the owner that are in the event."""


class OwnBots(Struct, frozen=True):
    """Bots of an owner."""

    owner: str
    bots: list[OwnBot]
    left: int
    """Number of names the owner may still register."""
    until: str
    """End of the invitation; empty if none is open."""
    events: list[OwnEvent]


class NewToken(Struct, frozen=True):
    """Token, shown only once; empty if the name was retired."""

    name: str
    token: str


class Owners:
    """Answers for the owners of one server."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def answer(self, route_match: RouteMatch, authorization: str) -> Response:
        """Return the answer to a POST. Without a valid secret the status is 401."""
        name = route_match.parameters.get("name", "")
        owner = await self._owner(route_match.route, authorization)
        if owner is None:
            code = "no such invitation is open: ask the host for a new one"
            why = code if route_match.route == "/api/join" else "this is not the token of such a bot"
            return responses.unauthorized(why, ask=False)
        banned = await ban_of(self._engine, owner)
        if banned:
            return responses.text(f"removed: {banned}", HTTPStatus.FORBIDDEN)
        try:
            if "event" in route_match.parameters:
                to: EventAction = "enter" if route_match.route == "/api/me/enter" else "withdraw"
                await self._change_entry(to, route_match.parameters["event"], owner, name)
            elif name:
                return responses.json(NewToken(name, await self._change(route_match.route, owner, name)))
            return responses.json(await self._bots(owner))
        except (TokenError, EventRefused) as error:
            return responses.conflict(str(error))

    async def _owner(self, route: str, authorization: str) -> str | None:
        if route == "/api/join":
            return await invitations.invited_owner(self._engine, bearer(authorization))
        name, secret = name_and_secret(authorization)
        token = await tokens.find(self._engine, name)
        return token.owner if token is not None and is_valid(token, secret) else None

    async def _change_entry(self, to: EventAction, event: str, owner: str, name: str) -> None:
        """Enter a bot of the owner in an event, or withdraw it. Raises TokenError, EventRefused, TimeoutError."""
        await self._check_own(owner, name)
        unfinished = await events.unfinished_entries(self._engine)
        entries = next((each for each in unfinished if each.plan.event == event), None)
        if entries is None:
            raise EventRefused(f"no event {event!r:.70} is open or in progress")
        if entries.phase == "open" and utc(entries.plan.closes) <= database.now():
            raise EventRefused(f"the entries of {event} are closed: it is about to begin")
        reply = await events.ask(self._engine, entries.server, ControlEvent(event, to, name))
        if reply is None:
            raise TimeoutError
        if not reply.done:
            raise EventRefused(reply.text)

    async def _check_own(self, owner: str, name: str) -> None:
        """Raise TokenError if an owner has no such bot, or has retired it."""
        token = await tokens.find(self._engine, name)
        if token is None or (token.owner, token.role, token.revoked) != (owner, "bot", None):
            raise TokenError(f"{owner!r:.70} has no bot {name!r:.70}")

    async def _change(self, route: str, owner: str, name: str) -> str:
        """Change a name, and return its new token, or an empty text if it was retired. Raises TokenError."""
        if route in ("/api/join", "/api/token/create"):
            return await invitations.register_name(self._engine, owner, name)
        await self._check_own(owner, name)
        if route == "/api/token/rotate":
            return await tokens.rotate(self._engine, name)
        await tokens.revoke(self._engine, name)
        return ""

    async def _bots(self, owner: str) -> OwnBots:
        line = await invitations.owner_of(self._engine, owner)
        bots = [OwnBot(each.name, each.created, each.rotated, each.revoked) for each in line.bots]
        names = {each.name for each in line.bots}
        coming = [
            OwnEvent(
                each.plan.event,
                each.phase,
                utc(each.plan.begins),
                [bot for bot in each.bots if bot in names and bot not in each.withdrawn],
            )
            for each in await events.unfinished_entries(self._engine)
        ]
        return OwnBots(owner, bots, line.left, line.until, coming)

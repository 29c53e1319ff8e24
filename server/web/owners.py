"""Answers for owners of bots, who use the page with an invitation code or a bot's token.

An owner registers names for bots, replaces their tokens, retires them, and enters them in events. The requests contain
a secret or change the store, so they use POST. The page process, whose priority is low, checks and prepares a change.
The process that serves matches makes the change, so that the store is locked only briefly.
"""

from __future__ import annotations

from http import HTTPStatus

from msgspec import Struct
from msgspec.structs import replace

from arena.protocol.messages import EventPhase
from arena.server.core.calendar import format_utc
from arena.server.core.event import EventRefused
from arena.server.core.inputs import ControlEvent, EventAction
from arena.server.edge import responses
from arena.server.edge.responses import Response
from arena.server.store import database, events, invitations, requests, tokens
from arena.server.store.database import Engine
from arena.server.store.directives import find_ban
from arena.server.store.owners import load_owner
from arena.server.store.requests import NewRequest
from arena.server.store.tokens import Token, TokenChange, TokenError
from arena.server.web.credentials import find_valid_token, parse_bearer
from arena.server.web.page_messages import Change, PageResponse
from arena.server.web.routes import RouteMatch


class OwnedBotRow(Struct, frozen=True):
    """Bot as shown to its owner. Times are in ISO 8601."""

    name: str
    created: str
    """Time at which the name was registered."""
    rotated: str | None
    """Time at which the token was last replaced; None if it never was."""
    retired: str | None
    """Time at which the name was retired; None for a name in use."""


class OwnerEventEntry(Struct, frozen=True):
    """Unfinished event, as shown to an owner."""

    event: str
    state: EventPhase
    begins: str
    """Start time of the event, in ISO 8601."""
    bots: list[str]
    """Names of the owner's bots that have entered the event."""


class OwnerState(Struct, frozen=True):
    """Response with an owner's bots, the owner's open invitation, and all unfinished events."""

    owner: str
    bots: list[OwnedBotRow]
    left: int
    """Number of names that the owner may still register."""
    until: str
    """End time of the invitation, in ISO 8601; empty if none is open."""
    events: list[OwnerEventEntry]


class NewToken(Struct, frozen=True):
    """Response with a new token, which is shown only once. `token` is empty if the name was retired."""

    name: str
    token: str


class OwnerPages:
    """Handler of requests from owners of bots."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def handle_request(self, route_match: RouteMatch, authorization: str) -> Response | PageResponse:
        """Return the response to a POST. A PageResponse also contains a change to make before the response is sent.

        The status is 401 for an invalid secret, 403 for a banned owner, and 409 for a change that is not possible.
        """
        name = route_match.parameters.get("name", "")
        owner = await self._find_owner(route_match.route, authorization)
        if owner is None:
            error_text = "no such invitation is open: ask the host for a new one"
            why = (
                error_text
                if route_match.route == "/api/join"
                else "this is not the token of a bot with this name"
            )
            return responses.make_unauthorized_response(why, ask=False)
        ban = await find_ban(self._engine, "owner", owner)
        if ban is not None:
            return responses.make_text_response(f"removed: {ban.text}", HTTPStatus.FORBIDDEN)
        try:
            if "event" in route_match.parameters:
                action: EventAction = "enter" if route_match.route == "/api/me/enter" else "withdraw"
                event = route_match.parameters["event"]
                request = await self._make_event_request(action, event, owner, name)
                state_before = await self._load_state(owner)
                events_after = [
                    _apply_entry_change(entries, action, name) if entries.event == event else entries
                    for entries in state_before.events
                ]
                return PageResponse(
                    responses.make_json_response(replace(state_before, events=events_after)), request
                )
            if name:
                change, token = await self._prepare_change(route_match.route, owner, name)
                return PageResponse(responses.make_json_response(NewToken(name, token)), change)
            return responses.make_json_response(await self._load_state(owner))
        except (TokenError, EventRefused) as error:
            return responses.make_conflict_response(str(error))

    async def _find_owner(self, route: str, authorization: str) -> str | None:
        if route == "/api/join":
            return await invitations.find_invited_owner(self._engine, parse_bearer(authorization))
        token = await find_valid_token(self._engine, authorization)
        return None if token is None else token.owner

    async def _make_event_request(self, action: EventAction, event: str, owner: str, bot: str) -> NewRequest:
        """Return the request to enter an owner's bot in an event, or to withdraw it.

        Raises TokenError if the owner has no such bot, and EventRefused if the event does not accept the request now.
        """
        await self._require_own_bot(owner, bot)
        unfinished = await events.load_unfinished_entries(self._engine)
        entries = next(
            (event_entries for event_entries in unfinished if event_entries.plan.event == event), None
        )
        if entries is None:
            raise EventRefused(f"no event {event!r:.70} is open or in progress")
        if (
            entries.phase == "open"
            and format_utc(entries.plan.closing_time) <= database.format_current_time()
        ):
            raise EventRefused(f"the entries of {event} are closed: it is about to begin")
        if action == "enter":
            return NewRequest(entries.server, await requests.make_entry_request(self._engine, event, bot))
        return NewRequest(entries.server, ControlEvent(event, action, bot))

    async def _require_own_bot(self, owner: str, name: str) -> Token:
        """Return the token of an owner's bot. Raises TokenError if the owner has no such bot, or has retired it."""
        token = await tokens.find_token(self._engine, name)
        if token is None or (token.owner, token.role, token.revoked) != (owner, "bot", None):
            raise TokenError(f"{owner!r:.70} has no bot {name!r:.70}")
        return token

    async def _prepare_change(self, route: str, owner: str, name: str) -> tuple[Change, str]:
        """Return the change that registers, rotates or retires a name, and the new token; empty if the name is retired.

        Raises TokenError if the change is not possible.
        """
        if route in ("/api/join", "/api/token/create"):
            return await invitations.prepare_registration(self._engine, owner, name)
        before, now = await self._require_own_bot(owner, name), database.format_current_time()
        if route == "/api/token/revoke":
            return TokenChange(before, replace(before, revoked=now)), ""
        token = tokens.generate_token()
        return TokenChange(before, replace(before, hash=tokens.hash_token(token), rotated=now)), token

    async def _load_state(self, owner: str) -> OwnerState:
        account = await load_owner(self._engine, owner)
        bots = [OwnedBotRow(bot.name, bot.created, bot.rotated, bot.revoked) for bot in account.bots]
        names = {bot.name for bot in account.bots}
        upcoming_events = [
            OwnerEventEntry(
                entry.plan.event,
                entry.phase,
                format_utc(entry.plan.start_time),
                [bot for bot in entry.bots if bot in names and bot not in entry.withdrawn],
            )
            for entry in await events.load_unfinished_entries(self._engine)
        ]
        return OwnerState(owner, bots, account.left, account.until, upcoming_events)


def _apply_entry_change(event: OwnerEventEntry, action: EventAction, bot: str) -> OwnerEventEntry:
    """Return the event with `bot` entered or withdrawn, according to `action`."""
    other_bots = [other for other in event.bots if other != bot]
    return replace(event, bots=[*other_bots, bot] if action == "enter" else other_bots)

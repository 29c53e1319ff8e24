"""Responses to owners of bots, who use the page with an invitation code or a bot's token.

An owner registers names for bots, replaces their tokens, retires them, and enters bots in events. The requests contain
a secret or change the store, so they use POST.
"""

from __future__ import annotations

from http import HTTPStatus

import anyio
from msgspec import Struct, field

from arena.protocol.messages import EventPhase
from arena.server.core.calendar import format_unix_time_as_utc
from arena.server.core.inputs import ChangeTournament, TournamentAction
from arena.server.edge import responses
from arena.server.edge.responses import Response
from arena.server.store import database, events, invitations, stored_requests, tokens
from arena.server.store.database import Engine
from arena.server.store.directives import find_ban
from arena.server.store.errors import OperationRefused
from arena.server.store.owners import load_owner_account
from arena.server.store.stored_requests import SendRequestViaStore
from arena.server.store.tokens import StoredToken, make_unknown_bot_error
from arena.server.web.credentials import find_valid_token, parse_bearer_token
from arena.server.web.routes import RouteMatch


class OwnedBotRow(Struct, frozen=True):
    """Bot as shown to its owner. Times are in ISO 8601."""

    name: str
    creation_time: str = field(name="created")
    """Time at which the name was registered."""
    token_rotation_time: str | None = field(name="rotated")
    """Time at which the token was last replaced; None if it never was."""
    retirement_time: str | None = field(name="retired")
    """Time at which the name was retired; None for a name in use."""


class OwnerEvent(Struct, frozen=True):
    """Unfinished event (tournament), as shown to an owner of bots."""

    event: str
    phase: EventPhase = field(name="state")
    start_time: str = field(name="begins")
    """Start time of the tournament, in ISO 8601."""
    entered_bots: list[str] = field(name="bots")
    """Names of the owner's bots that have entered the tournament."""


class OwnerPageState(Struct, frozen=True):
    """Response with an owner's bots, the owner's open invitation, and all unfinished events (tournaments)."""

    owner: str
    bots: list[OwnedBotRow]
    remaining_name_count: int = field(name="left")
    """Number of further bot names that the owner may register."""
    invitation_end_time: str = field(name="until")
    """End time of the invitation, in ISO 8601; empty if none is open."""
    events: list[OwnerEvent]


class NewToken(Struct, frozen=True):
    """Response to an owner who registers or retires a bot's name, or renews its token.

    token: new token of the name; empty if the name was retired
    """

    name: str
    token: str


class OwnerPageHandler:
    """Handler of requests from owners of bots."""

    def __init__(self, engine: Engine, send_request_via_store: SendRequestViaStore) -> None:
        """Set up the handler, which reads and changes the store of `engine`.

        send_request_via_store: function that passes a change of an event's entries to the server that plays the event
        """
        self._engine = engine
        self._send_request = send_request_via_store

    async def handle_request(self, route_match: RouteMatch, authorization: str) -> Response:
        """Answer an owner's POST request: make the change that it asks for, if any, and return the response.

        The status is 401 for an invalid secret, and 403 for a banned owner. Raises OperationRefused for a change that is
        not possible, and TimeoutError if the event is played by another server and that server does not answer.
        """
        name = route_match.parameters.get("name", "")
        token: StoredToken | None = None
        if route_match.route_key == "/api/join":
            owner = await invitations.find_invited_owner(self._engine, parse_bearer_token(authorization))
            why = "no such invitation is open: ask the host for a new one"
        else:
            token = await find_valid_token(self._engine, authorization)
            owner = None if token is None else token.owner
            why = "this is not the token of a bot with this name"
        if owner is None:
            return responses.make_unauthorized_response(why, prompts_browser_for_login=False)
        ban = await find_ban(self._engine, "owner", owner)
        if ban is not None:
            return responses.make_text_response(f"removed: {ban.text}", HTTPStatus.FORBIDDEN)
        if "event" in route_match.parameters:
            action: TournamentAction = "enter" if route_match.route_key == "/api/me/enter" else "withdraw"
            await self._change_event_entry(action, route_match.parameters["event"], owner, name)
        elif name:
            # A new token that is stored must reach its owner, even if the time limit of the request has passed.
            with anyio.CancelScope(shield=True):
                new_token = await self._change_bot_token(route_match.route_key, owner, token, name)
            return responses.make_json_response(NewToken(name, new_token))
        return responses.make_json_response(await self._load_state(owner))

    async def _change_event_entry(
        self, action: TournamentAction, event_name: str, owner_name: str, bot_name: str
    ) -> None:
        """Enter an owner's bot in an event (tournament), or withdraw it.

        Raises TokenError if the owner has no such bot, OperationRefused if the event does not accept the change now, and
        TimeoutError if the event's server does not answer.
        """
        token = await tokens.find_token(self._engine, bot_name)
        if token is None or (token.owner, token.role, token.revocation_time) != (owner_name, "bot", None):
            raise make_unknown_bot_error(owner_name, bot_name)
        unfinished_events = await events.list_unfinished_events(self._engine)
        event = next((event for event in unfinished_events if event.plan.event == event_name), None)
        if event is None:
            raise OperationRefused(f"no event {event_name!r:.70} is open or in progress")
        if (
            event.phase == "open"
            and format_unix_time_as_utc(event.plan.closing_unix_s) <= database.format_current_time()
        ):
            raise OperationRefused(f"the entries of {event_name} are closed: it is about to begin")
        request = (
            await stored_requests.make_event_entry_request(self._engine, event_name, bot_name)
            if action == "enter"
            else ChangeTournament(event_name, action, bot_name)
        )
        answer = await self._send_request(event.server, request)
        if answer is None:
            raise TimeoutError
        if not answer.succeeded:
            raise OperationRefused(answer.text)

    async def _change_bot_token(
        self, route_key: str, owner_name: str, presented_token: StoredToken | None, bot_name: str
    ) -> str:
        """Register a bot's name, retire it, or replace its token. Return the new token; empty if the name is retired.

        route_key: URL path of the request, which decides the change
        presented_token: token with which the owner asks for the change; None for an invitation, which can only register names

        Raises TokenError if the change is not possible.
        """
        if presented_token is None or route_key == "/api/token/create":
            return await invitations.register_name_and_issue_token(self._engine, owner_name, bot_name)
        if route_key == "/api/token/rotate":
            return await tokens.rotate_token(self._engine, bot_name, presented_token)
        await tokens.revoke_token(self._engine, bot_name, presented_token)
        return ""

    async def _load_state(self, owner_name: str) -> OwnerPageState:
        account = await load_owner_account(self._engine, owner_name)
        bots = [
            OwnedBotRow(bot.name, bot.creation_time, bot.rotation_time, bot.revocation_time)
            for bot in account.bots
        ]
        names = {bot.name for bot in account.bots}
        owner_events = [
            OwnerEvent(
                event.plan.event,
                event.phase,
                format_unix_time_as_utc(event.plan.start_unix_s),
                [bot for bot in event.entered_bots if bot in names and bot not in event.withdrawn_bots],
            )
            for event in await events.list_unfinished_events(self._engine)
        ]
        return OwnerPageState(
            owner_name, bots, account.remaining_name_count, account.invitation_end_time, owner_events
        )

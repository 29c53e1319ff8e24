"""Data and actions of the page `/host`, which needs an admin's token.

The host is the person who runs the server. The page shows connected, suspended and banned bots, and renames bots. The
page also issues and ends directives: bans, kicks, and a notice to all clients.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import anyio
from msgspec import Struct, field

from arena.protocol.messages import ListedBot
from arena.server.edge import responses
from arena.server.edge.page_client import ConnectedClient, PageClient
from arena.server.edge.responses import Response
from arena.server.store import personal_data, renaming
from arena.server.store.aggregates.ratings import count_forfeits
from arena.server.store.database import Engine
from arena.server.store.directives import (
    KICKED_NAME_REFUSAL_SECONDS,
    Directive,
    DirectiveKind,
    issue_directive,
    lift_directive,
    load_directives,
    parse_ban_subject,
)
from arena.server.store.owners import load_owner_names_by_bot, require_owner
from arena.server.store.personal_data import make_hidden_name
from arena.server.store.renaming import NameChange
from arena.server.store.tokens import MAX_CLIENT_NAME_LENGTH, is_valid_name
from arena.server.web.credentials import find_valid_token
from arena.server.web.renames import RenameQueue, RequestedRename
from arena.server.web.routes import MAX_LISTED_BOTS, BadRequest

ALLOWED_PARAMETER_SETS_BY_ACTION: dict[str, tuple[set[str], ...]] = {
    "kick": ({"name"},),
    "ban": ({"name"}, {"owner"}),
    "lift": ({"name"}, {"owner"}, set()),
    "notice": (set(),),
    "rename": ({"name", "to"},),
    "hide": ({"name"}, {"owner"}),
}
"""Sets of parameters that each action on the page `/host` accepts, besides `do` and `text`: a request must fit one of them.

A kick, for example, needs `name`, and a ban either `name` or `owner`. `lift` without parameters ends the notice.
"""
DIRECTIVE_DEFAULTS_BY_ACTION = {
    "kick": (KICKED_NAME_REFUSAL_SECONDS, "the host has closed the connection"),
    "ban": (math.inf, "banned by the host"),
    "notice": (3600.0, ""),
}
"""Duration in seconds and default text of the directive, for each action that issues one."""


class ConnectedBot(Struct, frozen=True):
    """Connected bot, as shown to the host (the person who runs the server)."""

    name: str
    owner: str
    """Owner of the bot; empty if the bot has no token."""
    program: str
    """Program that the bot runs, as the bot names it."""
    current_match_count: int = field(name="matches")
    """Number of matches in progress."""
    max_match_count: int = field(name="capacity")
    """Number of matches that the bot can play at the same time."""
    suspension_reason: str = field(name="suspended")
    """Reason why the bot gets no matches; empty if it is not suspended."""
    forfeit_count: int = field(name="forfeits")
    """Number of rated matches that the bot forfeited, in all games."""
    address: str | None
    """Network address of the bot; None if the bot is connected to another process of the server."""
    connected_seconds: int | None = field(name="seconds")
    """Time since the bot connected, in seconds; None if the bot is connected to another process of the server."""


class AdminPageState(Struct, frozen=True):
    """State of the server, as shown to the host (the person who runs the server)."""

    bots: list[ConnectedBot] | None
    """Connected bots; None if the server is too busy to list them."""
    spectator_count: int = field(name="spectators")
    """Number of spectators connected to this process of the server."""
    directives: list[Directive]
    """Bans, kicks and the notice to all clients that are in force."""
    renames: list[RequestedRename]
    """Renames of bots that this server process has queued or begun, and up to MAX_LISTED_RENAMES finished ones, the latest."""


class AdminPageHandler:
    """Handler of requests to `/api/host`, with which the person who runs the server sees and changes the server's state."""

    def __init__(self, engine: Engine, page_client: PageClient, renames: RenameQueue) -> None:
        """Prepare to answer requests with data from the store.

        page_client: source of the list of connected bots
        renames: queue for the renames of bots that an admin requests
        """
        self._engine = engine
        self._page_client = page_client
        self._rename_queue = renames

    async def handle_request(self, form: Mapping[str, str], authorization: str) -> Response:
        """Carry out an action, and respond with the state of the server after the action.

        form: parameters of the request. `do` is the action; without it, nothing is changed.
        authorization: Authorization header with the name and token of an admin; for any other, the status is 401

        Renames take long, so they are only queued. Raises BadRequest for invalid parameters, and OperationRefused if the
        contents of the store do not allow the action.
        """
        token = await find_valid_token(self._engine, authorization)
        if token is None or token.role != "admin":
            return responses.make_unauthorized_response(
                "this is not the token of an admin of this server", prompts_browser_for_login=False
            )
        if "do" in form:
            _require_valid_form(form)
            await self._execute_form_action(form)
        return responses.make_json_response(await self._load_state())

    async def _execute_form_action(self, form: Mapping[str, str]) -> None:
        """Carry out the action, such as a ban, that an admin has sent in a form.

        Raises BadRequest for an invalid name, and OperationRefused if the contents of the store do not allow the action.
        """
        if form["do"] in ("rename", "hide"):
            for change in await self._make_name_changes(form):
                self._rename_queue.add(change)
            return
        if form["do"] == "ban" and form.get("owner"):
            await require_owner(self._engine, form["owner"])
        # A directive is stored completely, even if the time limit of the request passes meanwhile.
        with anyio.CancelScope(shield=True):
            await self._issue_or_lift_directive(form)

    async def _issue_or_lift_directive(self, form: Mapping[str, str]) -> None:
        """Issue or lift the ban, kick or notice that a form asks for. Raises BadRequest for an invalid name."""
        action, text = form["do"], form.get("text", "")
        subject: tuple[DirectiveKind, str] = "notice", ""
        if form.get("owner"):
            subject = "owner", form["owner"]
        elif form.get("name"):
            _require_valid_name("a bot", form["name"])
            subject = parse_ban_subject(form["name"])
        if action == "lift" or (action == "notice" and not text):
            await lift_directive(self._engine, *subject)
        else:
            duration_seconds, reason = DIRECTIVE_DEFAULTS_BY_ACTION[action]
            await issue_directive(self._engine, *subject, text or reason, duration_seconds)

    async def _make_name_changes(self, form: Mapping[str, str]) -> list[NameChange]:
        """Return the renames that a form with the action `rename` or `hide` asks for.

        Raises TokenError if a new name is not available or the owner has no bots, and NameInRunningEvent if a bot is in an
        event that has begun.
        """
        if form.get("owner"):
            changes = await renaming.make_name_changes_hiding_bots(self._engine, form["owner"])
        else:
            changes = [NameChange(form["name"], form.get("to") or make_hidden_name())]
        for change in changes:
            await personal_data.require_possible_rename(self._engine, change.name, change.new_name)
        return changes

    async def _load_state(self) -> AdminPageState:
        listing = await self._page_client.request_lobby_listing()
        clients = self._page_client.list_admitted_clients()
        bots = None if listing is None else await self._describe_connected_bots(listing.bots, clients)
        spectator_count = sum(client.role == "spectator" for client in clients)
        directives = await load_directives(self._engine)
        return AdminPageState(bots, spectator_count, directives, self._rename_queue.list_renames())

    async def _describe_connected_bots(
        self, listed_bots: list[ListedBot], local_clients: list[ConnectedClient]
    ) -> list[ConnectedBot]:
        """Return the connected bots, as shown to an admin.

        listed_bots: bots connected to any process of the server
        local_clients: clients connected to this process, the only ones whose addresses it knows
        """
        clients_by_name = {client.name: client for client in local_clients if client.role == "bot"}
        bots = [bot for bot in listed_bots if not bot.house][:MAX_LISTED_BOTS]
        names = [bot.name for bot in bots]
        forfeits = await count_forfeits(self._engine, names)
        owners = await load_owner_names_by_bot(self._engine, names)
        connected_bots = []
        for bot in bots:
            client = clients_by_name.get(bot.name)
            connected_bots.append(
                ConnectedBot(
                    bot.name,
                    owners.get(bot.name, ""),
                    bot.program,
                    bot.matches,
                    bot.capacity,
                    bot.benched,
                    forfeits.get(bot.name, 0),
                    None if client is None else client.address,
                    None if client is None else client.connected_seconds,
                )
            )
        return connected_bots


def _require_valid_form(form: Mapping[str, str]) -> None:
    """Raise BadRequest if the form's action is unknown, or does not accept the form's other parameters."""
    forms = ALLOWED_PARAMETER_SETS_BY_ACTION.get(form["do"])
    if forms is None:
        raise BadRequest(
            f"the parameter 'do' must be one of {', '.join(ALLOWED_PARAMETER_SETS_BY_ACTION)}, not {form['do']!r:.40}"
        )
    given_parameters = {name for name in ("name", "owner", "to") if form.get(name)}
    if given_parameters not in forms:
        wanted_text = " or ".join(" and ".join(sorted(names)) or "no other parameter" for names in forms)
        raise BadRequest(f"do={form['do']} must be sent with {wanted_text}")
    if form.get("owner"):
        _require_valid_name("an owner", form["owner"])


def _require_valid_name(name_holder_text: str, name: str) -> None:
    """Raise BadRequest if the name of a bot or an owner is invalid.

    name_holder_text: words for the error message: `a bot` or `an owner`
    """
    if not is_valid_name(name):
        raise BadRequest(
            f"the name of {name_holder_text} must have 1 to {MAX_CLIENT_NAME_LENGTH} printable characters, without a space at either end"
        )

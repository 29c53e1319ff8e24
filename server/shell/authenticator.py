"""The authenticator, which checks each client's name and token, and passes the client to the core or refuses it.

Clients that arrive during a query of the store, and for a moment after it, are looked up together in the next query. A
token is valid if it is in the store, or if this server issued it to a bot that the server runs itself.

A bot that returns with the secret of a session that the core knows does not wait for the store, because its clocks run:
it is admitted at once, and its token is checked afterwards.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import secrets
from ipaddress import ip_address
from itertools import islice
from typing import TYPE_CHECKING

from msgspec.structs import replace

from arena.clock import TimeSource
from arena.protocol.codes import ErrorCode
from arena.protocol.values import Role
from arena.server.abuse_counter import MAX_WRONG_TOKENS_PER_WINDOW, AbuseCounter, make_address_key
from arena.server.core.bot import LobbyBot, verify_secret
from arena.server.core.effects import CloseClient
from arena.server.core.guests import is_guest_name
from arena.server.core.inputs import (
    BotOwnerFound,
    ClientAdmitted,
    EdgeResynced,
    RatingChanged,
    get_edge_number,
)
from arena.server.core.lobby import RequestRefused
from arena.server.ports import AdmissionRequest
from arena.server.store import tokens
from arena.server.store.accounts import StoredAccount, load_accounts
from arena.server.store.database import Engine
from arena.server.store.errors import describe_database_error

if TYPE_CHECKING:
    from arena.server.shell.shell import Shell

log = logging.getLogger("arena.accounts")

MAX_CLIENTS_PER_ACCOUNT_QUERY = 200
"""Maximum number of clients whose accounts are looked up in one query of the store."""
PAUSE_BETWEEN_ACCOUNT_QUERIES_SECONDS = 0.1
"""Pause after a query for clients' accounts, in seconds, in which arriving clients gather for the next query.

A query takes almost 1 ms of CPU time, whether for one client or for many, and moves that arrive meanwhile wait.
"""
MAX_CLIENT_GROUPS_PER_ACCOUNT_QUERY = 10
"""Maximum number of groups into which the clients of one query are divided.

A move has to wait while a group is admitted. The groups are therefore spread over the pause after the query.
"""


class Authenticator:
    """Authenticator of one server's clients. It reads their tokens from the store while `admit_queued_clients` is running."""

    def __init__(
        self,
        db_engine: Engine,
        server_name: str,
        *,
        admits_anyone: bool,
        admits_guests: bool,
        wrong_token_counter: AbuseCounter,
        clock: TimeSource,
    ) -> None:
        """Set up the authenticator.

        db_engine            store with tokens, owners, sessions and ratings
        server_name          name of this server; bots may resume only the sessions that are stored under this name
        admits_anyone        True if any client may use a name without a token, as on a private network
        admits_guests        True if guests need no token
        wrong_token_counter  counter of wrong tokens by address
        """
        self._db_engine = db_engine
        self._server_name = server_name
        self._admits_anyone = admits_anyone
        self._admits_guests = admits_guests
        self._wrong_token_counter = wrong_token_counter
        self._clock = clock
        self._issued_token_hashes: dict[str, str] = {}
        """Hashes of the tokens that `issue_token` has made for the server's own bots, by name."""
        self._queued_requests: dict[int, AdmissionRequest] = {}
        """Hellos (first messages) of clients that wait for a query of the store, by client number."""
        self._already_admitted: set[int] = set()
        """Numbers of the clients in `_queued_requests` that were already admitted, because they sent the secret of their session."""
        self._bot_names_to_look_up: dict[str, None] = {}
        """Names of bots, by arrival, whose ratings and owners must still be read from the store for a new server core."""
        self._request_arrived = asyncio.Event()

    def issue_token(self, bot_name: str) -> str:
        """Return a new token for a bot that this server runs itself.

        The token is valid until the next token of that name is issued or the server stops.
        """
        token = tokens.generate_token()
        self._issued_token_hashes[bot_name] = tokens.hash_token(token)
        return token

    def enqueue_or_admit_client(
        self, request: AdmissionRequest, bot: LobbyBot | None
    ) -> ClientAdmitted | None:
        """Queue a client's hello (first message) for the next query of the accounts in the store.

        bot: bot of the client's name that the core knows; None if there is none

        If the hello has the secret of this bot's session, return the input that admits the client at once; otherwise
        return None.
        """
        hello, address = request.hello, request.address
        self._queued_requests[request.client_number] = request
        self._request_arrived.set()
        # a bot that a new core restored from its matches has no owner yet: only the store knows the owner
        if bot is None or not bot.owner or hello.role != "bot":
            return None
        if not bot.verify_session_secret(hello.session, b""):
            return None
        self._already_admitted.add(request.client_number)
        return ClientAdmitted(
            request.client_number,
            hello,
            address,
            owner=bot.owner,
            is_owner_an_address=bot.is_owner_an_address,
            session_secret=secrets.token_urlsafe(24),
            is_guest=bot.is_guest,
            runs_on_server_machine=self._is_on_server_machine(hello.name, address),
            ratings=bot.ratings_by_game,
        )

    def forget_request(self, client_number: int) -> None:
        """Forget the queued hello (first message) of a client, if there is one. `client_number`: number of the client."""
        self._queued_requests.pop(client_number, None)
        self._already_admitted.discard(client_number)

    def forget_requests_of_edge(self, edge_number: int) -> None:
        """Forget the queued hellos of all clients of a lost edge (process that holds connections).

        edge_number: number of the edge
        """
        for client in [client for client in self._queued_requests if get_edge_number(client) == edge_number]:
            self.forget_request(client)

    def fill_in_resynced_clients(self, resync: EdgeResynced) -> EdgeResynced:
        """Return the list of an edge's clients with `owner`, `is_guest` and `runs_on_server_machine` filled in.

        No token is checked, because clients prove their identity by the secrets of their sessions. The core gets the bots'
        ratings and owners later.
        """
        clients = []
        for admission in resync.clients:
            name, address = admission.hello.name, admission.address
            is_bot = admission.hello.role == "bot"
            if is_bot:
                self._bot_names_to_look_up[name] = None
            guest = (
                is_bot
                and self._admits_guests
                and not self._admits_anyone
                and not admission.hello.token
                and is_guest_name(name)
            )
            clients.append(
                replace(
                    admission,
                    owner=make_address_key(address),
                    is_owner_an_address=True,
                    is_guest=guest,
                    runs_on_server_machine=self._is_on_server_machine(name, address),
                )
            )
        if self._bot_names_to_look_up:
            self._request_arrived.set()
        return EdgeResynced(resync.edge_number, clients)

    def _is_on_server_machine(self, client_name: str, address: str) -> bool:
        """Return True for a client on the server's own machine: one of the server's bots, or one with a loopback address."""
        try:
            return client_name in self._issued_token_hashes or ip_address(address).is_loopback
        except ValueError:
            return False

    async def admit_queued_clients(self, shell: Shell) -> None:
        """Admit or refuse queued clients until cancelled. While the store does not answer, refuse new clients."""
        while True:
            await self._request_arrived.wait()
            batch = list(self._queued_requests.values())[:MAX_CLIENTS_PER_ACCOUNT_QUERY]
            names_to_look_up = list(islice(self._bot_names_to_look_up, MAX_CLIENTS_PER_ACCOUNT_QUERY))
            if not batch and not names_to_look_up:
                self._request_arrived.clear()
                continue
            for name in names_to_look_up:
                del self._bot_names_to_look_up[name]
            # A spectator without a token has no account.
            names = {
                request.hello.name
                for request in batch
                if (request.hello.role != "spectator" or request.hello.token)
                and tokens.is_valid_name(request.hello.name)
            }.union(names_to_look_up)
            accounts: dict[str, StoredAccount] | None = None
            try:
                accounts = await load_accounts(self._db_engine, self._server_name, names) if names else {}
            except Exception as error:
                why = describe_database_error(error)
                if why is None:
                    raise
                log.error("the store does not answer: %s", why)  # noqa: TRY400  one line for all clients, no stack
            for name in names_to_look_up:
                account = (accounts or {}).get(name, StoredAccount())
                if account.owner:
                    shell.submit(BotOwnerFound(name, account.owner))
                for game, rating in account.ratings.items():
                    shell.submit(RatingChanged(game, name, rating))
            part_count = min(MAX_CLIENT_GROUPS_PER_ACCOUNT_QUERY, len(batch)) if names and batch else 1
            part_size = -(-len(batch) // part_count)
            for part in range(part_count):
                for request in batch[part * part_size : (part + 1) * part_size]:
                    # an edge may have repeated the hello meanwhile
                    if self._queued_requests.get(request.client_number) is request:
                        is_already_admitted = request.client_number in self._already_admitted
                        self.forget_request(request.client_number)
                        if accounts is not None or not is_already_admitted:
                            self._admit_or_refuse(
                                shell, request, accounts, is_already_admitted=is_already_admitted
                            )
                if names:
                    await self._clock.sleep(PAUSE_BETWEEN_ACCOUNT_QUERIES_SECONDS / part_count)

    def _admit_or_refuse(
        self,
        shell: Shell,
        request: AdmissionRequest,
        accounts: dict[str, StoredAccount] | None,
        *,
        is_already_admitted: bool,
    ) -> None:
        if accounts is None:
            shell.send_bypassing_core(
                CloseClient(
                    request.client_number,
                    ErrorCode.SERVER_FULL,
                    "the server cannot reach its store: try again",
                )
            )
            return
        try:
            admission = self.authenticate_client(request, accounts.get(request.hello.name, StoredAccount()))
        except RequestRefused as refused:
            shell.send_bypassing_core(CloseClient(request.client_number, refused.code, refused.detail))
        else:
            if not is_already_admitted:
                shell.submit(admission)

    def authenticate_client(self, request: AdmissionRequest, account: StoredAccount) -> ClientAdmitted:
        """Check a client's hello, and return the core's input that admits the client.

        Raises RequestRefused if the hello is refused.

        account: account of the client's name in the store; an empty one if there is none

        An address that has sent many wrong tokens is blocked for a while. A bot with the secret of its session is
        admitted even then, so that other clients at its address cannot make it lose its matches.
        """
        hello, address = request.hello, request.address
        if not tokens.is_valid_name(hello.name):
            raise RequestRefused(ErrorCode.BAD_NAME, ErrorCode.BAD_NAME.meaning)
        role: Role = hello.role
        guest, owner = False, ""
        if hello.role != "spectator" or hello.token:
            if not verify_secret(hello.session, account.session_hash):
                self._require_unblocked_address(address)
            role, guest = self._check_token_and_get_role(request, account)
            owner = hello.name if hello.name in self._issued_token_hashes else account.owner
        return ClientAdmitted(
            request.client_number,
            hello,
            address,
            owner=owner or make_address_key(address),
            is_owner_an_address=not owner,
            session_secret=secrets.token_urlsafe(24),
            role=role,
            is_guest=guest,
            runs_on_server_machine=self._is_on_server_machine(hello.name, address),
            stored_session_hash=account.session_hash,
            ratings=account.ratings,
        )

    def _check_token_and_get_role(
        self, request: AdmissionRequest, account: StoredAccount
    ) -> tuple[Role, bool]:
        """Return the role that a hello's token grants, and True if the client is a guest.

        account  entry of the client's name in the store; an empty one if there is none

        Raises RequestRefused for a wrong or revoked token, and for a missing one if the client needs a token.
        """
        name, token = request.hello.name, request.hello.token
        issued_hash = self._issued_token_hashes.get(name)
        if issued_hash is not None:
            if hmac.compare_digest(issued_hash, tokens.hash_token(token)):
                return "bot", False
        elif account.is_revoked:
            why = f"the token of {name!r} was revoked: ask the host for a new one"
            self._count_failed_login(request)
            raise RequestRefused(ErrorCode.BAD_TOKEN, why)
        elif not account.token_hash:
            if self._admits_anyone and not token:
                return "bot", False
            if self._admits_guests and not token and is_guest_name(name):
                return "bot", True
            hint = "leave the token empty here" if self._admits_anyone else "ask the host for a token"
            self._count_failed_login(request)
            raise RequestRefused(ErrorCode.BAD_TOKEN, f"the name {name!r} has no token: {hint}")
        elif hmac.compare_digest(account.token_hash, tokens.hash_token(token)):
            return account.role, False
        self._count_failed_login(request)
        raise RequestRefused(
            ErrorCode.BAD_TOKEN, f"wrong token for {name!r}: check it, or ask the host for a new one"
        )

    def _count_failed_login(self, request: AdmissionRequest) -> None:
        if request.hello.token:
            self._wrong_token_counter.record_abuse(
                request.address, self._clock.now(), MAX_WRONG_TOKENS_PER_WINDOW
            )

    def _require_unblocked_address(self, address: str) -> None:
        wait_seconds = self._wrong_token_counter.get_refusal_seconds_left(address, self._clock.now())
        if wait_seconds > 0:
            why = f"too many wrong tokens from {address or 'your address'}: try again in {wait_seconds:.0f} s"
            raise RequestRefused(ErrorCode.RATE_LIMITED, why)

"""The authenticator: which names, tokens and sessions it admits, and when it reads the store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from arena.clock import TimeSource
from arena.processes.tasks import open_background_tasks
from arena.protocol.codes import ErrorCode
from arena.protocol.messages import Hello
from arena.protocol.values import Role
from arena.rating.glicko import GlickoRating
from arena.server.abuse_counter import MAX_WRONG_TOKENS_PER_WINDOW, AbuseCounter
from arena.server.core.bot import LobbyBot, hash_secret
from arena.server.core.effects import CloseClient
from arena.server.core.inputs import ClientAdmitted, EdgeResynced, RatingChanged
from arena.server.core.lobby import RequestRefused
from arena.server.ports import AdmissionRequest
from arena.server.shell import authenticator
from arena.server.shell.authenticator import (
    MAX_CLIENT_GROUPS_PER_ACCOUNT_QUERY,
    PAUSE_BETWEEN_ACCOUNT_QUERIES_SECONDS,
    Authenticator,
)
from arena.server.store import tokens
from arena.server.store.accounts import StoredAccount
from tests.virtual import virtual

ADDRESS = "192.0.2.1"


def make_authenticator(*, anyone: bool = False, guests: bool = False) -> Authenticator:
    return Authenticator(
        None,  # type: ignore[arg-type]
        "",
        admits_anyone=anyone,
        admits_guests=guests,
        wrong_token_counter=AbuseCounter(),
        clock=TimeSource(lambda: 0),
    )


def request(
    name: str, token: str = "", session: str = "", role: Role = "bot", address: str = ADDRESS
) -> AdmissionRequest:
    return AdmissionRequest(1, Hello(name, token, session, role=role), address)


def refusal(
    auth: Authenticator, pending: AdmissionRequest, known: StoredAccount | None = None
) -> RequestRefused:
    with pytest.raises(RequestRefused) as refused:
        auth.authenticate_client(pending, known or StoredAccount())
    return refused.value


def account(token: str = "", **more: Any) -> StoredAccount:
    return StoredAccount(tokens.hash_token(token) if token else "", **more)


def test_a_token_admits_only_its_own_name() -> None:
    auth = make_authenticator()
    anna, bert = auth.issue_token("anna"), auth.issue_token("bert")
    assert auth.authenticate_client(request("anna", anna), StoredAccount()).role == "bot"
    for name, token in (("anna", bert), ("anna", ""), ("carl", anna), ("carl", "")):
        assert refusal(auth, request(name, token)).code is ErrorCode.BAD_TOKEN


def test_a_new_token_replaces_the_old_one_and_only_hashes_are_kept() -> None:
    auth = make_authenticator()
    old, new = auth.issue_token("anna"), auth.issue_token("anna")
    auth.authenticate_client(request("anna", new), StoredAccount())
    assert refusal(auth, request("anna", old)).code is ErrorCode.BAD_TOKEN
    assert new not in repr(vars(auth))


def test_on_an_open_server_a_name_with_a_token_still_needs_it() -> None:
    auth = make_authenticator(anyone=True)
    auth.authenticate_client(request("carl"), StoredAccount())
    assert "leave the token empty" in refusal(auth, request("carl", "something")).detail
    assert "wrong token for" in refusal(auth, request("anna"), account("secret")).detail
    assert "was revoked" in refusal(auth, request("anna"), account("secret", is_revoked=True)).detail


@pytest.mark.parametrize("role", ["bot", "spectator"])
def test_a_name_that_cannot_be_printed_is_refused(role: Role) -> None:
    assert refusal(make_authenticator(anyone=True), request("an\na", role=role)).code is ErrorCode.BAD_NAME


@pytest.mark.parametrize("role", ["bot", "spectator", "admin"])
def test_a_stored_token_grants_its_role_until_it_is_revoked(role: Role) -> None:
    known = account("secret", role=role)
    assert make_authenticator().authenticate_client(request("anna", "secret", role=role), known).role == role
    assert (
        "was revoked"
        in refusal(
            make_authenticator(), request("anna", "secret", role=role), account("secret", is_revoked=True)
        ).detail
    )


def test_a_spectator_needs_no_token_and_an_admin_does() -> None:
    assert (
        make_authenticator().authenticate_client(request("anna", role="spectator"), StoredAccount()).role
        == "spectator"
    )
    assert refusal(make_authenticator(), request("anna", role="admin")).code is ErrorCode.BAD_TOKEN
    assert (
        make_authenticator(anyone=True)
        .authenticate_client(request("anna", role="admin"), StoredAccount())
        .role
        == "bot"
    ), "the core then refuses the role admin"


def test_after_many_wrong_tokens_an_address_is_refused_even_with_the_right_token() -> None:
    auth = make_authenticator()
    token = auth.issue_token("anna")
    for guess in map(str, range(MAX_WRONG_TOKENS_PER_WINDOW)):
        assert refusal(auth, request("anna", guess)).code is ErrorCode.BAD_TOKEN
    refused = refusal(auth, request("anna", token))
    assert refused.code is ErrorCode.RATE_LIMITED
    assert ADDRESS in refused.detail
    auth.authenticate_client(request("anna", token, address="192.0.2.2"), StoredAccount())


def test_a_bot_with_its_session_returns_even_from_a_refused_address() -> None:
    auth = make_authenticator()
    token = auth.issue_token("anna")
    for guess in map(str, range(MAX_WRONG_TOKENS_PER_WINDOW)):
        refusal(auth, request("bert", guess))
    known = StoredAccount(session_hash=hash_secret("secret"))
    assert (
        auth.authenticate_client(request("anna", token, "secret"), known).stored_session_hash
        == known.session_hash
    )
    for session in ("another", ""):
        assert refusal(auth, request("anna", token, session), known).code is ErrorCode.RATE_LIMITED
    wrong = refusal(auth, request("anna", "wrong", "secret"), known)
    assert wrong.code is ErrorCode.BAD_TOKEN, "the secret of a session does not replace the token"


def test_an_empty_token_does_not_count_as_a_wrong_token() -> None:
    auth = make_authenticator()
    token = auth.issue_token("anna")
    for _ in range(2 * MAX_WRONG_TOKENS_PER_WINDOW):
        assert refusal(auth, request("anna")).code is ErrorCode.BAD_TOKEN
    auth.authenticate_client(request("anna", token), StoredAccount())


def test_a_guest_needs_a_guest_name_and_a_server_that_admits_guests() -> None:
    assert make_authenticator(guests=True).authenticate_client(request("guest-1"), StoredAccount()).is_guest
    assert refusal(make_authenticator(), request("guest-1")).code is ErrorCode.BAD_TOKEN
    assert refusal(make_authenticator(guests=True), request("anna")).code is ErrorCode.BAD_TOKEN
    assert (
        refusal(make_authenticator(guests=True), request("guest-1"), account("secret")).code
        is ErrorCode.BAD_TOKEN
    )
    assert (
        not make_authenticator(guests=True)
        .authenticate_client(request("guest-1", "secret"), account("secret"))
        .is_guest
    )


@pytest.mark.parametrize(
    ("name", "is_guest"),
    [
        ("guest-1", True),
        ("guest-999999", True),
        ("guest-", False),
        ("guest-1000000", False),
        ("Guest-1", False),
    ],
)
def test_names_of_guests(name: str, is_guest: bool) -> None:
    assert (
        make_authenticator(guests=True, anyone=False)
        .fill_in_resynced_clients(EdgeResynced(1, [make_resync_entry(name)]))
        .clients[0]
        .is_guest
        is is_guest
    )


def make_resync_entry(name: str, address: str = ADDRESS) -> ClientAdmitted:
    return ClientAdmitted(1, Hello(name, session="secret"), address, owner="", session_secret="")


def test_a_client_without_a_token_is_owned_by_its_address_and_loopback_is_local() -> None:
    auth = make_authenticator(anyone=True)
    auth.issue_token("house")
    addresses = {
        "2001:db8::1": ("2001:db8::/64", False),
        "192.0.2.1": ("192.0.2.1", False),
        "127.0.0.1": ("127.0.0.1", True),
    }
    for address, (owner, local) in addresses.items():
        entered = auth.authenticate_client(request("anna", address=address), StoredAccount())
        assert (entered.owner, entered.runs_on_server_machine) == (owner, local)
        (vouched,) = auth.fill_in_resynced_clients(
            EdgeResynced(1, [make_resync_entry("anna", address)])
        ).clients
        assert (vouched.owner, vouched.runs_on_server_machine) == (owner, local)
    assert (
        auth.fill_in_resynced_clients(EdgeResynced(1, [make_resync_entry("house")]))
        .clients[0]
        .runs_on_server_machine
    )


class RecordingShell:
    """Shell that only records its inputs and sent messages."""

    def __init__(self) -> None:
        self.inputs: list[Any] = []
        self.sent: list[Any] = []
        self.submit, self.send_bypassing_core = self.inputs.append, self.sent.append


class Accounts:
    """Substitute for `load_accounts`, which answers once `gate` is set, and raises `error` unless it is None."""

    def __init__(self, known: dict[str, StoredAccount]) -> None:
        self.known = known
        self.queries: list[set[str]] = []
        self.gate = asyncio.Event()
        self.error: Exception | None = None

    async def __call__(self, _engine: object, _server: str, names: Iterable[str]) -> dict[str, StoredAccount]:
        self.queries.append(set(names))
        await self.gate.wait()
        if self.error is not None:
            raise self.error
        return {name: self.known.get(name, StoredAccount()) for name in names}


def open_accounts(monkeypatch: pytest.MonkeyPatch, **known: StoredAccount) -> tuple[Accounts, RecordingShell]:
    accounts = Accounts(known)
    monkeypatch.setattr(authenticator, "load_accounts", accounts)
    return accounts, RecordingShell()


@asynccontextmanager
async def running(auth: Authenticator, shell: RecordingShell) -> AsyncIterator[None]:
    async with open_background_tasks() as tasks:
        tasks.start_soon(auth.admit_queued_clients, shell)  # type: ignore[arg-type]
        yield


@virtual
async def test_waiting_clients_share_a_query_and_disconnected_ones_are_not_admitted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    accounts, shell = open_accounts(monkeypatch)
    auth = make_authenticator(anyone=True)
    async with running(auth, shell):
        auth.enqueue_or_admit_client(AdmissionRequest(1, Hello("first"), ADDRESS), None)
        await anyio.wait_all_tasks_blocked()
        for number in range(2, 100):
            auth.enqueue_or_admit_client(AdmissionRequest(number, Hello(f"bot {number}"), ADDRESS), None)
        auth.forget_request(50)
        accounts.gate.set()
        await anyio.sleep(2.1 * PAUSE_BETWEEN_ACCOUNT_QUERIES_SECONDS)
    assert [len(names) for names in accounts.queries] == [1, 97]
    assert [each.client_number for each in shell.inputs] == [each for each in range(1, 100) if each != 50]


@virtual
async def test_a_crowd_is_admitted_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    accounts, shell = open_accounts(monkeypatch)
    auth = make_authenticator(anyone=True)
    admitted = []
    async with running(auth, shell):
        for number in range(4 * MAX_CLIENT_GROUPS_PER_ACCOUNT_QUERY - 1):
            auth.enqueue_or_admit_client(AdmissionRequest(number, Hello(f"bot {number}"), ADDRESS), None)
        accounts.gate.set()
        await anyio.wait_all_tasks_blocked()
        for _ in range(MAX_CLIENT_GROUPS_PER_ACCOUNT_QUERY):
            admitted.append(len(shell.inputs))
            await anyio.sleep(PAUSE_BETWEEN_ACCOUNT_QUERIES_SECONDS / MAX_CLIENT_GROUPS_PER_ACCOUNT_QUERY)
    assert admitted == [4 * part for part in range(1, MAX_CLIENT_GROUPS_PER_ACCOUNT_QUERY)] + [
        4 * MAX_CLIENT_GROUPS_PER_ACCOUNT_QUERY - 1
    ]


@virtual
async def test_logins_share_a_query_and_spectators_need_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    accounts, shell = open_accounts(monkeypatch)
    accounts.gate.set()
    auth = make_authenticator(anyone=True)
    async with running(auth, shell):
        for number in range(1, 101):
            role: Role = "spectator" if number % 2 else "bot"
            auth.enqueue_or_admit_client(
                AdmissionRequest(number, Hello(f"name {number}", role=role), ADDRESS), None
            )
            await anyio.sleep(0.001)
        await anyio.sleep(PAUSE_BETWEEN_ACCOUNT_QUERIES_SECONDS)
    assert sorted(each.client_number for each in shell.inputs) == list(range(1, 101))
    assert len(accounts.queries) <= 0.1 / PAUSE_BETWEEN_ACCOUNT_QUERIES_SECONDS + 2
    assert all(int(name.split()[1]) % 2 == 0 for names in accounts.queries for name in names)


@virtual
async def test_a_hello_that_is_repeated_during_its_lookup_is_answered_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    accounts, shell = open_accounts(monkeypatch)
    auth = make_authenticator(anyone=True)
    async with running(auth, shell):
        for _ in range(2):
            auth.enqueue_or_admit_client(AdmissionRequest(7, Hello("anna"), ADDRESS), None)
            await anyio.wait_all_tasks_blocked()
        accounts.gate.set()
        await anyio.sleep(1.1 * PAUSE_BETWEEN_ACCOUNT_QUERIES_SECONDS)
    assert [each.client_number for each in shell.inputs] == [7]


@virtual
async def test_a_bot_that_returns_with_its_session_does_not_wait_for_the_store(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bot = LobbyBot("anna")
    bot.begin_session("secret")
    bot.set_owner("ada")
    accounts, shell = open_accounts(
        monkeypatch, anna=account("token", session_hash=bot.session_secret_hash, owner="ada")
    )
    auth = make_authenticator()

    def hello(client: int, token: str, session: str) -> ClientAdmitted | None:
        return auth.enqueue_or_admit_client(
            AdmissionRequest(client, Hello("anna", token, session), ADDRESS), bot
        )

    async with running(auth, shell):
        await anyio.wait_all_tasks_blocked()
        admitted = hello(1, "token", "secret")
        assert admitted is not None
        assert (admitted.client_number, admitted.owner, admitted.is_owner_an_address) == (1, "ada", False)
        assert hello(2, "token", "another") is None
        assert hello(3, "token", "") is None
        assert hello(4, "wrong", "secret") is not None
        assert (
            auth.enqueue_or_admit_client(AdmissionRequest(5, Hello("anna", "token", "secret"), ADDRESS), None)
            is None
        )
        await anyio.wait_all_tasks_blocked()
        assert (shell.inputs, shell.sent) == ([], []), "the store has not answered"
        accounts.gate.set()
        await anyio.sleep(2.2 * PAUSE_BETWEEN_ACCOUNT_QUERIES_SECONDS)
    assert [each.client_number for each in shell.inputs] == [2, 3, 5], "client 1 was admitted at once"
    [refused] = shell.sent
    assert (refused.client_number, refused.error_code) == (4, ErrorCode.BAD_TOKEN), (
        "the secret of a session is no token"
    )


def test_a_restored_bot_waits_for_the_store_which_knows_its_owner() -> None:
    restored = LobbyBot("anna")
    restored.begin_session("secret")
    assert (
        make_authenticator().enqueue_or_admit_client(
            AdmissionRequest(1, Hello("anna", "token", "secret"), ADDRESS), restored
        )
        is None
    )


@virtual
async def test_a_bot_that_has_returned_stays_connected_if_the_store_cannot_be_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bot = LobbyBot("anna")
    bot.begin_session("secret")
    bot.set_owner("ada")
    accounts, shell = open_accounts(monkeypatch)
    accounts.gate.set()
    accounts.error = OSError("the database is away")
    auth = make_authenticator()
    assert (
        auth.enqueue_or_admit_client(AdmissionRequest(1, Hello("anna", "token", "secret"), ADDRESS), bot)
        is not None
    )
    async with running(auth, shell):
        await anyio.wait_all_tasks_blocked()
    assert (shell.inputs, shell.sent) == ([], [])


@virtual
async def test_many_connections_at_once_get_no_more_wrong_tokens_than_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    accounts, shell = open_accounts(monkeypatch, anna=account("secret"))
    accounts.gate.set()
    auth = make_authenticator()
    for number in range(40):
        auth.enqueue_or_admit_client(
            AdmissionRequest(number, Hello("anna", f"guess {number}"), ADDRESS), None
        )
    async with running(auth, shell):
        await anyio.sleep(PAUSE_BETWEEN_ACCOUNT_QUERIES_SECONDS)
    codes = [each.error_code for each in shell.sent]
    assert codes == [ErrorCode.BAD_TOKEN] * MAX_WRONG_TOKENS_PER_WINDOW + [ErrorCode.RATE_LIMITED] * (
        40 - MAX_WRONG_TOKENS_PER_WINDOW
    )


@virtual
async def test_during_an_outage_of_the_store_clients_are_refused_and_one_line_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    accounts, shell = open_accounts(monkeypatch)
    accounts.gate.set()
    accounts.error = OSError("the database is away")
    auth = make_authenticator(anyone=True)
    for number in range(40):
        auth.enqueue_or_admit_client(AdmissionRequest(number, Hello(f"bot {number}"), ADDRESS), None)
    async with running(auth, shell):
        await anyio.sleep(PAUSE_BETWEEN_ACCOUNT_QUERIES_SECONDS)
    assert shell.inputs == []
    assert {(type(each), each.error_code) for each in shell.sent} == {(CloseClient, ErrorCode.SERVER_FULL)}
    assert len(shell.sent) == 40
    assert [each.getMessage() for each in caplog.records] == [
        "the store does not answer: the database is away"
    ]


@virtual
async def test_a_new_core_gets_the_ratings_of_the_bots_that_an_edge_lists(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    accounts, shell = open_accounts(
        monkeypatch, anna=StoredAccount(ratings={"riskless": GlickoRating(1700.0)})
    )
    accounts.gate.set()
    auth = make_authenticator(anyone=True)
    async with running(auth, shell):
        auth.fill_in_resynced_clients(EdgeResynced(1, [make_resync_entry("anna")]))
        await anyio.wait_all_tasks_blocked()
    assert shell.inputs == [RatingChanged("riskless", "anna", GlickoRating(1700.0))]

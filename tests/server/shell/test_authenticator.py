"""The authenticator: names, tokens and sessions that are admitted or refused."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from arena.clock import TimeSource
from arena.processes.tasks import open_background_tasks
from arena.protocol.codes import Code
from arena.protocol.messages import Hello
from arena.protocol.values import Role
from arena.rating.glicko import Rating
from arena.server.core.bot import LobbyBot, hash_secret
from arena.server.core.effects import CloseClient
from arena.server.core.inputs import ClientAdmitted, EdgeResynced, RatingChanged
from arena.server.core.lobby import RequestRefused
from arena.server.failed_logins import MAX_FAILURES, FailedLogins
from arena.server.ports import AdmissionRequest
from arena.server.shell import authenticator
from arena.server.shell.authenticator import MAX_ADMISSION_PARTS, QUERY_PAUSE_SECONDS, Authenticator
from arena.server.store import tokens
from arena.server.store.accounts import StoredAccount
from tests.virtual import virtual

HERE = "192.0.2.1"


def door(*, anyone: bool = False, guests: bool = False) -> Authenticator:
    return Authenticator(
        None,  # type: ignore[arg-type]
        "",
        admits_anyone=anyone,
        admits_guests=guests,
        failed_logins=FailedLogins(),
        clock=TimeSource(lambda: 0),
    )


def request(
    name: str, token: str = "", session: str = "", role: Role = "bot", address: str = HERE
) -> AdmissionRequest:
    return AdmissionRequest(1, Hello(name, token, session, role=role), address)


def refusal(
    door: Authenticator, pending: AdmissionRequest, known: StoredAccount | None = None
) -> RequestRefused:
    with pytest.raises(RequestRefused) as refused:
        door.authenticate(pending, known or StoredAccount())
    return refused.value


def account(token: str = "", **more: Any) -> StoredAccount:
    return StoredAccount(tokens.hash_token(token) if token else "", **more)


def test_a_token_opens_its_own_name_only() -> None:
    at = door()
    anna, bert = at.issue_token("anna"), at.issue_token("bert")
    assert at.authenticate(request("anna", anna), StoredAccount()).role == "bot"
    for name, token in (("anna", bert), ("anna", ""), ("carl", anna), ("carl", "")):
        assert refusal(at, request(name, token)).code is Code.BAD_TOKEN


def test_a_new_token_takes_the_place_of_the_old_one_and_none_is_kept_in_clear() -> None:
    at = door()
    old, new = at.issue_token("anna"), at.issue_token("anna")
    at.authenticate(request("anna", new), StoredAccount())
    assert refusal(at, request("anna", old)).code is Code.BAD_TOKEN
    assert new not in repr(vars(at))


def test_on_an_open_server_a_name_with_a_token_still_needs_it() -> None:
    at = door(anyone=True)
    at.authenticate(request("carl"), StoredAccount())
    assert "leave the token empty" in refusal(at, request("carl", "something")).detail
    assert "wrong token for" in refusal(at, request("anna"), account("secret")).detail
    assert "was revoked" in refusal(at, request("anna"), account("secret", is_revoked=True)).detail


@pytest.mark.parametrize("role", ["bot", "spectator"])
def test_a_name_that_cannot_be_printed_is_refused(role: Role) -> None:
    assert refusal(door(anyone=True), request("an\na", role=role)).code is Code.BAD_NAME


@pytest.mark.parametrize("role", ["bot", "spectator", "admin"])
def test_a_token_of_the_store_opens_its_name_in_its_role_until_it_is_revoked(role: Role) -> None:
    known = account("secret", role=role)
    assert door().authenticate(request("anna", "secret", role=role), known).role == role
    assert (
        "was revoked"
        in refusal(door(), request("anna", "secret", role=role), account("secret", is_revoked=True)).detail
    )


def test_a_spectator_needs_no_token_and_an_admin_does() -> None:
    assert door().authenticate(request("anna", role="spectator"), StoredAccount()).role == "spectator"
    assert refusal(door(), request("anna", role="admin")).code is Code.BAD_TOKEN
    assert door(anyone=True).authenticate(request("anna", role="admin"), StoredAccount()).role == "bot", (
        "which the core refuses"
    )


def test_after_wrong_guesses_even_the_right_token_is_refused_for_that_client_only() -> None:
    at = door()
    token = at.issue_token("anna")
    for guess in map(str, range(MAX_FAILURES)):
        assert refusal(at, request("anna", guess)).code is Code.BAD_TOKEN
    refused = refusal(at, request("anna", token))
    assert refused.code is Code.RATE_LIMITED
    assert HERE in refused.detail
    at.authenticate(request("anna", token, address="192.0.2.2"), StoredAccount())


def test_an_address_that_is_closed_stays_open_to_a_bot_that_returns_with_its_session() -> None:
    at = door()
    token = at.issue_token("anna")
    for guess in map(str, range(MAX_FAILURES)):
        refusal(at, request("bert", guess))
    known = StoredAccount(session=hash_secret("secret"))
    assert at.authenticate(request("anna", token, "secret"), known).stored_session == known.session
    for session in ("another", ""):
        assert refusal(at, request("anna", token, session), known).code is Code.RATE_LIMITED
    wrong = refusal(at, request("anna", "wrong", "secret"), known)
    assert wrong.code is Code.BAD_TOKEN, "the secret of a session is no token"


def test_an_empty_token_is_no_guess() -> None:
    at = door()
    token = at.issue_token("anna")
    for _ in range(2 * MAX_FAILURES):
        assert refusal(at, request("anna")).code is Code.BAD_TOKEN
    at.authenticate(request("anna", token), StoredAccount())


def test_a_guest_needs_a_guests_name_without_a_token_where_guests_are_let_in() -> None:
    assert door(guests=True).authenticate(request("guest-1"), StoredAccount()).guest
    assert refusal(door(), request("guest-1")).code is Code.BAD_TOKEN
    assert refusal(door(guests=True), request("anna")).code is Code.BAD_TOKEN
    assert refusal(door(guests=True), request("guest-1"), account("secret")).code is Code.BAD_TOKEN
    assert not door(guests=True).authenticate(request("guest-1", "secret"), account("secret")).guest


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
        door(guests=True, anyone=False).complete_resync(EdgeResynced(1, [returning(name)])).clients[0].guest
        is is_guest
    )


def returning(name: str, address: str = HERE) -> ClientAdmitted:
    return ClientAdmitted(1, Hello(name, session="secret"), address, owner="", secret="")


def test_owners_are_addresses_and_bots_of_this_machine_are_known() -> None:
    at = door(anyone=True)
    at.issue_token("house")
    addresses = {
        "2001:db8::1": ("2001:db8::/64", False),
        "192.0.2.1": ("192.0.2.1", False),
        "127.0.0.1": ("127.0.0.1", True),
    }
    for address, (owner, local) in addresses.items():
        entered = at.authenticate(request("anna", address=address), StoredAccount())
        assert (entered.owner, entered.local) == (owner, local)
        (vouched,) = at.complete_resync(EdgeResynced(1, [returning("anna", address)])).clients
        assert (vouched.owner, vouched.local) == (owner, local)
    assert at.complete_resync(EdgeResynced(1, [returning("house")])).clients[0].local


class Given:
    """Inputs and sent messages of a shell."""

    def __init__(self) -> None:
        self.inputs: list[Any] = []
        self.sent: list[Any] = []
        self.submit, self.send = self.inputs.append, self.sent.append


class Accounts:
    """A store of accounts that answers when a test says so."""

    def __init__(self, known: dict[str, StoredAccount]) -> None:
        self.known = known
        self.asked: list[set[str]] = []
        self.gate = asyncio.Event()
        self.error: Exception | None = None

    async def __call__(self, _engine: object, _server: str, names: Iterable[str]) -> dict[str, StoredAccount]:
        self.asked.append(set(names))
        await self.gate.wait()
        if self.error is not None:
            raise self.error
        return {name: self.known.get(name, StoredAccount()) for name in names}


def open_accounts(monkeypatch: pytest.MonkeyPatch, **known: StoredAccount) -> tuple[Accounts, Given]:
    accounts = Accounts(known)
    monkeypatch.setattr(authenticator, "load_accounts", accounts)
    return accounts, Given()


@asynccontextmanager
async def running(at: Authenticator, shell: Given) -> AsyncIterator[None]:
    async with open_background_tasks() as tasks:
        tasks.start_soon(at.run, shell)  # type: ignore[arg-type]
        yield


@virtual
async def test_a_crowd_is_read_in_one_query_and_clients_that_left_are_not_admitted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    accounts, shell = open_accounts(monkeypatch)
    at = door(anyone=True)
    async with running(at, shell):
        at.enqueue(AdmissionRequest(1, Hello("first"), HERE), None)
        await anyio.wait_all_tasks_blocked()
        for number in range(2, 100):
            at.enqueue(AdmissionRequest(number, Hello(f"bot {number}"), HERE), None)
        at.forget_request(50)
        accounts.gate.set()
        await anyio.sleep(2.1 * QUERY_PAUSE_SECONDS)
    assert [len(names) for names in accounts.asked] == [1, 97]
    assert [each.client for each in shell.inputs] == [each for each in range(1, 100) if each != 50]


@virtual
async def test_a_crowd_is_admitted_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    accounts, shell = open_accounts(monkeypatch)
    at = door(anyone=True)
    admitted = []
    async with running(at, shell):
        for number in range(4 * MAX_ADMISSION_PARTS - 1):
            at.enqueue(AdmissionRequest(number, Hello(f"bot {number}"), HERE), None)
        accounts.gate.set()
        await anyio.wait_all_tasks_blocked()
        for _ in range(MAX_ADMISSION_PARTS):
            admitted.append(len(shell.inputs))
            await anyio.sleep(QUERY_PAUSE_SECONDS / MAX_ADMISSION_PARTS)
    assert admitted == [4 * part for part in range(1, MAX_ADMISSION_PARTS)] + [4 * MAX_ADMISSION_PARTS - 1]


@virtual
async def test_logins_share_a_query_and_spectators_need_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    accounts, shell = open_accounts(monkeypatch)
    accounts.gate.set()
    at = door(anyone=True)
    async with running(at, shell):
        for number in range(1, 101):
            role: Role = "spectator" if number % 2 else "bot"
            at.enqueue(AdmissionRequest(number, Hello(f"name {number}", role=role), HERE), None)
            await anyio.sleep(0.001)
        await anyio.sleep(QUERY_PAUSE_SECONDS)
    assert sorted(each.client for each in shell.inputs) == list(range(1, 101))
    assert len(accounts.asked) <= 0.1 / QUERY_PAUSE_SECONDS + 2
    assert all(int(name.split()[1]) % 2 == 0 for names in accounts.asked for name in names)


@virtual
async def test_a_hello_that_is_said_again_while_it_is_looked_up_is_answered_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    accounts, shell = open_accounts(monkeypatch)
    at = door(anyone=True)
    async with running(at, shell):
        for _ in range(2):
            at.enqueue(AdmissionRequest(7, Hello("anna"), HERE), None)
            await anyio.wait_all_tasks_blocked()
        accounts.gate.set()
        await anyio.sleep(1.1 * QUERY_PAUSE_SECONDS)
    assert [each.client for each in shell.inputs] == [7]


@virtual
async def test_a_bot_that_returns_with_its_session_does_not_wait_for_the_store(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bot = LobbyBot("anna")
    bot.open_session("secret")
    bot.set_owner("ada")
    accounts, shell = open_accounts(monkeypatch, anna=account("token", session=bot.session, owner="ada"))
    at = door()

    def hello(client: int, token: str, session: str) -> ClientAdmitted | None:
        return at.enqueue(AdmissionRequest(client, Hello("anna", token, session), HERE), bot)

    async with running(at, shell):
        await anyio.wait_all_tasks_blocked()
        admitted = hello(1, "token", "secret")
        assert admitted is not None
        assert (admitted.client, admitted.owner, admitted.is_owner_address) == (1, "ada", False)
        assert hello(2, "token", "another") is None
        assert hello(3, "token", "") is None
        assert hello(4, "wrong", "secret") is not None
        assert at.enqueue(AdmissionRequest(5, Hello("anna", "token", "secret"), HERE), None) is None
        await anyio.wait_all_tasks_blocked()
        assert (shell.inputs, shell.sent) == ([], []), "the store has not answered"
        accounts.gate.set()
        await anyio.sleep(2.2 * QUERY_PAUSE_SECONDS)
    assert [each.client for each in shell.inputs] == [2, 3, 5], "the first is admitted already"
    [refused] = shell.sent
    assert (refused.client, refused.code) == (4, Code.BAD_TOKEN), "the secret of a session is no token"


def test_a_bot_that_a_new_core_has_restored_waits_for_the_store_which_alone_knows_its_owner() -> None:
    restored = LobbyBot("anna")
    restored.open_session("secret")
    assert door().enqueue(AdmissionRequest(1, Hello("anna", "token", "secret"), HERE), restored) is None


@virtual
async def test_a_bot_that_has_returned_stays_connected_if_the_store_cannot_be_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bot = LobbyBot("anna")
    bot.open_session("secret")
    bot.set_owner("ada")
    accounts, shell = open_accounts(monkeypatch)
    accounts.gate.set()
    accounts.error = OSError("the database is away")
    at = door()
    assert at.enqueue(AdmissionRequest(1, Hello("anna", "token", "secret"), HERE), bot) is not None
    async with running(at, shell):
        await anyio.wait_all_tasks_blocked()
    assert (shell.inputs, shell.sent) == ([], [])


@virtual
async def test_many_connections_at_once_get_no_more_guesses_than_one(monkeypatch: pytest.MonkeyPatch) -> None:
    accounts, shell = open_accounts(monkeypatch, anna=account("secret"))
    accounts.gate.set()
    at = door()
    for number in range(40):
        at.enqueue(AdmissionRequest(number, Hello("anna", f"guess {number}"), HERE), None)
    async with running(at, shell):
        await anyio.sleep(QUERY_PAUSE_SECONDS)
    codes = [each.code for each in shell.sent]
    assert codes == [Code.BAD_TOKEN] * MAX_FAILURES + [Code.RATE_LIMITED] * (40 - MAX_FAILURES)


@virtual
async def test_while_the_store_is_away_nobody_comes_in_and_a_crowd_costs_one_line(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    accounts, shell = open_accounts(monkeypatch)
    accounts.gate.set()
    accounts.error = OSError("the database is away")
    at = door(anyone=True)
    for number in range(40):
        at.enqueue(AdmissionRequest(number, Hello(f"bot {number}"), HERE), None)
    async with running(at, shell):
        await anyio.sleep(QUERY_PAUSE_SECONDS)
    assert shell.inputs == []
    assert {(type(each), each.code) for each in shell.sent} == {(CloseClient, Code.SERVER_FULL)}
    assert len(shell.sent) == 40
    assert [each.getMessage() for each in caplog.records] == [
        "the store does not answer: the database is away"
    ]


@virtual
async def test_a_new_core_is_told_the_ratings_of_the_bots_that_an_edge_vouches_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    accounts, shell = open_accounts(monkeypatch, anna=StoredAccount(ratings={"riskless": Rating(1700.0)}))
    accounts.gate.set()
    at = door(anyone=True)
    async with running(at, shell):
        at.complete_resync(EdgeResynced(1, [returning("anna")]))
        await anyio.wait_all_tasks_blocked()
    assert shell.inputs == [RatingChanged("riskless", "anna", Rating(1700.0))]

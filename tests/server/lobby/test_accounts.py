from __future__ import annotations

import asyncio

import anyio
import pytest
from msgspec.structs import replace

from arena.protocol.codes import Code
from arena.protocol.messages import Error, Hello, ServerMessage
from arena.protocol.values import Role
from arena.server.host import Host, open_host
from arena.server.lobby.accounts import Accounts, Refused
from arena.server.lobby.lobby import Lobby
from arena.server.net.by_address.failed_logins import FailedLogins
from arena.server.rooms.member import secret_hash
from arena.server.settings import private
from arena.server.store import tokens
from arena.server.store.database import open_store
from tests.server.databases import Postgresql
from tests.server.peer import dial


async def refusal(accounts: Accounts, name: str, token: str, address: str = "10.0.0.1") -> Refused:
    with pytest.raises(Refused) as refused:
        await accounts.check(name, token, address)
    return refused.value


async def test_a_token_opens_its_own_name_only() -> None:
    accounts = Accounts(anyone=False)
    anna, bert = accounts.issue("anna"), accounts.issue("bert")
    assert await accounts.check("anna", anna) == "bot"
    for name, token in (("anna", bert), ("anna", ""), ("carl", anna), ("carl", "")):
        assert (await refusal(accounts, name, token)).code is Code.BAD_TOKEN


async def test_a_new_token_takes_the_old_ones_place() -> None:
    accounts = Accounts(anyone=False)
    old, new = accounts.issue("anna"), accounts.issue("anna")
    await accounts.check("anna", new)
    await refusal(accounts, "anna", old)


async def test_where_anyone_may_come_a_name_with_a_token_still_needs_it() -> None:
    accounts = Accounts(anyone=True)
    await accounts.check("carl", "")
    accounts.issue("anna")
    assert "not the token" in (await refusal(accounts, "anna", "")).detail
    assert "leave the token empty" in (await refusal(accounts, "carl", "something")).detail


async def test_the_token_itself_is_not_kept() -> None:
    accounts = Accounts(anyone=False)
    assert accounts.issue("anna") not in repr(vars(accounts))


@pytest.mark.parametrize("name", ["", " anna", "an\na", "a" * 65, "nul\0"])
async def test_what_is_no_name_is_refused_before_the_store_is_asked(name: str) -> None:
    assert (await refusal(Accounts(anyone=True), name, "")).code is Code.BAD_NAME


@pytest.mark.parametrize("role", ["bot", "spectator", "admin"])
async def test_a_token_of_the_store_opens_its_name_in_its_role(database: str, role: Role) -> None:
    async with open_store(database) as engine:
        token = await tokens.create(engine, "anna", role)
        assert await Accounts(anyone=False, engine=engine).check("anna", token) == role


async def test_what_the_command_changes_holds_while_the_server_runs(database: str) -> None:
    async with open_store(database) as engine, open_store(database) as command:
        accounts = Accounts(anyone=False, engine=engine)
        assert "no token is known" in (await refusal(accounts, "anna", "")).detail
        old = await tokens.create(command, "anna", "bot")
        await accounts.check("anna", old)
        new = await tokens.rotate(command, "anna")
        assert "not the token" in (await refusal(accounts, "anna", old)).detail
        await accounts.check("anna", new)
        await tokens.revoke(command, "anna")
        assert "was revoked" in (await refusal(accounts, "anna", new)).detail


async def test_a_revoked_name_is_not_free_for_anyone(database: str) -> None:
    async with open_store(database) as engine:
        accounts = Accounts(anyone=True, engine=engine)
        await accounts.check("anna", "")
        await tokens.create(engine, "anna", "bot")
        await refusal(accounts, "anna", "")
        await tokens.revoke(engine, "anna")
        assert "was revoked" in (await refusal(accounts, "anna", "")).detail


async def test_who_guesses_is_refused_even_with_the_right_token_and_nobody_else_is() -> None:
    accounts = Accounts(anyone=False, failed_logins=FailedLogins(limit=3))
    token = accounts.issue("anna")
    for guess in "abc":
        assert (await refusal(accounts, "anna", guess)).code is Code.BAD_TOKEN
    refused = await refusal(accounts, "anna", token)
    assert refused.code is Code.RATE_LIMITED
    assert "10.0.0.1" in refused.detail
    assert await accounts.check("anna", token, "10.0.0.2") == "bot"


async def test_many_connections_at_once_get_no_more_guesses_than_one(database: str) -> None:
    codes: list[Code] = []
    async with open_store(database) as engine:
        await tokens.create(engine, "anna", "bot")
        accounts = Accounts(anyone=False, engine=engine, failed_logins=FailedLogins(limit=3))

        async def guess(token: str) -> None:
            codes.append((await refusal(accounts, "anna", token)).code)

        async with anyio.create_task_group() as tasks:
            for number in range(40):
                tasks.start_soon(guess, f"guess {number}")
    assert codes.count(Code.BAD_TOKEN) == 3
    assert codes.count(Code.RATE_LIMITED) == 37


async def test_an_address_that_is_closed_stays_open_to_a_bot_that_returns_with_its_session() -> None:
    accounts = Accounts(anyone=False, failed_logins=FailedLogins(limit=3))
    lobby = Lobby(accounts)
    token = accounts.issue("anna")
    lobby.restore({"anna": secret_hash("secret")})
    for _ in range(3):
        assert (await refusal(accounts, "bert", "wrong")).code is Code.BAD_TOKEN
    here = Hello(name="anna", token=token, session="secret")
    assert await lobby.vet(here, "10.0.0.1") is None
    for other in (replace(here, session="another"), replace(here, session="")):
        lobby.turn_away(here)
        with pytest.raises(Refused) as refused:
            await lobby.vet(other, "10.0.0.1")
        assert refused.value.code is Code.RATE_LIMITED
    with pytest.raises(Refused) as refused:  # the session's secret is no token
        await lobby.vet(replace(here, token="wrong"), "10.0.0.1")
    assert refused.value.code is Code.BAD_TOKEN


async def test_an_empty_token_is_no_guess() -> None:
    accounts = Accounts(anyone=False, failed_logins=FailedLogins(limit=3))
    token = accounts.issue("anna")
    for _ in range(10):
        assert (await refusal(accounts, "anna", "")).code is Code.BAD_TOKEN
    await accounts.check("anna", token, "10.0.0.1")


async def test_while_the_database_is_away_nobody_comes_in_and_each_costs_one_line(
    own_postgresql: Postgresql, caplog: pytest.LogCaptureFixture
) -> None:
    url = await asyncio.to_thread(own_postgresql.new_database)
    async with open_host(private(database=url, anyone=True)) as host:
        await host.journal.durable(host.journal.keep_session("anna", b"secret"))  # now it has its connection
        await asyncio.to_thread(own_postgresql.stop)
        for _ in range(2):
            told = await first_answer(host, "carl")
            assert isinstance(told, Error)
            assert (told.code, told.fatal) == (Code.SERVER_FULL, True), "clients then try again"
        await asyncio.to_thread(own_postgresql.start)
        with anyio.fail_after(20):
            while isinstance(told := await first_answer(host, "carl"), Error):
                assert told.code is Code.SERVER_FULL
    ours = [each for each in caplog.records if each.name in ("arena.accounts", "arena.dispatch")]
    complaints = [each for each in ours if each.levelname == "ERROR"]
    assert len(complaints) >= 2
    assert not any("\n" in each.getMessage() or each.exc_info for each in complaints)
    assert not [each for each in caplog.records if each.name.startswith("websockets") and each.exc_info]


async def first_answer(host: Host, name: str) -> ServerMessage:
    async with dial(host.url) as peer:
        await peer.say(Hello(name, "", ""))
        return await peer.next()

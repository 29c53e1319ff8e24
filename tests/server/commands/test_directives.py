"""`arena kick`, `ban`, `notice` and `token revoke` on the store of a running server."""

from __future__ import annotations

import anyio
import pytest

from arena.protocol.codes import ErrorCode
from arena.protocol.messages import Error, Notice
from arena.server import host as hosts
from arena.server.core.inputs import ChangeTournament, FindConnectedClient
from arena.server.host import open_arena_server
from arena.server.settings import make_private_server_settings
from arena.server.store import stored_requests, tokens
from arena.server.store.database import open_store
from arena.server.store.directives import issue_directive, load_directives
from arena.server.store.stored_requests import RequestAnswer
from tests.bots.command_line import arena, fails
from tests.server.peer import Peer, dial, enter
from tests.server.web.test_web_app import get


@pytest.fixture(autouse=True)
def _poll_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosts, "DIRECTIVE_POLL_INTERVAL_SECONDS", 0.05)
    monkeypatch.setattr(stored_requests, "ANSWER_TIMEOUT_SECONDS", 300.0)


async def run(database: str, *words: str) -> str:
    """Run a command in a thread, while a server runs, and return its output."""
    result = await anyio.to_thread.run_sync(lambda: arena(*words, "--db", database))
    assert result.code == 0, result
    return result.stdout


async def removed(peer: Peer) -> Error:
    error = await peer.hear(Error)
    assert (error.code, error.fatal) == (ErrorCode.REMOVED, True)
    return error


async def test_each_command_acts_on_a_running_server(database: str) -> None:
    async with open_store(database) as engine:
        token = await tokens.create_token(engine, "dora", "bot")
    async with (
        open_arena_server(make_private_server_settings(database_url=database, anyone=True)) as host,
        enter(host, "anna") as anna,
        enter(host, "bert") as bert,
        enter(host, "carl") as carl,
        dial(host.url) as dora,
    ):
        await dora.hello("dora", token)
        await run(database, "kick", "anna", "--reason", "it stands still")
        assert (await removed(anna)).detail == "it stands still"
        await run(database, "ban", "bert", "--for", "2h")
        assert (await removed(bert)).detail == "banned by the host"
        await run(database, "token", "revoke", "dora")
        assert (await removed(dora)).detail == "its token was revoked"
        await run(database, "notice", "An upgrade at eight.", "--for", "30m")
        assert (await carl.hear(Notice)).text == "An upgrade at eight."
        await run(database, "notice", "--lift")
        assert await carl.hear(Notice) == Notice("", "")
        await run(database, "ban", "127.0.0.1", "--reason", "no machine of ours")
        assert (await removed(carl)).detail == "no machine of ours"
        status, _, body = await get(host, "/healthz")
        assert (status, body) == (403, b"removed: no machine of ours\n")
        assert "no machine of ours" in await run(database, "ban")
        await run(database, "ban", "127.0.0.1", "--lift")
        while (await get(host, "/healthz"))[0] != 200:
            pass
        async with enter(host, "carl"):
            pass


async def test_a_kick_reports_whether_the_name_was_connected(database: str) -> None:
    async with open_store(database) as engine:
        await tokens.create_token(engine, "bert", "bot")

    async def refuses(message: str, name: str) -> None:
        await anyio.to_thread.run_sync(lambda: fails(message, 1, "kick", name, "--db", database))

    await refuses("bert is not connected", "bert")
    async with (
        open_arena_server(make_private_server_settings(database_url=database, anyone=True)) as host,
        dial(host.url) as eve,
        enter(host, "anna") as anna,
    ):
        await refuses("bert is not connected", "bert")
        await refuses("""no client is called 'ana'; did you mean "anna"?""", "ana")
        await refuses("no client is called 'zoe'\n", "zoe")
        async with open_store(database) as engine:
            assert await load_directives(engine) == []
        await eve.hello("eve", role="spectator")
        await run(database, "kick", "eve")
        assert (await removed(eve)).detail == "the host has closed the connection"
        await run(database, "kick", "anna")
        await removed(anna)


async def test_a_kick_is_issued_if_no_server_answers(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def unanswered(_engine: object, _name: str) -> None:
        return None

    monkeypatch.setattr("arena.server.commands.directives.is_client_connected", unanswered)
    async with open_store(database) as engine:
        result = await anyio.to_thread.run_sync(lambda: arena("kick", "anna", "--db", database))
        assert "no server has answered yet" in result.stderr
        assert [each.subject for each in await load_directives(engine)] == ["anna"]


async def test_a_directive_expires_and_a_new_one_replaces_it(database: str) -> None:
    async with open_store(database) as engine:
        await issue_directive(engine, "name", "anna", "first", 3600)
        await issue_directive(engine, "name", "anna", "last", float("inf"))
        await issue_directive(engine, "name", "bert", "over", -1)
        assert [(each.subject, each.text, each.end_time) for each in await load_directives(engine)] == [
            ("anna", "last", "")
        ]


def test_a_host_without_a_notice_is_told_how_to_send_one(database: str) -> None:
    arena("token", "create", "anna", "--db", database)
    result = arena("notice", "--db", database)
    assert (result.code, result.stdout) == (0, "")
    assert result.stderr == "there is no notice: `arena notice TEXT` sends one\n"


def test_an_invalid_directive_is_reported_in_one_line(database: str) -> None:
    fails("is not a valid name", 2, "kick", " ", "--db", database)
    fails("the time must be a duration such as", 2, "ban", "anna", "--for", "soon", "--db", database)
    for address in ("999.1.1.1", "192.0.2.0/33", "2001:db8::/129", "2001:db8:::1"):
        fails(f"'{address}' is not an address or a network: write", 2, "ban", address, "--db", database)
    fails(r"unprintable character '\n': remove it", 2, "notice", "a\nb", "--db", database)
    fails("the text has 501 characters; the limit is 500", 2, "notice", 501 * "a", "--db", database)
    arena("token", "create", "anna", "--db", database)
    fails("anna is not banned: `arena ban` lists the bans", 1, "ban", "anna", "--lift", "--db", database)


async def test_a_refused_request_is_logged_unless_it_is_a_question(
    database: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_arena_server(make_private_server_settings(database_url=database)) as host:
        found = await stored_requests.send_request_via_store(host.db_engine, "", FindConnectedClient("anna"))
        assert found == RequestAnswer("anna is not connected", succeeded=False)
        answer = await stored_requests.send_request_via_store(
            host.db_engine, "", ChangeTournament("weekly", "pause")
        )
    assert answer is not None
    assert not answer.succeeded
    refusals = [record.getMessage() for record in caplog.records if record.name == "arena.requests"]
    assert refusals == [f"a request of the host is refused: {answer.text}"]

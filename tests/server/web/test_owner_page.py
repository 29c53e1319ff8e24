"""Requests of owners: names for bots with an invitation, and changes with the token of a bot."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import Any
from urllib.parse import quote

import anyio
import pytest
import sqlalchemy as sa
from anyio.lowlevel import checkpoint
from msgspec.structs import replace

from arena.protocol.codes import ErrorCode
from arena.protocol.messages import EnterEvent, Error, Hello, Welcome
from arena.server.core.calendar import format_unix_time_as_utc
from arena.server.core.inputs import AnnounceTournament, NumberedStoredRequest
from arena.server.host import ArenaServer
from arena.server.shell import stored_requests
from arena.server.store import invitations, owners, tokens
from arena.server.store.database import (
    Engine,
    open_store,
    redirect_transactions,
    run_in_transaction,
)
from arena.server.store.errors import OperationRefused
from arena.server.store.stored_requests import send_request_via_store
from arena.server.store.tokens import TokenError
from arena.server.web.credentials import find_valid_token
from arena.server.web.owner_page import OwnerPageHandler
from arena.server.web.routes import ROUTES, parse_request_target
from tests.server.peer import dial
from tests.server.web.test_event_calendar import CUP_PLAN
from tests.server.web.test_match_log import basic
from tests.server.web.test_web_app import get

FAR_FUTURE = 2_000_000_000
"""Start of an event in the far future, as Unix time."""


async def post(host: ArenaServer, path: str, authorization: str = "", **headers: str) -> tuple[int, str]:
    """Return the status and the text of the response. Repeat a request that a busy machine did not answer in time."""
    while True:
        start_time = monotonic()
        status, _, body = await get(host, f"/api/{path}", "POST", Authorization=authorization, **headers)
        if status != 503 or monotonic() - start_time < ROUTES["/api/join"].timeout_seconds:
            return status, body.decode().strip()


async def post_json(host: ArenaServer, path: str, authorization: str) -> dict[str, object]:
    status, body = await post(host, path, authorization)
    assert status == 200, body
    data = json.loads(body)
    assert isinstance(data, dict)
    return data


async def request_token(host: ArenaServer, path: str, authorization: str) -> str:
    return str((await post_json(host, path, authorization))["token"])


async def may_connect(host: ArenaServer, name: str, secret: str) -> bool:
    """Return True if a bot may connect. After its token was revoked, the error is BAD_TOKEN or REMOVED."""
    async with dial(host.url) as peer:
        await peer.say(Hello(name, secret))
        answer = await peer.next()
        assert isinstance(answer, Welcome) or (
            isinstance(answer, Error) and answer.code in {ErrorCode.BAD_TOKEN, ErrorCode.REMOVED}
        )
        return isinstance(answer, Welcome)


async def test_an_owner_registers_rotates_and_retires_the_invited_number_of_names(host: ArenaServer) -> None:
    codes = await invitations.create_invitations(host.db_engine, ["ada", "bob"], 2, 3600)
    ada, bob = (f"Bearer {code}" for code in codes.values())
    assert (await post_json(host, "join", ada))["left"] == 2
    tiger = await request_token(host, "join?name=tiger", ada)
    assert await may_connect(host, "tiger", tiger)
    assert not await may_connect(host, "lion", codes["ada"]), "an invitation code is not a token"
    for name, why in {
        "tiger": "'tiger' is taken: choose another name",
        "t\u0456ger": "'t\u0456ger' looks like 'tiger', which exists: choose another name",
        "house-bob": "looks like a name of the server's own engines",
        " x": "' x' is not a valid name",
    }.items():
        status, text = await post(host, f"join?name={quote(name)}", bob)
        assert status == 409
        assert why in text
    wolf = await request_token(host, "token/create?name=wolf", basic("tiger", tiger))
    status, text = await post(host, "join?name=bear", ada)
    assert (status, text[:40]) == (409, "all names of this invitation are taken: ")

    new = await request_token(host, "token/rotate?name=tiger", basic("wolf", wolf))
    assert not await may_connect(host, "tiger", tiger)
    assert await may_connect(host, "tiger", new)
    assert await request_token(host, "token/revoke?name=wolf", basic("tiger", new)) == ""
    assert not await may_connect(host, "wolf", wolf)
    assert (await post(host, "me", basic("wolf", wolf)))[0] == 401
    told_of = await post_json(host, "me", basic("tiger", new))
    assert isinstance(told_of["bots"], list)
    assert [(each["name"], each["retired"] is None) for each in told_of["bots"]] == [
        ("tiger", True),
        ("wolf", False),
    ]
    assert (told_of["owner"], told_of["left"]) == ("ada", 1)
    assert (await post(host, "token/create?name=wolf", basic("tiger", new)))[0] == 409, (
        "a retired name stays taken"
    )
    assert await request_token(host, "token/create?name=bear", basic("tiger", new))


@pytest.mark.slow
async def test_many_owners_behind_one_address_register_at_the_same_time(host: ArenaServer) -> None:
    asyncio.get_running_loop().set_default_executor(
        ThreadPoolExecutor(40)
    )  # so that all requests are sent at once
    codes = await invitations.create_invitations(
        host.db_engine, [f"student {number}" for number in range(40)], 2, 3600
    )
    joined: list[str] = []

    async def join(number: int, code: str) -> None:
        joined.append(await request_token(host, f"join?name=tiger-{number}", f"Bearer {code}"))

    async with anyio.create_task_group() as tasks:
        for number, code in enumerate(codes.values()):
            tasks.start_soon(join, number, code)
    assert len(set(joined)) == 40


async def test_an_owner_enters_and_withdraws_bots(host: ArenaServer) -> None:
    plan = replace(
        CUP_PLAN, start_unix_s=FAR_FUTURE, closing_unix_s=FAR_FUTURE, invited_bots=("tiger", "lion", "wolf")
    )
    assert await send_request_via_store(host.db_engine, "", AnnounceTournament(plan))
    tiger = basic("tiger", await tokens.create_token(host.db_engine, "tiger", "bot", "ada"))
    await tokens.create_token(host.db_engine, "lion", "bot", "ada")
    await tokens.create_token(host.db_engine, "bear", "bot", "ada")
    await tokens.create_token(host.db_engine, "wolf", "bot", "bob")
    cup = {"event": "cup", "state": "open", "begins": format_unix_time_as_utc(FAR_FUTURE), "bots": []}
    assert (await post_json(host, "me", tiger))["events"] == [cup]
    for name in ("tiger", "lion"):
        response = await post_json(host, f"me/enter?event=cup&name={name}", tiger)
    assert response["events"] == [cup | {"bots": ["tiger", "lion"]}]
    response = await post_json(host, "me/withdraw?event=cup&name=lion", tiger)
    assert response["events"] == [cup | {"bots": ["tiger"]}]
    async with dial(host.url) as peer:
        await peer.say(Hello("lion", await tokens.rotate_token(host.db_engine, "lion")))
        assert isinstance(await peer.next(), Welcome)
        await peer.say(EnterEvent("cup"))
        refused = await peer.next()
    why = "'lion' was withdrawn from cup: only the host or the bot's owner can enter it again"
    assert refused == Error(ErrorCode.NO_SUCH_EVENT, why), "a bot that connects again stays withdrawn"
    for path, why in (
        ("enter?event=cup&name=wolf", "owner 'ada' has no bot called 'wolf'"),
        ("enter?event=tea&name=tiger", "no event 'tea' is open or in progress"),
        ("enter?event=cup&name=bear", "cup is open only to invited bots, and 'bear' is not invited"),
        ("withdraw?event=cup&name=lion", "'lion' cannot leave cup: it has not entered, or the event is over"),
    ):
        assert await post(host, f"me/{path}", tiger) == (409, why)
    assert (await post(host, "me/enter?event=cup&name=tiger", basic("tiger", "a guess")))[0] == 401
    soon = replace(plan, event_name="tea", event_uid="8", closing_unix_s=1)
    assert await send_request_via_store(host.db_engine, "", AnnounceTournament(soon))
    closed = "the entries of tea are closed: it is about to begin"
    assert await post(host, "me/enter?event=tea&name=tiger", tiger) == (409, closed)


async def test_an_entry_reaches_its_event_immediately(
    host: ArenaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await send_request_via_store(
        host.db_engine,
        "",
        AnnounceTournament(replace(CUP_PLAN, start_unix_s=FAR_FUTURE, closing_unix_s=FAR_FUTURE)),
    )

    async def pending_requests(*_: object) -> list[NumberedStoredRequest]:
        return []

    monkeypatch.setattr(stored_requests, "load_pending_requests", pending_requests)
    tiger = basic("tiger", await tokens.create_token(host.db_engine, "tiger", "bot", "ada"))
    cup = {"event": "cup", "state": "open", "begins": format_unix_time_as_utc(FAR_FUTURE)}
    for action, bots in (("enter", ["tiger"]), ("withdraw", []), ("enter", ["tiger"])):
        response = await post_json(host, f"me/{action}?event=cup&name=tiger", tiger)
        assert response["events"] == [cup | {"bots": bots}]


async def test_an_edge_changes_tokens_and_reaches_the_core_of_an_event(
    host: ArenaServer,
) -> None:
    """An edge has no lease and no core: it changes tokens in the store, and sends requests to the core through the store."""
    assert await send_request_via_store(
        host.db_engine,
        "",
        AnnounceTournament(replace(CUP_PLAN, start_unix_s=FAR_FUTURE, closing_unix_s=FAR_FUTURE)),
    )
    old = basic("tiger", await tokens.create_token(host.db_engine, "tiger", "bot", "ada"))
    async with open_store(host.db_engine.url.render_as_string(hide_password=False)) as engine:
        pages = OwnerPageHandler(engine, partial(send_request_via_store, engine))

        async def post_to_edge(path: str, authorization: str) -> tuple[int, str]:
            route_match = parse_request_target(f"/api/{path}")
            assert route_match is not None
            answer = await pages.handle_request(route_match, authorization)
            return answer.status, answer.body.decode()

        status, body = await post_to_edge("token/rotate?name=tiger", old)
        assert status == 200
        tiger = basic("tiger", json.loads(body)["token"])
        assert (await post_to_edge("me", old))[0] == 401
        for action, bots in (("enter", ["tiger"]), ("withdraw", [])):
            status, body = await post_to_edge(f"me/{action}?event=cup&name=tiger", tiger)
            assert (status, json.loads(body)["events"][0]["bots"]) == (200, bots)
        why = "'tiger' cannot leave cup: it has not entered, or the event is over"
        with pytest.raises(OperationRefused, match=f"^{why}$"):
            await post_to_edge("me/withdraw?event=cup&name=tiger", tiger)


@pytest.mark.parametrize("word", ["rotate", "revoke"])
async def test_a_token_changed_meanwhile_is_not_changed_again(database: str, word: str) -> None:
    async with open_store(database) as engine:
        old = basic("tiger", await tokens.create_token(engine, "tiger", "bot", "ada"))
        await tokens.create_token(engine, "lion", "bot", "ada")
        lion = await tokens.find_token(engine, "lion")

        async def rotate_and_write(operation: Callable[[sa.Connection], Any]) -> Any:
            await tokens.rotate_token(engine, "tiger")
            return await run_in_transaction(engine, operation)

        pages = OwnerPageHandler(
            redirect_transactions(engine, rotate_and_write), partial(send_request_via_store, engine)
        )
        for name in ("lion", "tiger"):
            route_match = parse_request_target(f"/api/token/{word}?name={name}")
            assert route_match is not None
            with pytest.raises(TokenError, match=r"^the token of 'tiger' has changed: log in again$"):
                await pages.handle_request(route_match, old)
            old = basic("tiger", await tokens.rotate_token(engine, "tiger"))
        assert await tokens.find_token(engine, "lion") == lion


async def test_a_stored_token_reaches_its_owner_even_if_the_time_for_the_answer_is_over(
    database: str,
) -> None:
    async with open_store(database) as engine:
        tiger = basic("tiger", await tokens.create_token(engine, "tiger", "bot", "ada"))
        route_match = parse_request_target("/api/token/rotate?name=tiger")
        assert route_match is not None
        with anyio.CancelScope() as time_limit:

            async def write_late(operation: Callable[[sa.Connection], Any]) -> Any:
                result = await run_in_transaction(engine, operation)
                time_limit.cancel()
                await checkpoint()
                return result

            pages = OwnerPageHandler(
                redirect_transactions(engine, write_late), partial(send_request_via_store, engine)
            )
            answer = await pages.handle_request(route_match, tiger)
        assert answer.status == 200
        assert await find_valid_token(engine, basic("tiger", json.loads(answer.body)["token"]))


async def test_an_owner_cannot_change_the_tokens_of_another_owner(host: ArenaServer) -> None:
    secret = await tokens.create_token(host.db_engine, "tiger", "bot", "ada")
    await tokens.create_token(host.db_engine, "wolf", "bot", "bob")
    await tokens.create_token(host.db_engine, "tower", "admin", "ada")
    for name in ("wolf", "tower", "nobody"):
        for word in ("rotate", "revoke"):
            status, text = await post(host, f"token/{word}?name={name}", basic("tiger", secret))
            assert (status, text) == (409, f"owner 'ada' has no bot called '{name}'")
    status, text = await post(host, "token/create?name=bear", basic("tiger", secret))
    assert (status, text) == (409, "this invitation is no longer open: ask the host for a new one")
    [bot] = (await owners.load_owner_account(host.db_engine, "ada")).bots
    assert bot.name == "tiger"


async def test_an_invitation_expires_and_the_larger_of_two_counts(host: ArenaServer) -> None:
    codes = await invitations.create_invitations(host.db_engine, ["ada"], 2, -1)
    assert (await post(host, "join", f"Bearer {codes['ada']}"))[0] == 401
    codes = await invitations.create_invitations(host.db_engine, ["ada"], 2, 3600)
    codes |= {"again": (await invitations.create_invitations(host.db_engine, ["ada"], 1, 60))["ada"]}
    assert [(await post_json(host, "join", f"Bearer {code}"))["left"] for code in codes.values()] == [2, 2]


async def test_the_number_of_retired_names_is_limited(database: str) -> None:
    async with open_store(database) as engine:
        await invitations.create_invitations(engine, ["ada"], 1, 3600)
        for number in range(owners.MAX_REVOKED_NAMES_PER_OWNER):
            name = f"bot-{number + 100}"
            await invitations.register_name_and_issue_token(engine, "ada", name)
            assert (await owners.load_owner_account(engine, "ada")).remaining_name_count == 0
            await tokens.revoke_token(engine, name)
        assert (await owners.load_owner_account(engine, "ada")).remaining_name_count == 0


async def test_two_servers_register_neither_too_many_nor_similar_names(database: str) -> None:
    async with open_store(database) as one, open_store(database) as other:
        registered: list[str] = []

        async def register(engine: Engine, owner: str, name: str) -> None:
            with suppress(TokenError):
                await invitations.register_name_and_issue_token(engine, owner, name)
                registered.append(name)

        for owners_and_names in (
            (("ada", "bear"), ("ada", "lion")),
            (("bob", "tiger"), ("eve", "t\u0456ger")),
        ):
            names = [name for _, name in owners_and_names]
            await invitations.create_invitations(
                one, sorted({owner for owner, _ in owners_and_names}), 1, 3600
            )
            async with anyio.create_task_group() as tasks:
                for engine, (owner, name) in zip((one, other), owners_and_names, strict=True):
                    tasks.start_soon(register, engine, owner, name)
            assert len(registered) == 1
            assert registered.pop() in names


async def test_other_sites_and_guessed_tokens_are_refused(host: ArenaServer) -> None:
    codes = await invitations.create_invitations(host.db_engine, ["ada"], 2, 3600)
    code = f"Bearer {codes['ada']}"
    assert (await post(host, "join", code, Origin="https://evil.example"))[0] == 403
    assert (await post(host, "join", code, Origin=host.url.replace("ws", "http")))[0] == 200
    assert (await get(host, "/api/join", Authorization=code))[0] == 405
    statuses = [(await post(host, "me", basic("tiger", "a guess")))[0] for _ in range(11)]
    assert statuses == [401] * 10 + [429]
    assert (await post(host, "join", code))[0] == 429

"""Requests of owners by POST: names by an invitation, and changes by the token of one of their bots."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from urllib.parse import quote

import anyio
import pytest
from msgspec.structs import replace

from arena.protocol.codes import Code
from arena.protocol.messages import EnterEvent, Error, Hello, Welcome
from arena.server.core.calendar import format_utc
from arena.server.core.inputs import AnnounceEvent, ControlEvent, HostCommand
from arena.server.host import Host
from arena.server.shell import host_requests
from arena.server.store import invitations, owners, tokens
from arena.server.store.database import format_current_time, make_transaction_writer, open_store
from arena.server.store.personal_data import forget_name
from arena.server.store.requests import (
    NewRequest,
    PreparedChange,
    RequestAnswer,
    make_change_maker,
    send_request,
)
from arena.server.store.tokens import TokenChange
from arena.server.web.routes import ROUTES
from tests.server.peer import dial
from tests.server.store.registering import register_name
from tests.server.web.test_event_calendar import ONCE
from tests.server.web.test_match_log import basic
from tests.server.web.test_pages import get, pages_of

TOMORROW = 2_000_000_000
"""Unix time of an event that has yet to begin."""


async def post(host: Host, path: str, authorization: str = "", **headers: str) -> tuple[int, str]:
    """Return the answer. On a busy machine it may be late, and is asked for again; a refusal at once is the answer."""
    while True:
        began = monotonic()
        status, _, body = await get(host, f"/api/{path}", "POST", Authorization=authorization, **headers)
        if status != 503 or monotonic() - began < ROUTES["/api/join"].seconds:
            return status, body.decode().strip()


async def post_done(host: Host, path: str, authorization: str) -> dict[str, object]:
    status, body = await post(host, path, authorization)
    assert status == 200, body
    data = json.loads(body)
    assert isinstance(data, dict)
    return data


async def token(host: Host, path: str, authorization: str) -> str:
    return str((await post_done(host, path, authorization))["token"])


async def enters(host: Host, name: str, secret: str) -> bool:
    """Return True if a bot may connect. Where its token was just revoked, either refusal may come first."""
    async with dial(host.url) as peer:
        await peer.say(Hello(name, secret))
        answer = await peer.next()
        assert isinstance(answer, Welcome) or (
            isinstance(answer, Error) and answer.code in {Code.BAD_TOKEN, Code.REMOVED}
        )
        return isinstance(answer, Welcome)


async def test_an_owner_takes_rotates_and_retires_as_many_names_as_the_invitation_is_for(host: Host) -> None:
    codes = await invitations.create_invitations(host.engine, ["ada", "bob"], 2, 3600)
    ada, bob = (f"Bearer {code}" for code in codes.values())
    assert (await post_done(host, "join", ada))["left"] == 2
    tiger = await token(host, "join?name=tiger", ada)
    assert await enters(host, "tiger", tiger)
    assert not await enters(host, "lion", codes["ada"]), "a code is no token"
    for name, why in {
        "tiger": "'tiger' is taken: choose another name",
        "t\u0456ger": "'t\u0456ger' looks like 'tiger', which exists: choose another name",
        "house-bob": "looks like a name of the server's own engines",
        " x": "' x' is not a valid name",
    }.items():
        status, told = await post(host, f"join?name={quote(name)}", bob)
        assert status == 409
        assert why in told
    wolf = await token(host, "token/create?name=wolf", basic("tiger", tiger))
    status, told = await post(host, "join?name=bear", ada)
    assert (status, told[:40]) == (409, "all names of this invitation are taken: ")

    new = await token(host, "token/rotate?name=tiger", basic("wolf", wolf))
    assert not await enters(host, "tiger", tiger)
    assert await enters(host, "tiger", new)
    assert await token(host, "token/revoke?name=wolf", basic("tiger", new)) == ""
    assert not await enters(host, "wolf", wolf)
    assert (await post(host, "me", basic("wolf", wolf)))[0] == 401
    told_of = await post_done(host, "me", basic("tiger", new))
    assert isinstance(told_of["bots"], list)
    assert [(each["name"], each["retired"] is None) for each in told_of["bots"]] == [
        ("tiger", True),
        ("wolf", False),
    ]
    assert (told_of["owner"], told_of["left"]) == ("ada", 1)
    assert (await post(host, "token/create?name=wolf", basic("tiger", new)))[0] == 409, "it stays taken"
    assert await token(host, "token/create?name=bear", basic("tiger", new))


@pytest.mark.slow
async def test_a_course_behind_one_address_opens_its_invitations_at_the_same_moment(host: Host) -> None:
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(40))  # so that all ask at once
    codes = await invitations.create_invitations(
        host.engine, [f"student {number}" for number in range(40)], 2, 3600
    )
    joined: list[str] = []

    async def join(number: int, code: str) -> None:
        joined.append(await token(host, f"join?name=tiger-{number}", f"Bearer {code}"))

    async with anyio.create_task_group() as tasks:
        for number, code in enumerate(codes.values()):
            tasks.start_soon(join, number, code)
    assert len(set(joined)) == 40


async def test_an_owner_enters_own_bots_in_an_event_and_withdraws_them(host: Host) -> None:
    plan = replace(ONCE, start_time=TOMORROW, closing_time=TOMORROW, invited=("tiger", "lion", "wolf"))
    assert await send_request(host.engine, "", AnnounceEvent(plan))
    tiger = basic("tiger", await tokens.create_token(host.engine, "tiger", "bot", "ada"))
    await tokens.create_token(host.engine, "lion", "bot", "ada")
    await tokens.create_token(host.engine, "bear", "bot", "ada")
    await tokens.create_token(host.engine, "wolf", "bot", "bob")
    cup = {"event": "cup", "state": "open", "begins": format_utc(TOMORROW), "bots": []}
    assert (await post_done(host, "me", tiger))["events"] == [cup]
    for name in ("tiger", "lion"):
        told = await post_done(host, f"me/enter?event=cup&name={name}", tiger)
    assert told["events"] == [cup | {"bots": ["tiger", "lion"]}]
    told = await post_done(host, "me/withdraw?event=cup&name=lion", tiger)
    assert told["events"] == [cup | {"bots": ["tiger"]}]
    async with dial(host.url) as peer:
        await peer.say(Hello("lion", await tokens.rotate_token(host.engine, "lion")))
        assert isinstance(await peer.next(), Welcome)
        await peer.say(EnterEvent("cup"))
        refused = await peer.next()
    why = "'lion' was withdrawn from cup: only the host or the bot's owner can enter it again"
    assert refused == Error(Code.NO_SUCH_EVENT, why), "a bot that connects again stays withdrawn"
    for path, why in (
        ("enter?event=cup&name=wolf", "'ada' has no bot 'wolf'"),
        ("enter?event=tea&name=tiger", "no event 'tea' is open or in progress"),
        ("enter?event=cup&name=bear", "cup is open only to invited bots, and 'bear' is not invited"),
        ("withdraw?event=cup&name=lion", "'lion' cannot leave cup: it has not entered, or the event is over"),
    ):
        assert await post(host, f"me/{path}", tiger) == (409, why)
    assert (await post(host, "me/enter?event=cup&name=tiger", basic("tiger", "a guess")))[0] == 401
    soon = replace(plan, event="tea", uid="8", closing_time=1)
    assert await send_request(host.engine, "", AnnounceEvent(soon))
    closed = "the entries of tea are closed: it is about to begin"
    assert await post(host, "me/enter?event=tea&name=tiger", tiger) == (409, closed)


async def test_an_entry_reaches_its_event_at_once(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    assert await send_request(
        host.engine, "", AnnounceEvent(replace(ONCE, start_time=TOMORROW, closing_time=TOMORROW))
    )

    async def pending_requests(*_: object) -> list[HostCommand]:
        return []

    monkeypatch.setattr(host_requests, "load_pending_requests", pending_requests)
    tiger = basic("tiger", await tokens.create_token(host.engine, "tiger", "bot", "ada"))
    cup = {"event": "cup", "state": "open", "begins": format_utc(TOMORROW)}
    for action, bots in (("enter", ["tiger"]), ("withdraw", []), ("enter", ["tiger"])):
        told = await post_done(host, f"me/{action}?event=cup&name=tiger", tiger)
        assert told["events"] == [cup | {"bots": bots}]


async def test_an_entry_on_a_page_of_another_process_reaches_the_server_of_the_event(host: Host) -> None:
    assert await send_request(
        host.engine, "", AnnounceEvent(replace(ONCE, start_time=TOMORROW, closing_time=TOMORROW))
    )
    make = make_change_maker(host.engine)
    for action, answer in (
        ("enter", RequestAnswer("tiger is in cup", done=True)),
        ("withdraw", RequestAnswer("tiger is withdrawn from cup", done=True)),
        (
            "withdraw",
            RequestAnswer("'tiger' cannot leave cup: it has not entered, or the event is over", done=False),
        ),
    ):
        assert await make(NewRequest("", ControlEvent("cup", action, "tiger"))) == answer  # type: ignore[arg-type]


async def test_nobody_changes_tokens_of_other_owners(host: Host) -> None:
    secret = await tokens.create_token(host.engine, "tiger", "bot", "ada")
    await tokens.create_token(host.engine, "wolf", "bot", "bob")
    await tokens.create_token(host.engine, "tower", "admin", "ada")
    for name in ("wolf", "tower", "nobody"):
        for word in ("rotate", "revoke"):
            status, told = await post(host, f"token/{word}?name={name}", basic("tiger", secret))
            assert (status, told) == (409, f"'ada' has no bot '{name}'")
    status, told = await post(host, "token/create?name=bear", basic("tiger", secret))
    assert (status, told) == (409, "this invitation is no longer open: ask the host for a new one")
    [bot] = (await owners.load_owner(host.engine, "ada")).bots
    assert bot.name == "tiger"


async def test_an_invitation_ends_and_two_are_as_many_names_as_the_larger(host: Host) -> None:
    codes = await invitations.create_invitations(host.engine, ["ada"], 2, -1)
    assert (await post(host, "join", f"Bearer {codes['ada']}"))[0] == 401
    codes = await invitations.create_invitations(host.engine, ["ada"], 2, 3600)
    codes |= {"again": (await invitations.create_invitations(host.engine, ["ada"], 1, 60))["ada"]}
    assert [(await post_done(host, "join", f"Bearer {code}"))["left"] for code in codes.values()] == [2, 2]


async def test_retired_names_are_bounded(database: str) -> None:
    async with open_store(database) as engine:
        await invitations.create_invitations(engine, ["ada"], 1, 3600)
        for number in range(owners.MAX_REVOKED):
            name = f"bot-{number + 100}"
            await register_name(engine, "ada", name)
            assert (await owners.load_owner(engine, "ada")).left == 0
            await tokens.revoke_token(engine, name)
        assert (await owners.load_owner(engine, "ada")).left == 0


async def test_a_name_is_registered_only_in_a_store_with_the_names_among_which_it_was_free(
    database: str,
) -> None:
    """Two servers on one store cannot both give away the last place, or two names that look alike."""
    async with open_store(database) as engine:
        write = make_transaction_writer(engine)
        await tokens.create_token(engine, "bear", "bot")
        await invitations.create_invitations(engine, ["ada"], 1, 3600)
        late, _ = await invitations.prepare_registration(engine, "ada", "t1ger")
        await tokens.create_token(engine, "tiger", "bot")
        await forget_name(engine, "bear")
        assert not await write(late.apply), "there are as many names as before, but not the same"
        await forget_name(engine, "tiger")
        first, _ = await invitations.prepare_registration(engine, "ada", "tiger")
        second, _ = await invitations.prepare_registration(engine, "ada", "t1ger")
        assert await write(first.apply)
        assert not await write(second.apply)
        [bot] = (await owners.load_owner(engine, "ada")).bots
        assert bot == first.token


async def test_a_token_is_changed_only_as_long_as_it_is_the_one_that_was_read(database: str) -> None:
    async with open_store(database) as engine:
        await tokens.create_token(engine, "tiger", "bot", "ada")
        before = await tokens.find_token(engine, "tiger")
        assert before is not None
        rotated = replace(before, hash="1", rotated=format_current_time())
        revoked = replace(before, revoked=format_current_time())
        assert await make_transaction_writer(engine)(TokenChange(before, rotated).apply)
        assert not await make_transaction_writer(engine)(TokenChange(before, revoked).apply)
        assert await tokens.find_token(engine, "tiger") == rotated


async def test_a_change_is_prepared_again_if_the_store_has_changed_meanwhile(host: Host) -> None:
    codes = await invitations.create_invitations(host.engine, ["ada"], 2, 3600)
    pages = pages_of(host)
    make, changed = pages._apply_change, list[str]()

    async def make_late(change: PreparedChange) -> bool | RequestAnswer:
        """Let another name be registered before the first change."""
        if not changed:
            changed.append(await tokens.create_token(host.engine, "bear", "bot", "bob"))
        return await make(change)

    pages._apply_change = make_late
    assert await enters(host, "tiger", await token(host, "join?name=tiger", f"Bearer {codes['ada']}"))
    assert changed


async def test_other_sites_and_guessed_tokens_are_refused(host: Host) -> None:
    codes = await invitations.create_invitations(host.engine, ["ada"], 2, 3600)
    code = f"Bearer {codes['ada']}"
    assert (await post(host, "join", code, Origin="https://evil.example"))[0] == 403
    assert (await post(host, "join", code, Origin=host.url.replace("ws", "http")))[0] == 200
    assert (await get(host, "/api/join", Authorization=code))[0] == 405
    statuses = [(await post(host, "me", basic("tiger", "a guess")))[0] for _ in range(11)]
    assert statuses == [401] * 10 + [429]
    assert (await post(host, "join", code))[0] == 429

"""Processes of house engines: their start on demand, their restarts, and their end with the server."""

from __future__ import annotations

import os
import re
import signal
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from arena.games.catalogue import CATALOGUE
from arena.processes.bot_process import RestartPolicy
from arena.protocol.codes import EndReason
from arena.protocol.messages import Browse, Challenge, ChallengeOver, Listing, Move, Ready, Start, Turn
from arena.protocol.timecontrol import TimeControl
from arena.server.core.settings import OPEN_POOL_EVENT_NAME, HouseEngine
from arena.server.host import ArenaServer, open_arena_server
from arena.server.settings import ArenaSettings, make_private_server_settings
from arena.server.shell.house_processes import HouseEngineError, HouseEnginePlan, parse_house_engines
from testkit.tools import mark_requires
from tests.certificates import make_certificate
from tests.games.own import forget_games, nim
from tests.server.fleets import all_gone, processes_of
from tests.server.matches import game_of
from tests.server.peer import Peer, dial

RANDOM = parse_house_engines(["random"])
CHALLENGE = Challenge("house-random", game="tictactoe", time_control=TimeControl.parse("600+1"), rated=False)
QUICK = RestartPolicy(backoff_seconds=0.05, stop_timeout_seconds=1, max_restarts=2)


@asynccontextmanager
async def host_with_house(
    bots: list[HouseEngine],
    notices: list[str] | None = None,
    *,
    settings: ArenaSettings | None = None,
    check: bool = False,
    **options: Any,
) -> AsyncIterator[ArenaServer]:
    """Run a host with these engines during the block. Their failures are added to `notices`; None to fail on them."""
    notice = pytest.fail if notices is None else notices.append
    plan = HouseEnginePlan(
        bots, admits_guests=True, checks_engines_at_start=check, report_failure=notice, restart_policy=QUICK
    )
    async with (
        open_arena_server(settings, house_engine_plan=plan, **options) as host,
        host.open_house_engines(),
    ):
        yield host


def list_house_engines(host: ArenaServer) -> list[str]:
    """Return the names of the listed house engines."""
    listing = host.shell.core._lobby_listing_publisher.build_lobby_listing(0)
    return [each.name for each in listing.bots if each.house]


@pytest.mark.parametrize(
    ("text", "engines"),
    [
        ("none", []),
        ("greedy", [("house-greedy", "greedy")]),
        (
            "greedy, alphabeta:depth=6,exact=yes,random",
            [
                ("house-greedy", "greedy"),
                ("house-alphabeta", "alphabeta:depth=6,exact=yes"),
                ("house-random", "random"),
            ],
        ),
        (
            "minimax:depth=2,minimax:depth=3",
            [("house-minimax", "minimax:depth=2"), ("house-minimax-2", "minimax:depth=3")],
        ),
        ("bots/my_bot.py:Mine", [("house-my_bot", "bots/my_bot.py:Mine")]),
    ],
)
def test_a_list_of_engines_is_parsed(text: str, engines: list[tuple[str, str]]) -> None:
    assert parse_house_engines([text]) == [HouseEngine(*each) for each in engines]
    assert parse_house_engines(text.split(",")) == [HouseEngine(*each) for each in engines]


@pytest.mark.parametrize("text", ["", "greedy,", ",", "x" * 70])
def test_an_invalid_list_is_refused(text: str) -> None:
    with pytest.raises(HouseEngineError, match="is not an engine: write a list such as `greedy"):
        parse_house_engines([text])


async def test_a_house_engine_is_started_for_a_guest_and_ends_with_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mark = f"arena-test-house-{time.monotonic_ns()}"
    monkeypatch.setenv("ARENA_TEST_MARK", mark)
    async with host_with_house(RANDOM) as host, dial(host.url) as guest:
        await guest.hello("guest-1")
        await guest.say(Browse())
        shown = (await guest.hear(Listing)).bots
        assert [(each.name, each.program, each.house) for each in shown] == [
            ("house-random", "random", True),
            ("guest-1", "", False),
        ]
        assert not processes_of(mark), "no client has challenged the engine yet"
        await guest.say(CHALLENGE)
        assert (await guest.hear(ChallengeOver)).outcome == "accepted"
        end = await guest.play(game_of())
        assert end.reason in {EndReason.LINE, EndReason.BOARD_FULL}
        assert processes_of(mark)
    assert all_gone(mark)


async def begin_house_match(guest: Peer) -> Turn:
    """Begin a match of a guest against a house engine, and return the guest's first turn."""
    await guest.say(CHALLENGE)
    assert (await guest.hear(ChallengeOver)).outcome == "accepted"
    await guest.say(Ready((await guest.hear(Start)).match))
    return await guest.hear(Turn)


async def test_a_killed_engine_is_restarted_and_continues_its_match(monkeypatch: pytest.MonkeyPatch) -> None:
    mark = f"arena-test-house-{time.monotonic_ns()}"
    monkeypatch.setenv("ARENA_TEST_MARK", mark)
    notices: list[str] = []
    async with (
        host_with_house(RANDOM, notices, settings=make_private_server_settings(grace_seconds=300)) as host,
        dial(host.url) as guest,
    ):
        await guest.hello("guest-1")
        turn = await begin_house_match(guest)
        for each in processes_of(mark):
            os.kill(each, signal.SIGKILL)
        await guest.say(move_after(turn))
        end = await guest.play(game_of())
        assert end.reason in {EndReason.LINE, EndReason.BOARD_FULL}
    assert len(notices) == 1


@pytest.mark.slow
async def test_an_engine_continues_its_matches_after_a_restart_of_the_server(tmp_path: Path) -> None:
    settings = make_private_server_settings(
        database_url=f"sqlite:///{tmp_path / 'arena.db'}", grace_seconds=300
    )
    async with host_with_house(RANDOM, settings=settings) as host, dial(host.url) as guest:
        session = (await guest.hello("guest-1")).session
        turn = await begin_house_match(guest)
    async with (
        host_with_house(RANDOM, resumed_event_name=OPEN_POOL_EVENT_NAME, settings=settings) as host,
        dial(host.url) as guest,
    ):
        assert host.shell.resumed_match_count == 1
        await guest.hello("guest-1", session=session)
        await guest.say(Ready((await guest.hear(Start)).match))
        assert (await guest.hear(Turn)).moves == turn.moves
        await guest.say(move_after(turn))
        end = await guest.play(game_of())
        assert end.reason in {EndReason.LINE, EndReason.BOARD_FULL}


def move_after(turn: Turn) -> Move:
    """Return the answer to a turn with the first legal move."""
    game = game_of()
    position = game.start()
    for move in turn.moves:
        position = game.play(position, game.move_from_data(move))
    return Move(turn.match, turn.ply, game.move_to_data(game.moves(position)[0]))


async def test_an_unknown_engine_is_reported_and_removed_from_the_listing() -> None:
    notices: list[str] = []
    async with (
        host_with_house(parse_house_engines(["random", "nonsense"]), notices) as host,
        dial(host.url) as guest,
    ):
        await guest.hello("guest-1")
        await guest.say(Challenge("house-nonsense", game="tictactoe", rated=False))
        over = await guest.hear(ChallengeOver)
        assert (over.outcome, over.detail) == ("withdrawn", "house-nonsense cannot be started")
        assert list_house_engines(host) == ["house-random"]
    assert len(notices) == 1
    assert "no engine is called 'nonsense'" in notices[0]


@pytest.mark.slow
async def test_with_checks_engines_an_unknown_engine_is_an_error() -> None:
    notices: list[str] = []
    # On a busy machine, the engine's process may need long to report the error.
    policy = replace(QUICK, connect_timeout_seconds=500, first_match_wait_seconds=0)
    plan = HouseEnginePlan(
        parse_house_engines(["random", "nonsense"]),
        checks_engines_at_start=True,
        report_failure=notices.append,
        restart_policy=policy,
    )
    with pytest.raises(HouseEngineError, match="no engine is called 'nonsense'"):
        async with open_arena_server(house_engine_plan=plan) as host, host.open_house_engines():
            pytest.fail("the server was opened")
    assert notices == []


async def test_with_checks_engines_a_hanging_engine_is_awaited_only_once() -> None:
    notices: list[str] = []
    plan = HouseEnginePlan(
        RANDOM,
        checks_engines_at_start=True,
        report_failure=notices.append,
        restart_policy=replace(QUICK, connect_timeout_seconds=0, backoff_seconds=500),
    )
    async with open_arena_server(house_engine_plan=plan) as host, host.open_house_engines():
        assert list_house_engines(host) == ["house-random"], "the engine is restarted"
    [notice] = notices
    assert "hung: it did not connect within 0 s" in notice


@mark_requires("openssl")
async def test_with_tls_house_engines_connect_without_tls_on_loopback(tmp_path: Path) -> None:
    cert, key = await anyio.to_thread.run_sync(make_certificate, tmp_path, "arena.example")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(cert, key)
    trusting = ssl.create_default_context(cafile=cert)
    async with (
        host_with_house(
            RANDOM, tls=tls, settings=make_private_server_settings(host="0.0.0.0", proxies=["127.0.0.1"])
        ) as host,
        dial(
            host.url.replace("0.0.0.0", "127.0.0.1"), ssl=trusting, server_hostname="arena.example"
        ) as guest,
    ):
        assert host.url.startswith("wss://")
        assert host.loopback_url.startswith("ws://127.0.0.1:")
        await guest.hello("guest-1")
        await guest.say(CHALLENGE)
        assert (await guest.hear(ChallengeOver)).outcome == "accepted"
        await guest.play(game_of())


@pytest.mark.slow
async def test_an_engine_with_other_rules_of_a_game_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = nim(tmp_path, ('name = "nim"', 'name = "nim-of-the-house"'))
    # Otherwise, this process would also tell the bots of later tests about the game.
    forget_games(monkeypatch)
    CATALOGUE.register_game(str(file))
    file.write_text(file.read_text().replace("size = 9", "size = 10"))
    notices: list[str] = []
    plan = HouseEnginePlan(
        RANDOM,
        checks_engines_at_start=True,
        report_failure=notices.append,
        restart_policy=RestartPolicy(max_restarts=0),
        game_names=[f"{file}:Nim"],
    )
    async with open_arena_server(house_engine_plan=plan) as host, host.open_house_engines():
        with anyio.fail_after(500):
            while list_house_engines(host):
                await host.shell.wait_for_next_batch()
    lines = [line for notice in notices for line in notice.splitlines() if "rules" in line]
    assert len(lines) == 1
    assert re.search(
        r"nim-of-the-house has other rules there \(digest \w{16}\) than here \(digest \w{16}\)", lines[0]
    )

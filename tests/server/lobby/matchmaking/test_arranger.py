"""Matches that come about on a running server: by the matchmaker, and by challenge."""

from __future__ import annotations

from collections import Counter
from contextlib import AsyncExitStack

import anyio
import pytest
from msgspec.structs import replace

from arena.protocol.adjudication import Adjudication
from arena.protocol.codes import Code, EndReason
from arena.protocol.engines import EngineInfo, Engines
from arena.protocol.messages import (
    Accept,
    Browse,
    Challenge,
    Challenged,
    ChallengeOver,
    Decline,
    End,
    Error,
    Listing,
    Ready,
    Start,
    Withdraw,
)
from arena.protocol.record import Record
from arena.protocol.timecontrol import TimeControl
from arena.protocol.values import Players
from arena.server.host import Host, open_host
from arena.server.lobby.matchmaking.matchmaker import Offer
from arena.server.net.limits import HostLimits
from arena.server.settings import private
from tests.server.matches import game_of
from tests.server.peer import Peer, dial, enter

FAST = TimeControl.parse("2+0.1")
TICTACTOE = Challenge(game="tictactoe", time_control=FAST)


async def test_bots_that_dial_in_are_kept_busy_with_each_other() -> None:
    game = game_of()
    records: list[Record] = []
    enough = anyio.Event()

    async def tell(record: Record) -> None:
        records.append(record)
        if len(records) == 6:
            enough.set()

    async def bot(host: Host, name: str) -> None:
        async with enter(host, name) as peer:
            while True:
                await peer.play(game)

    offer = Offer(game, FAST, 100, 5000, "open")
    with anyio.fail_after(30):
        async with (
            open_host(private(concurrency=2), offer=offer, on_record=tell) as host,
            anyio.create_task_group() as tasks,
        ):
            for name in ("anna", "bert", "carl"):
                tasks.start_soon(bot, host, name)
            await enough.wait()
            tasks.cancel_scope.cancel()
    met = Counter(frozenset((each.players.maxie, each.players.minnie)) for each in records[:6])
    assert len(met) == 3
    assert all(each.result.reason in (EndReason.LINE, EndReason.BOARD_FULL) for each in records[:6])


async def test_no_more_matches_are_begun_at_once_than_the_host_wants(host: Host) -> None:
    async with AsyncExitStack() as stack:
        peers = [await stack.enter_async_context(enter(host, f"bot {number}")) for number in range(6)]
        offer = Offer(game_of(), TimeControl.parse("60+1"), 100, 30_000, "open")
        host.arranger.change_offer(offer, concurrency=2)
        begun: list[Peer] = []

        async def wait(peer: Peer) -> None:
            await peer.hear(Start)
            begun.append(peer)

        async with anyio.create_task_group() as tasks:
            for peer in peers:
                tasks.start_soon(wait, peer)
            with anyio.fail_after(20):
                while len(begun) < 4:
                    await anyio.sleep(0.01)
            tasks.cancel_scope.cancel()
        assert len(host.rooms) == 2
        host.arranger.change_offer(None)


async def test_a_match_counts_as_many_as_the_threads_that_its_players_ask_for() -> None:
    """On four cores: two bots that ask for three threads play alone, and they are not overtaken without end."""
    met: Counter[int] = Counter()
    game = game_of()

    async def tell(record: Record) -> None:
        engines = record.engines or Engines()
        met[max(each.threads or 1 for each in (engines.maxie, engines.minnie) if each is not None)] += 1

    async def bot(name: str, threads: int) -> None:
        async with enter(host, name, engine=EngineInfo("made-up", {}, threads)) as peer:
            while True:
                await peer.play(game)

    offer = Offer(game, FAST, 100, 5000, "open")
    with anyio.fail_after(30):
        async with (
            open_host(on_record=tell) as host,
            anyio.create_task_group() as tasks,
        ):
            for name, threads in (
                ("anna", 3),
                ("bert", 3),
                ("carl", 1),
                ("dora", 1),
                ("emil", 1),
                ("fred", 6),
            ):
                tasks.start_soon(bot, name, threads)
            host.arranger.change_offer(offer, concurrency=4, by_threads=True)
            while min(met[1], met[3], met[6]) < 2:
                await anyio.sleep(0.01)
                load = sum(room.terms.needed_threads for room in host.rooms.values())
                assert load <= 4 or len(host.rooms) == 1
            tasks.cancel_scope.cancel()


async def test_a_challenge_is_accepted_and_played(host: Host) -> None:
    async with enter(host, "anna") as anna, enter(host, "bert") as bert, anyio.create_task_group() as tasks:
        await anna.say(Challenge("bert", game="tictactoe", time_control=FAST, seat="minnie"))
        offered = await bert.hear(Challenged)
        assert (offered.challenger, offered.seat, offered.rated) == ("anna", "minnie", True)
        assert (await anna.hear(Challenged)) == offered
        await bert.say(Accept(offered.challenge))
        over = await anna.hear(ChallengeOver)
        assert over.outcome == "accepted"
        tasks.start_soon(anna.play, game_of())
        start = await bert.hear(Start)
        assert (start.match, start.seat) == (over.match, "maxie")
        await bert.say(Ready(start.match))
        assert (await bert.play(game_of())).reason is EndReason.LINE


async def test_the_rules_of_adjudication_hold_for_the_pool_and_for_challenges() -> None:
    game, rules = game_of(), Adjudication(limit=2)
    records: list[Record] = []

    async def tell(record: Record) -> None:
        records.append(record)

    async def bots(host: Host) -> None:
        async with (
            enter(host, "anna") as anna,
            enter(host, "bert") as bert,
            anyio.create_task_group() as tasks,
        ):
            for peer in (anna, bert):
                tasks.start_soon(peer.play, game)

    offer = Offer(game, FAST, 100, 5000, "open")
    with anyio.fail_after(30):
        async with open_host(private(adjudication=rules), offer=offer, on_record=tell) as host:
            await bots(host)
        async with open_host(private(adjudication=rules), on_record=tell) as host:
            async with enter(host, "anna") as anna, enter(host, "bert") as bert:
                await anna.say(Challenge("bert", game="tictactoe", time_control=FAST))
                await bert.say(Accept((await bert.hear(Challenged)).challenge))
                async with anyio.create_task_group() as tasks:
                    for peer in (anna, bert):
                        tasks.start_soon(peer.play, game)
            while len({each.match for each in records}) < 2:
                await anyio.sleep(0.01)
    for record in records:
        assert (record.adjudication, len(record.moves)) == (rules, 2)
        assert record.result.reason is EndReason.ADJUDICATED


@pytest.mark.parametrize("answer", ["decline", "withdraw"])
async def test_a_challenge_can_be_declined_and_withdrawn(host: Host, answer: str) -> None:
    async with enter(host, "anna") as anna, enter(host, "bert") as bert:
        await anna.say(Challenge("bert", game="tictactoe"))
        id = (await bert.hear(Challenged)).challenge
        await (bert.say(Decline(id, "busy")) if answer == "decline" else anna.say(Withdraw(id)))
        for peer in (anna, bert):
            over = await peer.hear(ChallengeOver)
            assert over.outcome == ("declined" if answer == "decline" else "withdrawn")
        await bert.say(Accept(id))
        assert (await bert.hear(Error)).code is Code.NO_SUCH_CHALLENGE


async def test_an_open_challenge_is_seen_by_who_browses_and_taken_by_the_first(host: Host) -> None:
    async with enter(host, "anna") as anna, enter(host, "bert") as bert, enter(host, "carl") as carl:
        await bert.say(Browse())
        assert (await bert.hear(Listing)).challenges == []
        await anna.say(Challenge(map="path4", time_control=FAST))
        while not (seen := (await bert.hear(Listing)).challenges):
            pass
        await bert.say(Accept(seen[0].challenge))
        await carl.say(Accept(seen[0].challenge))
        assert (await bert.hear(ChallengeOver)).outcome == "accepted"
        assert (await carl.hear(Error)).code is Code.NO_SUCH_CHALLENGE
        match = (await bert.hear(Start)).match
        while not (listed := (await bert.hear(Listing)).matches):
            pass
        assert [(each.match, each.map) for each in listed] == [(match, "path4")]


async def test_a_challenge_that_is_never_answered_keeps_nobody_from_the_pool() -> None:
    settings = private()
    settings.matches.answer_seconds = 0.2
    async with (
        open_host(settings) as host,
        enter(host, "anna") as anna,
        enter(host, "bert") as bert,
        enter(host, "carl") as carl,
    ):
        await carl.say(Challenge("anna", game="tictactoe", time_control=FAST))
        await anna.hear(Challenged)
        offer = Offer(game_of(), TimeControl.parse("60+1"), 100, 30_000, "open")
        host.arranger.change_offer(offer, concurrency=2)
        first = await bert.hear(Start)
        assert first.players in (Players("bert", "carl"), Players("carl", "bert"))
        # Two move on to matches of their own; anna is not held for the 60 s that the challenge is open.
        async with enter(host, "dora"):
            with anyio.fail_after(20):
                players = (await anna.hear(Start)).players
                assert "anna" in (players.maxie, players.minnie)
        host.arranger.change_offer(None)


async def test_who_leaves_takes_its_challenges_along(host: Host) -> None:
    async with enter(host, "bert") as bert:
        async with enter(host, "anna") as anna:
            await anna.say(Challenge("bert", game="tictactoe"))
            await bert.hear(Challenged)
        assert (await bert.hear(ChallengeOver)).outcome == "withdrawn"


@pytest.mark.parametrize(
    ("challenge", "why"),
    [
        (Challenge("nobody"), "no bot called 'nobody'"),
        (Challenge("anna"), "against itself"),
        (Challenge(game="chess"), "no game is called"),
        (Challenge(map="nowhere"), "no such map"),
        (Challenge(map="/etc/passwd.toml"), "a map is named"),
        (Challenge(map="grid:9999x9999"), "grid:WxH"),
    ],
)
async def test_a_challenge_that_cannot_be_is_refused(host: Host, challenge: Challenge, why: str) -> None:
    async with enter(host, "anna") as anna:
        await anna.say(challenge)
        error = await anna.hear(Error)
        assert error.code is Code.BAD_CHALLENGE
        assert why in error.detail


async def test_a_bot_is_challenged_only_to_what_it_said_it_plays(host: Host) -> None:
    token = host.issue_token("bert")
    async with enter(host, "anna") as anna, dial(host.url) as bert:
        await bert.hello("bert", token, games=["riskless"], maps=["m1"], time_controls=["1+0"])
        for challenge, why in (
            (Challenge("bert", game="tictactoe"), "plays riskless only"),
            (Challenge("bert", map="m2"), "on m1 only"),
            (Challenge("bert", map="m1"), "at 1+0 only"),
        ):
            await anna.say(challenge)
            assert why in (await anna.hear(Error)).detail
        await anna.say(Challenge("bert", map="m1", time_control=TimeControl.parse("1+0")))
        await bert.hear(Challenged)


async def test_two_challenges_accepted_at_once_start_no_more_than_the_bot_takes(host: Host) -> None:
    async with enter(host, "anna") as anna, enter(host, "bert") as bert, enter(host, "carl") as carl:
        for challenger in (bert, carl):
            await challenger.say(Challenge("anna", game="tictactoe"))
        ids = [(await anna.hear(Challenged)).challenge for _ in range(2)]
        for id in ids:
            await anna.say(Accept(id))
        outcomes = [(await anna.hear(ChallengeOver)).outcome for _ in range(2)]
        assert outcomes == ["accepted", "refused"]
        assert len(host.lobby.member("anna").matches) == 1


async def test_a_bot_that_keeps_failing_is_suspended_and_comes_back_when_mended(host: Host) -> None:
    host.arranger.change_offer(Offer(game_of(), FAST, 100, 200, "open"))
    with anyio.fail_after(20):
        async with enter(host, "anna"), enter(host, "bert"):
            # neither gets ready: both forfeit
            while not all(host.lobby.member(name).suspended for name in ("anna", "bert")):
                await anyio.sleep(0.02)
            assert "3 matches in a row forfeited, the last by no_show" in host.lobby.member("anna").suspended
    async with enter(host, "anna"), enter(host, "bert") as bert:
        await bert.hear(Start)
        assert (await bert.hear(End)).reason is EndReason.NO_SHOW


async def test_a_map_is_made_only_where_the_challenge_may_be_opened_and_it_is_small_enough() -> None:
    async with (
        open_host(private(limits=HostLimits(territories=200, open_challenges=1))) as host,
        enter(host, "anna") as anna,
    ):
        largest = Challenge(map="grid:10x20", time_control=FAST)
        await anna.say(replace(largest, map="grid:31x32"))
        error = await anna.hear(Error)
        assert error.code is Code.BAD_CHALLENGE
        assert "grid:31x32 has 992 territories" in error.detail
        assert "up to 200" in error.detail
        await anna.say(largest)
        assert (await anna.hear(Challenged)).map == "grid:10x20"
        # Its open challenges are looked at before the name of a map is.
        await anna.say(replace(largest, map="nowhere"))
        assert (await anna.hear(Error)).code is Code.RATE_LIMITED


async def test_an_address_that_challenges_too_much_is_refused_and_keeps_its_connection() -> None:
    async with (
        open_host(private(limits=HostLimits(work_ms_per_second=1))) as host,  # 20 ms are saved up
        enter(host, "anna") as anna,
    ):
        codes = []
        for _ in range(30):
            await anna.say(Challenge("nobody"))
            codes.append((await anna.hear(Error)).code)
        assert codes[:10] == [Code.BAD_CHALLENGE] * 10
        assert codes[-1] is Code.RATE_LIMITED

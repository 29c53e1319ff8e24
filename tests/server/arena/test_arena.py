"""Several servers as one arena: bots on different servers play, watch and challenge as if there were one."""

from __future__ import annotations

import asyncio
import base64
import urllib.error
import urllib.request
from random import Random
from time import monotonic_ns

import anyio
import pytest

from arena.games.core import Player as GamePlayer
from arena.match.events import Resigned
from arena.match.referee import Referee
from arena.protocol.codes import Code, EndReason
from arena.protocol.messages import (
    Accept,
    Browse,
    Challenge,
    Challenged,
    ChallengeOver,
    End,
    Error,
    Hello,
    Listing,
    Move,
    Ping,
    Pong,
    Ready,
    Standing,
    Start,
    Status,
    Turn,
    Unwatch,
    Update,
    View,
    Watch,
)
from arena.protocol.timecontrol import TimeControl
from arena.server.arena.messages import Ended, Opened
from arena.server.bus.local import Exchange
from arena.server.host import Host
from arena.server.lobby.house import HousePlan
from arena.server.lobby.matchmaking.matchmaker import OPEN_EVENT
from arena.server.lobby.roster import house_bots
from arena.server.store.journal.reader import begun, events_of, records_of
from testkit.players import Player
from tests.server.arena.arenas import arena, offer, playing, until
from tests.server.arena.ends import told
from tests.server.arena.lossy import LossyBus
from tests.server.matches import game_of, spec
from tests.server.peer import Peer, dial, enter


async def test_bots_of_different_servers_play_rated_matches_to_their_ends(database: str) -> None:
    async with arena(database, 2, offer=offer()) as (one, other):
        anna, bert = Player(one.url, "anna"), Player(other.url, "bert")
        async with playing(anna, bert):
            await until(lambda: sum(map(len, anna.ends.values())) >= 3)
            await until(lambda: set(anna.ends) <= set(bert.ends))
        records = await records_of(one.engine, OPEN_EVENT)
    # The end is told before the record is in the store.
    kept = [record for record in records if record.match in anna.ends and record.match in bert.ends]
    assert len(kept) >= 2
    for record in kept:
        assert record.result.reason in (EndReason.LINE, EndReason.BOARD_FULL)
        (end,) = anna.ends[record.match]
        assert (end,) == tuple(bert.ends[record.match])
        assert [each.move for each in record.moves] == list(end.moves)
    assert not anna.refused
    assert not bert.refused


@pytest.mark.parametrize("seed", range(3))
async def test_matches_end_right_over_a_bus_that_loses_repeats_and_reorders(
    postgresql_database: str, seed: int
) -> None:
    random, exchange, buses = Random(seed), Exchange(), list[LossyBus]()

    def join() -> LossyBus:
        buses.append(LossyBus(exchange.join(), random, loses=0.1, repeats=0.1, late=0.3))
        return buses[-1]

    async with arena(postgresql_database, 3, join, offer=offer()) as hosts:
        players = [Player(hosts[number % 3].url, f"b{number}") for number in range(6)]
        async with playing(*players):
            await until(lambda: all(len(player.ends) >= 4 for player in players), 60)
        records = {each.match: each for each in await records_of(hosts[0].engine, OPEN_EVENT)}
    assert sum(bus.lost for bus in buses) > 20
    assert {record.result.reason for record in records.values()} <= {EndReason.LINE, EndReason.BOARD_FULL}
    for player in players:
        assert not player.refused
        for (match, ply), move in player.acknowledged.items():
            if match in records:
                assert records[match].moves[ply].move == move


async def test_a_challenge_goes_to_a_bot_of_another_server_and_both_play(postgresql_database: str) -> None:
    game = game_of()
    async with arena(postgresql_database, 3) as hosts:
        office = next(host for host in hosts if host.arena.office.here)
        one, other = [host for host in hosts if host is not office]
        async with enter(one, "anna") as anna, enter(other, "bert") as bert:
            await until(lambda: all(len(host.lobby.connected()) == 2 for host in hosts))
            await anna.say(Challenge("bert", game="tictactoe"))
            asked = await bert.hear(Challenged)
            assert asked.challenger == "anna"
            await anna.hear(Challenged)
            async with dial(office.url) as eve:
                await eve.hello("eve", role="spectator")
                await eve.say(Browse())
                while not (shown := await eve.hear(Listing)).challenges:
                    pass
                assert {each.name for each in shown.bots} == {"anna", "bert"}
            await bert.say(Accept(asked.challenge))
            assert (await anna.hear(ChallengeOver)).outcome == "accepted"
            ends: list[End] = []

            async def play(peer: Peer) -> None:
                ends.append(await peer.play(game))

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(play, anna)
                tasks.start_soon(play, bert)
            assert ends[0] == ends[1]
            await anna.say(Challenge("nobody", game="tictactoe"))
            assert (await anna.hear(Error)).code is Code.BAD_CHALLENGE


async def test_a_match_is_watched_from_any_server_and_listed_by_all(postgresql_database: str) -> None:
    game = game_of()
    async with arena(postgresql_database, 3) as hosts:
        one, other, third = hosts
        async with enter(one, "anna") as anna, enter(other, "bert") as bert:
            await until(lambda: all(len(host.lobby.connected()) == 2 for host in hosts))
            await anna.say(Challenge("bert", game="tictactoe", seat="maxie"))
            await bert.say(Accept((await bert.hear(Challenged)).challenge))
            start = await anna.hear(Start)
            await bert.hear(Start)
            for peer in (anna, bert):
                await peer.say(Ready(start.match))
            for host in hosts:
                async with dial(host.url) as eve:
                    await eve.hello("eve", role="spectator")
                    await eve.say(Browse())
                    (live,) = (await eve.hear(Listing)).matches
                    assert live.match == start.match
            eyes = []
            async with dial(one.url) as eve, dial(other.url) as ewa, dial(third.url) as ida:
                for number, peer in enumerate((eve, ewa, ida)):
                    await peer.hello(f"eye{number}", role="spectator")
                    await peer.say(Watch(start.match))
                    assert (await peer.hear(View)).moves == []
                turn = await anna.hear(Turn)
                await anna.say(Move(start.match, 0, game.move_to_data(game.moves(game.start())[0])))
                assert turn.ply == 0
                for peer in (eve, ewa, ida):
                    assert (await peer.hear(Update)).ply == 0
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(anna.play, game)
                    tasks.start_soon(bert.play, game)
                for peer in (eve, ewa, ida):
                    eyes.append(await peer.hear(End))
            assert [(each.winner, each.moves) for each in eyes[1:]] == [(eyes[0].winner, eyes[0].moves)] * 2


async def test_a_name_is_taken_everywhere_and_its_session_moves_its_bot_to_another_server(
    postgresql_database: str,
) -> None:
    async with arena(postgresql_database, 2) as (one, other):
        async with dial(one.url) as anna:
            session = (await anna.hello("anna")).session
            await until(lambda: other.lobby.find("anna") is not None)
            async with dial(other.url) as thief:
                await thief.say(Hello("anna"))
                assert (await thief.hear(Error)).code is Code.NAME_TAKEN
            async with dial(other.url) as moved:
                assert (await moved.hello("anna", session=session)).session == session
                assert (await anna.hear(Error)).code is Code.REPLACED
                await moved.say(Status())
                assert (await moved.hear(Standing)).state == "idle"
        await until(lambda: one.lobby.find("anna") is None)
        async with dial(one.url) as again:
            assert (await again.hello("anna")).session != session


async def test_the_journal_of_a_match_between_servers_replays_to_its_record(postgresql_database: str) -> None:
    async with arena(postgresql_database, 2, offer=offer()) as (one, other):
        anna, bert = Player(one.url, "anna"), Player(other.url, "bert")
        async with playing(anna, bert):
            await until(lambda: len(anna.ends) >= 2)
        (record, *_) = await records_of(one.engine, OPEN_EVENT)
        happened = await events_of(one.engine, record.match)
        terms = (await begun(one.engine, record.match))[0].terms
    referee = Referee(terms)
    for at, event in happened:
        referee.handle(event, at)
    assert referee.moves == record.moves


async def test_no_match_begins_for_a_bot_that_was_told_that_it_gets_no_more(postgresql_database: str) -> None:
    exchange, buses = Exchange(), list[LossyBus]()

    def join() -> LossyBus:
        buses.append(LossyBus(exchange.join(), Random(1), loses=0, repeats=0, late=0))
        return buses[-1]

    async with arena(postgresql_database, 2, join) as hosts:
        office, other = sorted(hosts, key=lambda host: not host.arena.office.here)
        async with enter(other, "anna") as anna, enter(office, "bert"):
            await until(lambda: all(len(host.lobby.connected()) == 2 for host in hosts))
            # The matchmaker gives a match, and what it tells of that does not arrive at once.
            for bus in buses:
                bus.away = True
            office.arranger.change_offer(offer(), concurrency=20)
            await until(lambda: office.rooms)
            await anna.say(Status(0))
            await anna.say(Ping())
            assert isinstance(await anna.next(), Pong)
            for bus in buses:
                bus.away = False
            begun, standing = await anna.next(), await anna.next()
            assert isinstance(begun, Start)
            assert isinstance(standing, Standing)
            assert (standing.quota, standing.detail) == (0, "takes no more matches; 1 in play")


async def test_while_the_bus_is_away_matches_inside_a_server_go_on_and_others_stand_still(
    postgresql_database: str,
) -> None:
    game, exchange, buses = game_of(), Exchange(), list[LossyBus]()

    def join() -> LossyBus:
        buses.append(LossyBus(exchange.join(), Random(1), loses=0, repeats=0, late=0))
        return buses[-1]

    async with (
        arena(postgresql_database, 2, join) as (one, other),
        enter(one, "anna") as anna,
        enter(other, "bert") as bert,
        enter(other, "carl") as carl,
        enter(other, "dora") as dora,
    ):
        await until(lambda: all(len(host.lobby.connected()) == 4 for host in (one, other)))
        control = TimeControl.parse("1+0.1")
        for asks, takes in ((anna, bert), (carl, dora)):
            await asks.say(
                Challenge(takes.welcome.name, game="tictactoe", time_control=control, seat="maxie")
            )
            await takes.say(Accept((await takes.hear(Challenged)).challenge))
            for peer in (asks, takes):
                await peer.say(Ready((await peer.hear(Start)).match))
        turn = await anna.hear(Turn)
        for bus in buses:
            bus.away = True
        async with anyio.create_task_group() as tasks:
            for peer in (carl, dora):
                tasks.start_soon(peer.play, game)
        await until(
            lambda: all(
                "stand still" in host.membership.trouble() for host in (one, other) if host.membership
            )
        )
        for peer in (anna, bert):
            assert "stands still" in (await peer.hear(Standing)).detail
        await anna.say(Move(turn.match, 0, game.move_to_data(game.moves(game.start())[0])))
        await anyio.sleep(2.5)  # longer than both clocks
        for bus in buses:
            bus.away = False
        ends: list[End] = []

        async def play(peer: Peer) -> None:
            ends.append(await peer.play(game))

        with anyio.fail_after(20):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(play, anna)
                tasks.start_soon(play, bert)
        assert {end.reason for end in ends} <= {EndReason.LINE, EndReason.BOARD_FULL}


async def test_a_house_engine_is_played_from_every_server_and_runs_once(postgresql_database: str) -> None:
    game = game_of()
    plan = HousePlan(house_bots("greedy"))
    async with arena(postgresql_database, 2, house=plan) as hosts:
        office, other = sorted(hosts, key=lambda host: not host.arena.office.here)
        for host in (other, office):
            async with enter(host, f"anna at {host.name}") as anna:
                await until(lambda: all(len(each.arena.links.all) == 1 for each in hosts))
                await anna.say(Challenge("house-greedy", game="tictactoe", rated=False))
                with anyio.fail_after(30):
                    assert (await anna.play(game)).reason in (EndReason.LINE, EndReason.BOARD_FULL)
        shown = [each for each in other.listing().bots if each.name == "house-greedy"]
        assert len(shown) == 1
        assert shown[0].house
        (house,) = [each for each in other.lobby.connected() if each.name == "house-greedy"]
        assert not house.here


async def test_what_a_bot_says_of_challenges_waits_for_the_next_matchmaker(postgresql_database: str) -> None:
    async with arena(postgresql_database, 2) as hosts:
        office, other = sorted(hosts, key=lambda host: not host.arena.office.here)
        async with enter(other, "anna") as anna, enter(other, "bert") as bert:
            await until(lambda: all(len(host.lobby.connected()) == 2 for host in hosts))
            await anna.say(Challenge("bert", game="tictactoe"))
            await bert.hear(Challenged)
            await office.hand_on()
            await anna.say(Challenge("bert", game="tictactoe", rated=False))
            assert (await anna.hear(ChallengeOver)).outcome == "withdrawn"
            while (asked := await bert.hear(Challenged)).rated:
                pass
            await until(lambda: other.arena.office.here)
            await bert.say(Accept(asked.challenge))
            assert (await bert.hear(Start)).players.minnie in ("anna", "bert")


async def test_nothing_more_is_shown_of_a_match_that_nobody_watches_any_more(
    postgresql_database: str,
) -> None:
    async with (
        arena(postgresql_database, 2) as (one, other),
        enter(one, "anna") as anna,
        enter(one, "bert") as bert,
        dial(other.url) as eve,
    ):
        await until(lambda: len(other.lobby.connected()) == 2)
        await anna.say(Challenge("bert", game="tictactoe"))
        await bert.say(Accept((await bert.hear(Challenged)).challenge))
        start = await anna.hear(Start)
        await until(lambda: start.match in other.arena.elsewhere)
        await eve.hello("eve", role="spectator")
        await eve.say(Watch(start.match))
        await eve.hear(View)
        (room,) = one.rooms.values()
        assert len(room.spectators) == 1
        assert other.arena.view(start.match) is not None
        await eve.say(Unwatch(start.match))
        await until(lambda: len(room.spectators) == 0)
        assert other.arena.view(start.match) is None


async def test_a_guest_reads_its_log_from_any_server(postgresql_database: str) -> None:
    game = game_of()
    plan = HousePlan(house_bots("greedy"))
    async with (
        arena(postgresql_database, 2, house=plan, anyone=False) as (one, other),
        dial(one.url) as guest,
    ):
        secret = (await guest.hello("guest-1")).session
        await guest.say(Challenge("house-greedy", game="tictactoe", rated=False))
        with anyio.fail_after(30):
            end = await guest.play(game)
        await until(lambda: "guest-1" in {each.name for each in other.lobby.connected()})
        for host in (one, other):
            address = host.url.replace("ws:", "http:") + f"/api/log/{end.match}"
            for given, status in ((secret, 200), ("wrong", 401)):
                asked = urllib.request.Request(address)
                coded = base64.b64encode(f"guest-1:{given}".encode()).decode()
                asked.add_header("Authorization", f"Basic {coded}")
                assert await asyncio.to_thread(_status, asked) == status


async def test_who_is_told_late_of_a_match_that_is_over_is_told_that_too(host: Host) -> None:
    """Its players are free already, and its record is on its way into the store."""
    async with enter(host, "anna"), enter(host, "bert"):
        room = host.matches.open(spec("anna", "bert"))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(room.run)  # and nobody takes it out of the rooms afterwards
            room.take(Resigned(GamePlayer.MAXIE), monotonic_ns())
        host.arena.links.follow({"south": 1})
        (link,) = host.arena.links.all
        heard = told(link)
    (opened,) = (each for each in heard if isinstance(each, Opened))
    assert opened.live.match == room.terms.match
    assert heard[heard.index(opened) + 1] == Ended(room.terms.match)


def _status(asked: urllib.request.Request) -> int:
    try:
        with urllib.request.urlopen(asked) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code

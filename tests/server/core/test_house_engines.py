"""House engines, their queue, and guests."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from arena.games.catalogue import make_game
from arena.maps.loader import list_map_names
from arena.protocol.codes import Code
from arena.protocol.messages import (
    Accept,
    Challenge,
    Challenged,
    ChallengeOver,
    Error,
    Hello,
    Queued,
    Ready,
    Resign,
    Standing,
    Start,
    Status,
    Turn,
    Withdraw,
)
from arena.protocol.timecontrol import TimeControl
from arena.server.core import guests
from arena.server.core.effects import StartHouseEngine
from arena.server.core.guests import (
    GUEST_REQUEST_BURST,
    GUEST_START_BURST,
    SLOTS_PER_ADDRESS,
    find_guest_refusal_reason,
)
from arena.server.core.house_engines import MAX_BOT_TOTAL_MS
from arena.server.core.house_queue import MAX_QUEUED_CHALLENGES, HouseQueue, Requester
from arena.server.core.inputs import BotCrashed, HouseEngineFailed, StartDraining
from arena.server.core.settings import MATCHES_PER_HOUSE_ENGINE, HouseEngine, Pool, PoolGame
from tests.server.core.arena import TICTACTOE, Arena, Peer

HOUSE = "house-greedy"
FINE = Challenge(HOUSE, game="tictactoe", time_control=TimeControl.parse("300+3"), rated=False)
GUESTS_FINE = replace(FINE, game="riskless", map="m2")


def home(**settings: Any) -> Arena:
    return Arena(house=(HouseEngine(HOUSE, "greedy"),), **settings)


def house(arena: Arena) -> Peer:
    return arena.enter(Hello(HOUSE, matches=MATCHES_PER_HOUSE_ENGINE, pool=False), local=True)


def guest(arena: Arena, number: int, address: str) -> Peer:
    return arena.enter(f"guest-{number}", owner=address, guest=True)


# the queue

BOTS = {"a": 4, "b": 4}
PLACES = sum(BOTS.values())
askers = st.builds(Requester, st.sampled_from([f"192.0.2.{number}" for number in range(5)]), st.booleans())


def anybody(_challenge: str) -> bool:
    return True


def requester(number: int) -> Requester:
    return Requester(f"192.0.2.{number}", is_guest=True)


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("asks"), askers, st.sampled_from(sorted(BOTS))),
            st.tuples(st.sampled_from(["over", "lost"]), st.integers(0, 30), st.none()),
        ),
        max_size=60,
    )
)
def test_nobody_has_more_than_its_share_and_no_place_stays_empty_that_somebody_may_have(
    happenings: list[tuple[str, Requester | int, str | None]],
) -> None:
    queue = HouseQueue()
    asked: dict[str, tuple[str, Requester]] = {}
    waiting: set[str] = set()
    taken: set[str] = set()
    for number, (what, who, bot) in enumerate(happenings):
        if isinstance(who, Requester) and bot is not None:
            asked[f"c{number}"] = bot, who
            waiting.add(f"c{number}")
            assert queue.enqueue(f"c{number}", bot, who) is None
        elif isinstance(who, int) and taken:
            gone = sorted(taken)[who % len(taken)]
            taken.remove(gone)
            if what == "lost":
                queue.requeue(gone, asked[gone][0])
                waiting.add(gone)
            else:
                queue.remove(gone)
        busy = Counter(asked[each][0] for each in taken)
        free = {each: BOTS[each] - busy[each] for each in BOTS}
        for challenge, offered_to in queue.pop_next_offers(PLACES, free, anybody):
            assert asked[challenge][0] == offered_to
            waiting.remove(challenge)
            taken.add(challenge)
        assert set(queue.list_queue_places()) == waiting
        having = [asked[each] for each in taken]
        by_bot = Counter(each for each, _ in having)
        by_asker = Counter(each for _, each in having)
        by_group = Counter(each.is_guest for _, each in having)
        assert all(count <= BOTS[each] for each, count in by_bot.items())
        for each, count in by_asker.items():
            assert count <= (SLOTS_PER_ADDRESS if each.is_guest else PLACES // 2)
        assert max(by_group.values(), default=0) <= PLACES * 3 // 4
        for challenge in waiting:
            to, each = asked[challenge]
            full = (
                by_bot[to] == BOTS[to]
                or by_asker[each] == (SLOTS_PER_ADDRESS if each.is_guest else PLACES // 2)
                or by_group[each.is_guest] == PLACES * 3 // 4
            )
            assert full, f"{challenge} could have had a place"
        for to in BOTS:
            places = sorted(
                place for each, place in queue.list_queue_places().items() if asked[each][0] == to
            )
            assert places == list(range(1, len(places) + 1))


@given(st.lists(st.integers(SLOTS_PER_ADDRESS, 30), min_size=2, max_size=6), st.integers(1, 4))
def test_owners_that_always_wait_are_served_as_often_as_each_other(sizes: list[int], free: int) -> None:
    """However many more challenges each of them has waiting than it may have places."""
    queue = HouseQueue()
    numbers = dict.fromkeys(range(len(sizes)), 0)
    served: Counter[int] = Counter()

    def ask(address: int) -> None:
        numbers[address] += 1
        queue.enqueue(f"{address} {numbers[address]}", "a", requester(address))

    for address, size in enumerate(sizes):
        for _ in range(size):
            ask(address)
    for _ in range(10 * len(sizes)):
        for challenge, _ in queue.pop_next_offers(2 * PLACES, {"a": free}, anybody):
            address = int(challenge.split()[0])
            served[address] += 1
            queue.remove(challenge)
            ask(address)
    assert max(served.values()) - min(served[each] for each in numbers) <= SLOTS_PER_ADDRESS


def test_a_newcomer_has_its_turn_after_the_next_turn_of_an_owner_with_many_challenges() -> None:
    queue = HouseQueue()
    for number in range(50):
        queue.enqueue(f"many {number}", "a", requester(1))
    queue.enqueue("one", "a", requester(2))
    assert queue.list_queue_places()["one"] == 2
    assert [challenge for challenge, _ in queue.pop_next_offers(PLACES, {"a": 2}, anybody)] == [
        "many 0",
        "one",
    ]


def test_a_full_queue_drops_a_challenge_of_the_owner_with_the_most() -> None:
    queue = HouseQueue()
    for number in range(MAX_QUEUED_CHALLENGES):
        assert queue.enqueue(f"many {number}", "a", requester(1)) is None
    assert queue.enqueue("one", "a", requester(2)) == f"many {MAX_QUEUED_CHALLENGES - 1}"


# in an arena


def test_before_its_engine_runs_a_challenge_waits_and_has_it_started() -> None:
    arena = home()
    peer = guest(arena, 1, "x")
    peer.say(GUESTS_FINE)
    assert arena.of(StartHouseEngine) == [StartHouseEngine(HOUSE)]
    assert peer.hear(Challenged).expires_ms == 1_800_000
    assert peer.hear(Queued).place == 1
    engine = house(arena)
    arena.wait(50)
    message = engine.hear(Challenged)
    assert (message.challenger, message.expires_ms) == ("guest-1", 60_000)
    engine.say(Accept(message.challenge))
    assert peer.hear(ChallengeOver).outcome == "accepted"
    assert peer.hear(Start).players.maxie in ("guest-1", HOUSE)


def test_a_waiting_challenger_is_sent_its_place_and_each_change() -> None:
    arena = home()
    engine = house(arena)
    playing = []
    for number in range(SLOTS_PER_ADDRESS):
        peer = guest(arena, number, "x")
        peer.say(GUESTS_FINE)
        engine.say(Accept(engine.hear(Challenged).challenge))
        playing.append((peer, peer.hear(Start).match))
    waiting = []
    for number in range(10, 12):
        peer = guest(arena, number, "x")
        peer.say(GUESTS_FINE)
        assert peer.hear(Queued).place == number - 9
        waiting.append(peer)
    peer, match = playing[0]
    peer.say(Resign(match))
    arena.wait(50)
    message = engine.hear(Challenged)
    assert message.challenger == "guest-10"
    assert waiting[1].hear(Queued).place == 1
    engine.say(Accept(message.challenge))
    assert waiting[0].hear(ChallengeOver).outcome == "accepted"


def test_the_bots_of_one_owner_have_half_of_the_places() -> None:
    arena = home()
    engine = house(arena)
    peers = [
        arena.enter(f"bot {number}", owner=owner)
        for number, owner in enumerate(["x"] * MATCHES_PER_HOUSE_ENGINE + ["y"])
    ]
    for peer in peers:
        peer.say(FINE)
    names = [each.challenger for each in engine.all(Challenged)]
    assert names == ["bot 0", "bot 1", f"bot {MATCHES_PER_HOUSE_ENGINE}"]
    assert [peers[number].hear(Queued).place for number in (2, 3)] == [1, 2]


def test_a_challenger_that_plays_another_match_is_passed_over_until_that_is_over() -> None:
    arena = home()
    anna, bert, carl = arena.enter("anna"), arena.enter("bert"), arena.enter("carl")
    anna.say(FINE)
    carl.say(FINE)
    match = arena.begin(anna, bert)
    engine = house(arena)
    arena.wait(1_000)
    assert [each.challenger for each in engine.all(Challenged)] == ["carl"]
    anna.say(Resign(match))
    arena.wait(1_000)
    assert [each.challenger for each in engine.all(Challenged)] == ["carl", "anna"]


@pytest.mark.parametrize("way", ["withdraws", "leaves"])
def test_a_bot_that_leaves_gives_its_place_to_the_next(way: str) -> None:
    arena = home()
    engine = house(arena)
    peers = [guest(arena, number, "x") for number in range(SLOTS_PER_ADDRESS + 1)]
    for peer in peers:
        peer.say(GUESTS_FINE)
    ids = [peer.hear(Challenged).challenge for peer in peers]
    assert peers[-1].hear(Queued).place == 1
    if way == "withdraws":
        peers[0].say(Withdraw(ids[0]))
    else:
        peers[0].leave()
    arena.wait(50)
    assert [each.challenge for each in engine.all(Challenged)] == ids


def test_an_engine_that_comes_back_is_told_again_and_goes_on_with_its_matches() -> None:
    arena = home()
    engine, peer, other = house(arena), guest(arena, 1, "x"), arena.enter("anna")
    other.say(FINE)
    engine.say(Accept(engine.hear(Challenged).challenge))
    match = other.hear(Start).match
    for each in (engine, other):
        each.say(Ready(match))
    peer.say(GUESTS_FINE)
    message = engine.hear(Challenged)
    arena.give(BotCrashed(HOUSE, "killed"))
    engine.leave()
    again = house(arena)
    arena.wait(50)
    assert again.hear(Start).match == match, "nobody wins by our crash"
    assert again.hear(Challenged).challenge == message.challenge
    again.say(Accept(message.challenge))
    assert peer.hear(ChallengeOver).outcome == "accepted"


def test_an_engine_that_leaves_takes_its_own_challenges_along() -> None:
    arena = home()
    engine = house(arena)
    engine.say(TICTACTOE)
    engine.leave()
    assert arena.listing().challenges == []


def test_an_engine_that_cannot_be_started_is_listed_no_more() -> None:
    arena = home()
    peer = guest(arena, 1, "x")
    peer.say(GUESTS_FINE)
    arena.give(HouseEngineFailed(HOUSE))
    assert peer.hear(ChallengeOver).detail == f"{HOUSE} cannot be started"
    assert arena.listing().bots[0].name == "guest-1"


@pytest.mark.parametrize("is_guest", [True, False])
def test_a_match_with_the_house_is_bounded_as_a_whole(is_guest: bool) -> None:
    arena = home()
    engine = house(arena)
    peer = guest(arena, 1, "x") if is_guest else arena.enter("ada")
    longest = TimeControl.parse("900+10")
    peer.say(replace(GUESTS_FINE, time_control=longest, seat="maxie"))
    engine.say(Accept(engine.hear(Challenged).challenge))
    match = peer.hear(Start).match
    for each in (peer, engine):
        each.say(Ready(match))
    total = guests.MAX_GUEST_TOTAL_MS if is_guest else MAX_BOT_TOTAL_MS
    assert peer.hear(Turn).clocks.maxie_ms == min(total, longest.base_ms)
    assert arena.unfinished()[0].terms.total_ms == total


def test_a_match_that_goes_on_after_a_restart_keeps_its_place_and_wants_its_engine() -> None:
    arena = home(grace_ms=20_000)
    engine = house(arena)
    for number in range(3):
        guest(arena, number, f"address {number}").say(GUESTS_FINE)
        engine.say(Accept(engine.hear(Challenged).challenge))
    after = arena.restored()
    assert after.of(StartHouseEngine) == [StartHouseEngine(HOUSE)] * 3
    house(after)
    peer = guest(after, 9, "address 9")
    peer.say(GUESTS_FINE)
    assert peer.hear(Queued).place == 1, "guests together have three of four places, and these are taken"


def test_a_core_that_drains_offers_nothing_to_engines() -> None:
    arena = home()
    peer = guest(arena, 1, "x")
    peer.say(GUESTS_FINE)
    arena.give(StartDraining())
    engine = house(arena)
    arena.wait(10_000)
    assert not engine.all(Challenged)


# guests


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({}, None),
        ({"game": "tictactoe", "map": "anything"}, None),
        ({"time_control": TimeControl.parse("60/move")}, None),
        ({"opponent": "ada"}, "own bots only"),
        ({"opponent": ""}, "own bots only"),
        ({"rated": True}, "not rated"),
        ({"map": "grid:40x40"}, "built-in maps"),
        ({"time_control": TimeControl.parse("61/move")}, "60 s a move"),
        ({"time_control": TimeControl.parse("901+0")}, "at most 900+10"),
        ({"time_control": TimeControl.parse("1+11")}, "at most 900+10"),
    ],
)
def test_limits_of_a_guest(change: dict[str, Any], told: str | None) -> None:
    why = find_guest_refusal_reason(replace(GUESTS_FINE, **change), {HOUSE}, list_map_names())
    assert why is None if told is None else told in (why or "")


def test_a_guest_bothers_nobody_but_the_house() -> None:
    arena = home()
    anna = arena.enter("anna")
    peer = arena.enter(Hello("guest-7", matches=20), guest=True)
    bot = arena.core.find_bot("guest-7")
    assert bot is not None
    assert (bot.capacity, bot.preferences.accepts_pool) == (1, False)
    peer.say(replace(GUESTS_FINE, opponent="anna"))
    anna.say(TICTACTOE)
    peer.say(Accept(anna.hear(Challenged).challenge))
    assert [each.code for each in peer.all(Error)] == [Code.BAD_CHALLENGE] * 2


def test_the_guests_of_one_address_may_ask_for_so_many_matches() -> None:
    arena = home()
    peers = guest(arena, 1, "x"), guest(arena, 2, "x")
    for number in range(GUEST_REQUEST_BURST):
        peer = peers[number % 2]
        peer.say(GUESTS_FINE)
        peer.say(Withdraw(peer.hear(Challenged).challenge))
    peers[0].say(GUESTS_FINE)
    error = peers[0].hear(Error)
    assert error.code is Code.RATE_LIMITED
    assert "from your address" in error.detail
    other = guest(arena, 3, "y")
    other.say(GUESTS_FINE)
    assert other.hear(Challenged).challenger == "guest-3"
    arena.wait(5_000)
    peers[0].say(GUESTS_FINE)
    assert len(peers[0].all(Challenged)) == GUEST_REQUEST_BURST // 2 + 1


def test_matches_of_all_guests_start_at_a_limited_rate() -> None:
    engines = tuple(HouseEngine(f"house-{number}", "greedy") for number in range(10))
    arena = Arena(house=engines)
    bots = [arena.enter(Hello(each.name, matches=4, pool=False)) for each in engines]
    for number in range(25):
        opponent = engines[number % 10].name
        guest(arena, number, f"address {number}").say(replace(GUESTS_FINE, opponent=opponent))
    assert sum(len(bot.all(Challenged)) for bot in bots) == GUEST_START_BURST
    arena.wait(5_500)
    assert sum(len(bot.all(Challenged)) for bot in bots) == GUEST_START_BURST + 5


def test_a_bot_that_waits_alone_is_told_whom_it_can_challenge() -> None:
    pool = Pool(games=(PoolGame(make_game("tictactoe", {}), TimeControl.parse("2+0.1")),))
    arena = Arena(
        house=(HouseEngine("house-random", "random"), HouseEngine("house-greedy", "greedy")), pool=pool
    )
    anna = arena.enter("anna")
    anna.say(Status())
    assert anna.hear(Standing).detail.endswith(
        "nobody to play yet; with --challenge house-greedy it plays the server's own bot meanwhile"
    )

"""House engines, their queue, and guests."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from arena.games.catalogue import make_game
from arena.maps.loader import list_built_in_map_names
from arena.protocol.codes import ErrorCode
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
    MAX_GUEST_MATCHES_PER_ADDRESS,
    find_guest_refusal_reason,
)
from arena.server.core.house_engines import MAX_THINKING_MS_AGAINST_HOUSE
from arena.server.core.house_queue import MAX_QUEUED_CHALLENGES, HouseChallengeQueue, HouseMatchRequester
from arena.server.core.inputs import BotCrashed, HouseEngineFailed, StartDraining
from arena.server.core.settings import MAX_MATCHES_PER_HOUSE_ENGINE, GameAtTimeControl, HouseEngine, Pool
from tests.server.core.arena import TICTACTOE, Arena, Peer

HOUSE = "house-greedy"
VALID_CHALLENGE = Challenge(HOUSE, game="tictactoe", time_control=TimeControl.parse("300+3"), rated=False)
VALID_GUEST_CHALLENGE = replace(VALID_CHALLENGE, game="riskless", map="m2")


def arena_with_house(**settings: Any) -> Arena:
    return Arena(house_engines=(HouseEngine(HOUSE, "greedy"),), **settings)


def connect_engine(arena: Arena) -> Peer:
    return arena.connect(
        Hello(HOUSE, matches=MAX_MATCHES_PER_HOUSE_ENGINE, pool=False), runs_on_server_machine=True
    )


def connect_guest(arena: Arena, number: int, address: str) -> Peer:
    return arena.connect(f"guest-{number}", owner=address, is_guest=True)


# the queue

ENGINE_SLOTS = {"a": 4, "b": 4}
TOTAL_SLOTS = sum(ENGINE_SLOTS.values())
requesters = st.builds(
    HouseMatchRequester, st.sampled_from([f"192.0.2.{number}" for number in range(5)]), st.booleans()
)


def always_may_begin(_challenge: str) -> bool:
    return True


def make_guest_requester(number: int) -> HouseMatchRequester:
    return HouseMatchRequester(f"192.0.2.{number}", is_guest=True)


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("challenge"), requesters, st.sampled_from(sorted(ENGINE_SLOTS))),
            st.tuples(st.sampled_from(["finished", "requeued"]), st.integers(0, 30), st.none()),
        ),
        max_size=60,
    )
)
def test_no_requester_exceeds_its_share_and_no_slot_stays_empty_without_reason(
    steps: list[tuple[str, HouseMatchRequester | int, str | None]],
) -> None:
    queue = HouseChallengeQueue()
    requests: dict[str, tuple[str, HouseMatchRequester]] = {}
    waiting: set[str] = set()
    running: set[str] = set()
    for number, (what, who, bot) in enumerate(steps):
        if isinstance(who, HouseMatchRequester) and bot is not None:
            requests[f"c{number}"] = bot, who
            waiting.add(f"c{number}")
            assert queue.enqueue_challenge(f"c{number}", bot, who) is None
        elif isinstance(who, int) and running:
            gone = sorted(running)[who % len(running)]
            running.remove(gone)
            if what == "requeued":
                queue.requeue_challenge(gone, requests[gone][0])
                waiting.add(gone)
            else:
                queue.forget_challenge_or_match(gone)
        busy = Counter(requests[each][0] for each in running)
        free = {each: ENGINE_SLOTS[each] - busy[each] for each in ENGINE_SLOTS}
        for challenge, offered_to in queue.pop_next_offers(TOTAL_SLOTS, free, always_may_begin):
            assert requests[challenge][0] == offered_to
            waiting.remove(challenge)
            running.add(challenge)
        assert set(queue.list_queue_places()) == waiting
        requests_with_slot = [requests[each] for each in running]
        by_bot = Counter(each for each, _ in requests_with_slot)
        by_requester = Counter(each for _, each in requests_with_slot)
        by_group = Counter(each.is_guest for _, each in requests_with_slot)
        assert all(count <= ENGINE_SLOTS[each] for each, count in by_bot.items())
        for each, count in by_requester.items():
            assert count <= (MAX_GUEST_MATCHES_PER_ADDRESS if each.is_guest else TOTAL_SLOTS // 2)
        assert max(by_group.values(), default=0) <= TOTAL_SLOTS * 3 // 4
        for challenge in waiting:
            to, each = requests[challenge]
            full = (
                by_bot[to] == ENGINE_SLOTS[to]
                or by_requester[each]
                == (MAX_GUEST_MATCHES_PER_ADDRESS if each.is_guest else TOTAL_SLOTS // 2)
                or by_group[each.is_guest] == TOTAL_SLOTS * 3 // 4
            )
            assert full, f"{challenge} could have had a slot"
        for to in ENGINE_SLOTS:
            places = sorted(
                place for each, place in queue.list_queue_places().items() if requests[each][0] == to
            )
            assert places == list(range(1, len(places) + 1))


@given(st.lists(st.integers(MAX_GUEST_MATCHES_PER_ADDRESS, 30), min_size=2, max_size=6), st.integers(1, 4))
def test_owners_that_always_wait_are_served_equally_often(sizes: list[int], free: int) -> None:
    """Each owner has more waiting challenges than it may have slots."""
    queue = HouseChallengeQueue()
    numbers = dict.fromkeys(range(len(sizes)), 0)
    served: Counter[int] = Counter()

    def ask(address: int) -> None:
        numbers[address] += 1
        queue.enqueue_challenge(f"{address} {numbers[address]}", "a", make_guest_requester(address))

    for address, size in enumerate(sizes):
        for _ in range(size):
            ask(address)
    for _ in range(10 * len(sizes)):
        for challenge, _ in queue.pop_next_offers(2 * TOTAL_SLOTS, {"a": free}, always_may_begin):
            address = int(challenge.split()[0])
            served[address] += 1
            queue.forget_challenge_or_match(challenge)
            ask(address)
    assert max(served.values()) - min(served[each] for each in numbers) <= MAX_GUEST_MATCHES_PER_ADDRESS


def test_a_newcomer_is_served_after_one_turn_of_an_owner_with_many_challenges() -> None:
    queue = HouseChallengeQueue()
    for number in range(50):
        queue.enqueue_challenge(f"many {number}", "a", make_guest_requester(1))
    queue.enqueue_challenge("one", "a", make_guest_requester(2))
    assert queue.list_queue_places()["one"] == 2
    assert [challenge for challenge, _ in queue.pop_next_offers(TOTAL_SLOTS, {"a": 2}, always_may_begin)] == [
        "many 0",
        "one",
    ]


def test_a_full_queue_refuses_a_challenge_of_the_owner_with_most_challenges() -> None:
    queue = HouseChallengeQueue()
    for number in range(MAX_QUEUED_CHALLENGES):
        assert queue.enqueue_challenge(f"many {number}", "a", make_guest_requester(1)) is None
    assert queue.enqueue_challenge("one", "a", make_guest_requester(2)) == f"many {MAX_QUEUED_CHALLENGES - 1}"


# in an arena


def test_a_challenge_starts_its_engine_and_waits_for_it() -> None:
    arena = arena_with_house()
    peer = connect_guest(arena, 1, "x")
    peer.send(VALID_GUEST_CHALLENGE)
    assert arena.of(StartHouseEngine) == [StartHouseEngine(HOUSE)]
    assert peer.receive(Challenged).expires_ms == 1_800_000
    assert peer.receive(Queued).place == 1
    engine = connect_engine(arena)
    arena.wait(50)
    message = engine.receive(Challenged)
    assert (message.challenger, message.expires_ms) == ("guest-1", 60_000)
    engine.send(Accept(message.challenge))
    assert peer.receive(ChallengeOver).outcome == "accepted"
    assert peer.receive(Start).players.maxie in ("guest-1", HOUSE)


def test_a_waiting_challenger_is_sent_its_place_and_each_change() -> None:
    arena = arena_with_house()
    engine = connect_engine(arena)
    playing = []
    for number in range(MAX_GUEST_MATCHES_PER_ADDRESS):
        peer = connect_guest(arena, number, "x")
        peer.send(VALID_GUEST_CHALLENGE)
        engine.send(Accept(engine.receive(Challenged).challenge))
        playing.append((peer, peer.receive(Start).match))
    waiting = []
    for number in range(10, 12):
        peer = connect_guest(arena, number, "x")
        peer.send(VALID_GUEST_CHALLENGE)
        assert peer.receive(Queued).place == number - 9
        waiting.append(peer)
    peer, match = playing[0]
    peer.send(Resign(match))
    arena.wait(50)
    message = engine.receive(Challenged)
    assert message.challenger == "guest-10"
    assert waiting[1].receive(Queued).place == 1
    engine.send(Accept(message.challenge))
    assert waiting[0].receive(ChallengeOver).outcome == "accepted"


def test_the_bots_of_one_owner_get_at_most_half_of_the_slots() -> None:
    arena = arena_with_house()
    engine = connect_engine(arena)
    peers = [
        arena.connect(f"bot {number}", owner=owner)
        for number, owner in enumerate(["x"] * MAX_MATCHES_PER_HOUSE_ENGINE + ["y"])
    ]
    for peer in peers:
        peer.send(VALID_CHALLENGE)
    names = [each.challenger for each in engine.all(Challenged)]
    assert names == ["bot 0", "bot 1", f"bot {MAX_MATCHES_PER_HOUSE_ENGINE}"]
    assert [peers[number].receive(Queued).place for number in (2, 3)] == [1, 2]


def test_a_busy_challenger_is_passed_over_until_its_match_ends() -> None:
    arena = arena_with_house()
    anna, bert, carl = arena.connect("anna"), arena.connect("bert"), arena.connect("carl")
    anna.send(VALID_CHALLENGE)
    carl.send(VALID_CHALLENGE)
    match = arena.begin_match(anna, bert)
    engine = connect_engine(arena)
    arena.wait(1_000)
    assert [each.challenger for each in engine.all(Challenged)] == ["carl"]
    anna.send(Resign(match))
    arena.wait(1_000)
    assert [each.challenger for each in engine.all(Challenged)] == ["carl", "anna"]


@pytest.mark.parametrize("way", ["withdraws", "leaves"])
def test_the_slot_of_a_withdrawn_challenge_goes_to_the_next(way: str) -> None:
    arena = arena_with_house()
    engine = connect_engine(arena)
    peers = [connect_guest(arena, number, "x") for number in range(MAX_GUEST_MATCHES_PER_ADDRESS + 1)]
    for peer in peers:
        peer.send(VALID_GUEST_CHALLENGE)
    ids = [peer.receive(Challenged).challenge for peer in peers]
    assert peers[-1].receive(Queued).place == 1
    if way == "withdraws":
        peers[0].send(Withdraw(ids[0]))
    else:
        peers[0].disconnect()
    arena.wait(50)
    assert [each.challenge for each in engine.all(Challenged)] == ids


def test_a_restarted_engine_continues_its_matches_and_gets_its_challenges_again() -> None:
    arena = arena_with_house()
    engine, peer, other = connect_engine(arena), connect_guest(arena, 1, "x"), arena.connect("anna")
    other.send(VALID_CHALLENGE)
    engine.send(Accept(engine.receive(Challenged).challenge))
    match = other.receive(Start).match
    for each in (engine, other):
        each.send(Ready(match))
    peer.send(VALID_GUEST_CHALLENGE)
    message = engine.receive(Challenged)
    arena.handle(BotCrashed(HOUSE, "killed"))
    engine.disconnect()
    again = connect_engine(arena)
    arena.wait(50)
    assert again.receive(Start).match == match, "a crash of the server's own engine loses no match"
    assert again.receive(Challenged).challenge == message.challenge
    again.send(Accept(message.challenge))
    assert peer.receive(ChallengeOver).outcome == "accepted"


def test_the_challenges_of_an_engine_end_when_it_disconnects() -> None:
    arena = arena_with_house()
    engine = connect_engine(arena)
    engine.send(TICTACTOE)
    engine.disconnect()
    assert arena.listing().challenges == []


def test_an_engine_that_cannot_be_started_is_removed_from_the_listing() -> None:
    arena = arena_with_house()
    peer = connect_guest(arena, 1, "x")
    peer.send(VALID_GUEST_CHALLENGE)
    arena.handle(HouseEngineFailed(HOUSE))
    assert peer.receive(ChallengeOver).detail == f"{HOUSE} cannot be started"
    assert arena.listing().bots[0].name == "guest-1"


@pytest.mark.parametrize("is_guest", [True, False])
def test_a_match_against_a_house_engine_has_a_limit_on_total_thinking_time(is_guest: bool) -> None:
    arena = arena_with_house()
    engine = connect_engine(arena)
    peer = connect_guest(arena, 1, "x") if is_guest else arena.connect("ada")
    longest = TimeControl.parse("900+10")
    peer.send(replace(VALID_GUEST_CHALLENGE, time_control=longest, seat="maxie"))
    engine.send(Accept(engine.receive(Challenged).challenge))
    match = peer.receive(Start).match
    for each in (peer, engine):
        each.send(Ready(match))
    total = guests.MAX_GUEST_THINKING_MS_PER_MATCH if is_guest else MAX_THINKING_MS_AGAINST_HOUSE
    assert peer.receive(Turn).clocks.maxie_ms == min(total, longest.base_ms)
    assert arena.unfinished()[0].terms.total_ms == total


def test_a_resumed_match_keeps_its_slot_and_starts_its_engine() -> None:
    arena = arena_with_house(reconnect_grace_ms=20_000)
    engine = connect_engine(arena)
    for number in range(3):
        connect_guest(arena, number, f"address {number}").send(VALID_GUEST_CHALLENGE)
        engine.send(Accept(engine.receive(Challenged).challenge))
    after = arena.restore()
    assert after.of(StartHouseEngine) == [StartHouseEngine(HOUSE)] * 3
    connect_engine(after)
    peer = connect_guest(after, 9, "address 9")
    peer.send(VALID_GUEST_CHALLENGE)
    assert peer.receive(Queued).place == 1, "guests together get three of four slots, which are in use"


def test_a_draining_core_offers_no_challenges_to_engines() -> None:
    arena = arena_with_house()
    peer = connect_guest(arena, 1, "x")
    peer.send(VALID_GUEST_CHALLENGE)
    arena.handle(StartDraining())
    engine = connect_engine(arena)
    arena.wait(10_000)
    assert not engine.all(Challenged)


# guests


@pytest.mark.parametrize(
    ("change", "expected"),
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
def test_matches_that_a_guest_may_play(change: dict[str, Any], expected: str | None) -> None:
    why = find_guest_refusal_reason(
        replace(VALID_GUEST_CHALLENGE, **change), {HOUSE}, list_built_in_map_names()
    )
    assert why is None if expected is None else expected in (why or "")


def test_a_guest_plays_only_house_engines() -> None:
    arena = arena_with_house()
    anna = arena.connect("anna")
    peer = arena.connect(Hello("guest-7", matches=20), is_guest=True)
    bot = arena.core.find_bot("guest-7")
    assert bot is not None
    assert (bot.match_capacity, bot.preferences.accepts_pool_matches) == (1, False)
    peer.send(replace(VALID_GUEST_CHALLENGE, opponent="anna"))
    anna.send(TICTACTOE)
    peer.send(Accept(anna.receive(Challenged).challenge))
    assert [each.code for each in peer.all(Error)] == [ErrorCode.BAD_CHALLENGE] * 2


def test_match_requests_of_guests_at_one_address_are_limited() -> None:
    arena = arena_with_house()
    peers = connect_guest(arena, 1, "x"), connect_guest(arena, 2, "x")
    for number in range(GUEST_REQUEST_BURST):
        peer = peers[number % 2]
        peer.send(VALID_GUEST_CHALLENGE)
        peer.send(Withdraw(peer.receive(Challenged).challenge))
    peers[0].send(VALID_GUEST_CHALLENGE)
    error = peers[0].receive(Error)
    assert error.code is ErrorCode.RATE_LIMITED
    assert "from your address" in error.detail
    other = connect_guest(arena, 3, "y")
    other.send(VALID_GUEST_CHALLENGE)
    assert other.receive(Challenged).challenger == "guest-3"
    arena.wait(5_000)
    peers[0].send(VALID_GUEST_CHALLENGE)
    assert len(peers[0].all(Challenged)) == GUEST_REQUEST_BURST // 2 + 1


def test_matches_of_all_guests_start_at_a_limited_rate() -> None:
    engines = tuple(HouseEngine(f"house-{number}", "greedy") for number in range(10))
    arena = Arena(house_engines=engines)
    bots = [arena.connect(Hello(each.bot_name, matches=4, pool=False)) for each in engines]
    for number in range(25):
        opponent = engines[number % 10].bot_name
        connect_guest(arena, number, f"address {number}").send(
            replace(VALID_GUEST_CHALLENGE, opponent=opponent)
        )
    assert sum(len(bot.all(Challenged)) for bot in bots) == GUEST_START_BURST
    arena.wait(5_500)
    assert sum(len(bot.all(Challenged)) for bot in bots) == GUEST_START_BURST + 5


def test_the_standing_of_a_lonely_bot_names_a_house_engine() -> None:
    pool = Pool(games=(GameAtTimeControl(make_game("tictactoe", {}), TimeControl.parse("2+0.1")),))
    arena = Arena(
        house_engines=(HouseEngine("house-random", "random"), HouseEngine("house-greedy", "greedy")),
        pool=pool,
    )
    anna = arena.connect("anna")
    anna.send(Status())
    assert anna.receive(Standing).detail.endswith(
        "nobody to play yet; with --challenge house-greedy it plays the server's own bot meanwhile"
    )

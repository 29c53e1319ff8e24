from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from arena.server.lobby.matchmaking.guests import PLACES_PER_ADDRESS
from arena.server.lobby.matchmaking.house_places import MOST_WAITING, Asker, HousePlaces

BOTS = {"a": 4, "b": 4}
PLACES = sum(BOTS.values())
askers = st.builds(Asker, st.sampled_from([f"192.0.2.{number}" for number in range(5)]), st.booleans())


def anybody(_challenge: str) -> bool:
    return True


def guest(number: int) -> Asker:
    return Asker(f"192.0.2.{number}", guest=True)


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("asks"), askers, st.sampled_from(sorted(BOTS))),
            st.tuples(st.sampled_from(["ends", "over", "lost"]), st.integers(0, 30), st.none()),
        ),
        max_size=60,
    )
)
def test_nobody_has_more_than_its_share_and_no_place_stays_empty_that_somebody_may_have(
    happenings: list[tuple[str, Asker | int, str | None]],
) -> None:
    places = HousePlaces()
    asked: dict[str, tuple[str, Asker]] = {}
    waiting: set[str] = set()
    taken: set[str] = set()
    for number, (what, who, bot) in enumerate(happenings):
        if isinstance(who, Asker) and bot is not None:
            asked[f"c{number}"] = bot, who
            waiting.add(f"c{number}")
            assert places.enter(f"c{number}", bot, who) is None
        elif isinstance(who, int) and taken:
            gone = sorted(taken)[who % len(taken)]
            taken.remove(gone)
            if what == "lost":
                places.wait_again(gone, asked[gone][0])
                waiting.add(gone)
            else:
                places.ended(gone) if what == "ends" else places.drop(gone)
        busy = Counter(asked[each][0] for each in taken)
        for challenge, passed_to in places.pass_on(
            PLACES, {each: BOTS[each] - busy[each] for each in BOTS}, anybody
        ):
            assert asked[challenge][0] == passed_to
            waiting.remove(challenge)
            taken.add(challenge)
        assert {each for each in asked if each in places} == waiting
        having = [asked[each] for each in taken]
        assert all(count <= BOTS[each] for each, count in Counter(bot for bot, _ in having).items())
        by_asker = Counter(who.key for _, who in having)
        by_group = Counter(who.guest for _, who in having)
        for key, count in by_asker.items():
            assert count <= (PLACES_PER_ADDRESS if key[1] else PLACES // 2)
        assert max(by_group.values(), default=0) <= PLACES * 3 // 4
        for each in waiting:
            to, asker = asked[each]
            full = (
                Counter(bot for bot, _ in having)[to] == BOTS[to]
                or by_asker[asker.key] == (PLACES_PER_ADDRESS if asker.guest else PLACES // 2)
                or by_group[asker.guest] == PLACES * 3 // 4
            )
            assert full, f"{each} could have had a place"
        queue = places.queue()
        for each in BOTS:
            numbers = sorted(place for challenge, place in queue.items() if asked[challenge][0] == each)
            assert numbers == list(range(1, len(numbers) + 1))


@given(st.lists(st.integers(PLACES_PER_ADDRESS, 30), min_size=2, max_size=6), st.integers(1, 4))
def test_addresses_that_always_wait_are_served_as_often_as_each_other(sizes: list[int], free: int) -> None:
    """However many more challenges each of them has waiting than it may have places."""
    places = HousePlaces()
    numbers = dict.fromkeys(range(len(sizes)), 0)
    served: Counter[int] = Counter()

    def ask(address: int) -> None:
        numbers[address] += 1
        places.enter(f"{address} {numbers[address]}", "a", guest(address))

    for address, size in enumerate(sizes):
        for _ in range(size):
            ask(address)
    for _ in range(10 * len(sizes)):
        for challenge, _ in places.pass_on(2 * PLACES, {"a": free}, anybody):
            address = int(challenge.split()[0])
            served[address] += 1
            places.ended(challenge)
            ask(address)
    assert max(served.values()) - min(served[each] for each in numbers) <= PLACES_PER_ADDRESS


def test_who_comes_last_has_the_turn_after_the_next_of_somebody_who_waits_with_many() -> None:
    places = HousePlaces()
    for number in range(50):
        places.enter(f"many {number}", "a", guest(1))
    places.enter("one", "a", guest(2))
    assert places.queue()["one"] == 2
    passed = [challenge for challenge, _ in places.pass_on(PLACES, {"a": 2}, anybody)]
    assert passed == ["many 0", "one"]


def test_where_too_many_wait_whoever_waits_with_most_loses_one() -> None:
    places = HousePlaces()
    for number in range(MOST_WAITING):
        assert places.enter(f"many {number}", "a", guest(1)) is None
    refused = places.enter("one", "a", guest(2))
    assert refused == f"many {MOST_WAITING - 1}"


def test_whose_match_may_not_begin_yet_is_passed_over() -> None:
    places = HousePlaces()
    places.enter("not yet", "a", guest(1))
    places.enter("now", "a", guest(2))
    assert places.pass_on(PLACES, {"a": 1}, lambda challenge: challenge == "now") == [("now", "a")]
    assert places.queue() == {"not yet": 1}


def test_a_place_is_taken_from_the_challenge_to_the_end_of_its_match() -> None:
    places = HousePlaces()
    for number in range(PLACES_PER_ADDRESS + 1):
        places.enter(f"c{number}", "a", guest(1))
    assert len(places.pass_on(PLACES, {"a": 4}, anybody)) == PLACES_PER_ADDRESS
    places.began("c0", "match")
    places.drop("c0")
    assert places.pass_on(PLACES, {"a": 3}, anybody) == []
    places.ended("match")
    assert places.pass_on(PLACES, {"a": 3}, anybody) == [(f"c{PLACES_PER_ADDRESS}", "a")]


def test_a_match_that_goes_on_after_a_restart_has_its_place() -> None:
    places = HousePlaces()
    places.resumed("match", Asker("guest-1", guest=True))
    places.enter("c0", "a", guest(1))
    assert places.pass_on(1, {"a": 1}, anybody) == []
    places.ended("match")
    assert places.pass_on(1, {"a": 1}, anybody) == [("c0", "a")]

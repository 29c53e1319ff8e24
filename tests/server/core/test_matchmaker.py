"""The pool: pairings, their games, and the bots that wait."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any, cast

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from arena.games.core import AnyGame
from arena.protocol.adjudication import Adjudication
from arena.protocol.codes import EndReason
from arena.protocol.engines import EngineInfo
from arena.protocol.messages import (
    Accept,
    Challenged,
    End,
    Error,
    Hello,
    Ready,
    Resign,
    Standing,
    Start,
    Status,
)
from arena.protocol.record import Record
from arena.protocol.timecontrol import TimeControl
from arena.rating.glicko import Rating
from arena.server.core.effects import OpenMatch
from arena.server.core.inputs import ApplySettings, RatingChanged, SeasonClosed, StartDraining
from arena.server.core.matchmaker import DEFAULT_RATING, MAX_COMPARED_BOTS, RATING_STEP, choose_pairs
from arena.server.core.pairing import PairingHistory
from arena.server.core.settings import PoolGame
from arena.server.core.turn_order import TurnOrder
from tests.server.core.arena import FAST, POOL, TICTACTOE, Arena, Peer
from tests.server.core.test_matches import NoStart
from tests.server.matches import game_of

SLOW = TimeControl.parse("30+0.1")
PATIENT = replace(POOL, ready_ms=300_000)


def history() -> PairingHistory:
    return PairingHistory("salt")


# the choice


def choose(
    bots: Sequence[str], history: PairingHistory, turn_order: TurnOrder[str], **options: Any
) -> list[tuple[str, str]]:
    """Return one pair of equally rated bots of one owner, who may all meet; `options` change these conditions."""
    defaults: dict[str, Any] = {
        "get_owner": lambda _name: "",
        "get_rating": lambda _name: DEFAULT_RATING,
        "may_meet": lambda _a, _b: True,
        "max_pairs": 1,
    }
    return choose_pairs(bots, history, turn_order, **(defaults | options))


@given(st.lists(st.sets(st.sampled_from("abcdef")), max_size=80))
def test_the_choice_is_among_the_waiting_and_meets_the_least_met(rounds: list[set[str]]) -> None:
    known, met = history(), Counter[frozenset[str]]()
    maxies = Counter[tuple[str, str]]()
    for waiting in rounds:
        choice = choose(sorted(waiting), known, TurnOrder())
        if len(waiting) < 2:
            assert not choice
            continue
        (pair,) = choice
        assert set(pair) <= waiting
        assert met[frozenset(pair)] == min(met[frozenset(each)] for each in combinations(waiting, 2))
        met[frozenset(pair)] += 1
        maxies[pair] += 1
        known.record_start(*pair)
        assert abs(maxies[pair] - maxies[pair[::-1]]) <= 1


@given(
    st.lists(st.integers(1000, 2000), max_size=12),
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=60),
    st.integers(0, 8),
)
def test_many_chosen_at_once_are_those_chosen_one_after_another(
    rated: list[int], met: list[tuple[int, int]], most: int
) -> None:
    names = [f"bot {number}" for number in range(len(rated))]
    ratings = dict(zip(names, map(float, rated), strict=True))
    known = history()
    for a, b in met:
        if a != b:
            known.record_start(f"bot {a}", f"bot {b}")
    choice = choose(names, known, TurnOrder(), get_rating=ratings.__getitem__, max_pairs=most)
    for pair in choice:
        assert choose(names, known, TurnOrder(), get_rating=ratings.__getitem__) == [pair]
        known.record_start(*pair)
        names = [name for name in names if name not in pair]
    assert len(choice) == min(most, len(ratings) // 2)


@given(st.integers(0, 3 * MAX_COMPARED_BOTS))
def test_in_a_crowd_all_get_a_match_and_the_longest_waiting_first(size: int) -> None:
    left = [f"bot {number:03}" for number in range(size)]
    opponents: list[str] = []
    while chosen := choose(left, history(), TurnOrder(), max_pairs=size):
        opponents += [name for pair in chosen for name in pair]
        left = [name for name in left if name not in opponents]
    assert len(left) == size % 2
    assert opponents == sorted(opponents)


@given(st.lists(st.integers(1, 6), min_size=2, max_size=5), st.integers(1, 3))
def test_no_owner_waits_longer_than_each_other_has_had_a_turn(sizes: list[int], slots: int) -> None:
    owners = {f"{whose} {number}": str(whose) for whose, size in enumerate(sizes) for number in range(size)}
    known, turns, waited = history(), TurnOrder[str](), Counter[str]()
    waiting = list(owners)
    for _ in range(30):
        choice = choose(waiting, known, turns, get_owner=owners.__getitem__, max_pairs=slots)
        served = [owners[name] for pair in choice for name in pair]
        for pair in choice:
            known.record_start(*pair)
            turns.record_turn(*(owners[name] for name in pair))
        for whose in set(owners.values()):
            waited[whose] = 0 if whose in served else waited[whose] + 1
            assert waited[whose] < len(sizes)


def test_near_ratings_meet_first_but_nobody_meets_the_same_for_ever() -> None:
    ratings = {"a": 1500.0, "b": 1500.0 + 3 * RATING_STEP, "c": 1510.0}
    known, chosen = history(), []
    for _ in range(5):
        (pair,) = choose(["a", "b", "c"], known, TurnOrder(), get_rating=ratings.__getitem__)
        known.record_start(*pair)
        chosen.append("".join(sorted(pair)))
    assert chosen[:3] == ["ac", "ac", "ac"]
    assert set(chosen[3:]) == {"bc", "ab"}


# in an arena


def crowd(arena: Arena, *names: str, **hello: Any) -> list[Peer]:
    return [arena.enter(Hello(name, **hello)) for name in names]


def resign_all(arena: Arena) -> None:
    """End the matches that have begun, each by a player who has played."""
    for peer in list(arena.peers.values()):
        for start in [each for each in peer.news() if isinstance(each, Start)]:
            if start.seat == "maxie":
                peer.say(Resign(start.match))


def test_no_more_matches_of_its_own_bots_are_begun_at_once_than_the_host_wants() -> None:
    arena = Arena(pool=PATIENT, concurrency=2)
    for number in range(6):
        arena.enter(f"bot {number}", local=True)
    arena.wait(100)
    assert arena.core.match_count == 2
    for number in range(6):
        arena.enter(f"remote {number}")
    arena.wait(100)
    assert arena.core.match_count == 5, (
        "a bot that runs elsewhere is no load, not even for one that runs here"
    )


def test_bots_of_one_owner_meet_only_where_nothing_is_rated() -> None:
    arena = Arena(pool=PATIENT)
    anna, bert = (arena.enter(name, owner="eve") for name in ("anna", "bert"))
    arena.wait(100)
    assert arena.core.match_count == 0
    anna.say(replace(TICTACTOE, opponent="bert"))
    assert (
        anna.hear(Error).detail
        == "both bots have the same owner, so their matches are not rated: send rated false"
    )
    anna.say(replace(TICTACTOE, opponent="bert", rated=False))
    bert.say(Accept(bert.hear(Challenged).challenge))
    assert arena.core.match_count == 1
    for name in ("carl", "dora"):  # strangers at one address
        arena.enter(name, owner="192.0.2.1", is_owner_address=True)
    arena.wait(100)
    assert arena.core.match_count == 2


def test_a_bot_that_runs_elsewhere_does_not_wait_for_one_that_waits_for_a_place_here() -> None:
    arena = Arena(pool=PATIENT, concurrency=1)
    for name in ("anna", "bert", "carl"):
        arena.enter(name, local=True)
    arena.wait(100)
    for name in ("dora", "emil"):
        arena.enter(name)
    arena.wait(100)
    assert [peer.name for peer in arena.peers.values() if peer.all(Start)] == ["anna", "bert", "dora", "emil"]


def test_a_match_counts_as_many_as_the_threads_of_the_bots_that_run_here() -> None:
    arena = Arena(pool=PATIENT, concurrency=4, counts_threads=True)

    def enter(name: str, threads: int, *, local: bool) -> Peer:
        return arena.enter(Hello(name, engine=EngineInfo("x", {}, threads)), local=local, owner=name)

    enter("anna", 3, local=True)
    enter("bert", 3, local=True)
    arena.wait(50)
    assert arena.core.match_count == 1
    enter("carl", 2, local=True)
    enter("dora", 2, local=True)
    arena.wait(50)
    assert arena.core.match_count == 1, "three of four cores are taken"
    for name in ("emil", "fred"):
        enter(name, 4096, local=False)
    arena.wait(50)
    assert arena.core.match_count == 2, "whatever a bot that runs elsewhere says of its threads"
    resign_all(arena)
    arena.wait(50)
    assert arena.core.match_count >= 1


def test_the_pool_offers_a_bot_only_the_games_it_plays() -> None:
    games = (PoolGame(game_of(), FAST), PoolGame(game_of(), SLOW))
    arena = Arena(pool=replace(PATIENT, games=games))
    crowd(arena, "anna")
    crowd(arena, "bert", time_controls=[str(SLOW)])
    crowd(arena, "carl", games=["riskless"])
    crowd(arena, "dora", pool=False)
    for _ in range(3):
        arena.wait(50)
        resign_all(arena)
    assert {
        (each.time_control, frozenset((each.players.maxie, each.players.minnie))) for each in arena.records
    } == {(str(SLOW), frozenset(("anna", "bert")))}


def begin_match(record: Record) -> tuple[str, tuple[object, ...]]:
    return record.time_control, tuple(each.move for each in record.moves if each.opening)


def test_each_game_and_opening_is_played_from_both_seats_in_pairs() -> None:
    openings = ((0, 1), (4, 8))
    games = tuple(PoolGame(game_of(), tc, openings) for tc in (FAST, SLOW))
    arena = Arena(pool=replace(PATIENT, games=games))
    anna, bert = crowd(arena, "anna", "bert")
    for _ in range(8):
        arena.wait(50)
        by_name = {"anna": anna, "bert": bert}
        start = anna.hear(Start)
        for peer in (anna, bert):
            peer.say(Ready(start.match))
        by_name[start.players.maxie].say(Resign(start.match))
        arena.wait(40_000) if len(arena.records) % 3 == 0 else None
    records = arena.records[:8]
    assert {begin_match(each) for each in records} == {
        (str(tc), opening) for tc in (FAST, SLOW) for opening in openings
    }
    for first, second in zip(records[::2], records[1::2], strict=True):
        assert begin_match(first) == begin_match(second)
        assert first.players.maxie == second.players.minnie


def test_two_rest_between_their_matches() -> None:
    arena = Arena(pool=replace(PATIENT, pause_ms=3_000))
    crowd(arena, "anna", "bert")
    arena.wait(100)
    resign_all(arena)
    arena.wait(2_999)
    assert arena.core.match_count == 0
    arena.wait(30)
    assert arena.core.match_count == 1


def test_a_challenge_that_is_never_answered_keeps_nobody_from_the_pool() -> None:
    arena = Arena()
    anna, bert, carl = crowd(arena, "anna", "bert", "carl")
    carl.say(replace(TICTACTOE, opponent="anna"))
    anna.hear(Challenged)
    settings = replace(arena.settings, pool=PATIENT)
    arena.give(ApplySettings(settings))
    arena.wait(100)
    assert {bert.hear(Start).players.maxie, bert.all(Start)[0].players.minnie} == {"bert", "carl"}
    crowd(arena, "dora")
    arena.wait(1_800)
    assert not anna.all(Start)
    arena.wait(200)
    assert "anna" in msgspec.structs.astuple(anna.hear(Start).players)


def test_a_pool_that_cannot_be_set_up_does_not_spin() -> None:
    arena = Arena(pool=replace(POOL, games=(PoolGame(cast("AnyGame", NoStart()), FAST),)))
    crowd(arena, "anna", "bert")
    arena.wait(10_000)
    assert len(arena.records) <= 1
    assert len(arena.inputs) < 20


# quotas


def test_a_quota_counts_down_and_ends() -> None:
    arena = Arena(pool=PATIENT)
    crowd(arena, "anna")
    (bert,) = crowd(arena, "bert", quota=2)
    for _ in range(5):
        arena.wait(50)
        resign_all(arena)
    assert len(arena.records) == 2
    bert.say(Status())
    assert bert.hear(Standing) == Standing("finishing", "takes no more matches; 0 in play", 0)
    bert.say(Status(1))
    arena.wait(50)
    assert arena.core.match_count == 1


def test_a_bot_is_told_how_it_stands_with_an_event_that_is_played_here() -> None:
    arena = Arena()
    (anna, late) = crowd(arena, "anna", "late")
    messages = []
    for entrants in (None, ("anna", "bert")):
        arena.give(ApplySettings(replace(arena.settings, event="cup", entrants=entrants)))
        for peer in (anna, late):
            peer.say(Status())
            messages.append(peer.hear(Standing))
    assert [each.state for each in messages] == ["waiting", "waiting", "waiting", "idle"]
    assert [each.detail for each in messages[1:]] == [
        "the event cup has yet to begin",
        "in the event cup: its next match is due when both bots are free",
        "the event cup began without it: it gets no match here unless it is challenged",
    ]


# suspension and standing


def test_a_bot_that_keeps_failing_is_suspended_and_comes_back_when_mended() -> None:
    arena = Arena(pool=replace(POOL, ready_ms=200))
    anna, bert = crowd(arena, "anna", "bert")
    arena.wait(29_000)
    assert len(arena.records) == 3, "neither gets ready, and both forfeit"
    standing = anna.hear(Standing)
    assert standing.state == "suspended"
    assert "3 matches in a row forfeited, the last by no_show; back in 30 s" in standing.detail
    assert [each.benched for each in arena.listing().bots] == [
        "3 matches in a row forfeited, the last by no_show; back in 30 s"
    ] * 2
    arena.wait(2_000)
    assert len(arena.records) == 4, "it may try again"
    assert "back in 60 s" in anna.hear(Standing).detail
    anna.leave()
    bert.leave()
    anna, bert = crowd(arena, "anna", "bert")
    arena.wait(300)
    assert bert.hear(End).reason is EndReason.NO_SHOW, "who comes anew is pardoned"
    assert "5 matches in a row" in anna.hear(Standing).detail


def test_matches_that_events_asked_for_suspend_nobody() -> None:
    arena = Arena()
    anna, bert = crowd(arena, "anna", "bert")
    for _ in range(5):
        arena.play(anna, bert, ready=100)
        arena.wait(200)
    assert not anna.all(Standing)
    assert bert.all(End)


@pytest.mark.parametrize(
    ("hello", "state", "detail"),
    [
        ({}, "waiting", "in the pool for tictactoe at 2+0.1: nobody to play yet"),
        ({"pool": False}, "idle", "and it plays only by challenge: only challenges give it matches"),
        ({"games": ["riskless"]}, "idle", "and it plays riskless only: only challenges give it matches"),
        ({"quota": 0}, "finishing", "takes no more matches; 0 in play"),
    ],
)
def test_a_bot_is_told_how_it_stands(hello: dict[str, Any], state: str, detail: str) -> None:
    arena = Arena(pool=POOL)
    anna = arena.enter(Hello("anna", **hello))
    anna.say(Status())
    standing = anna.hear(Standing)
    assert standing.state == state
    assert detail in standing.detail


@pytest.mark.parametrize(
    ("hello", "why"),
    [
        ({"time_controls": ["5+0"]}, "it plays at 5+0 only"),
        ({"games": ["riskless"]}, "it plays riskless only"),
        ({"time_controls": ["5+0"], "pool": False}, ""),
        ({"time_controls": ["5+0", "2+0.1"]}, ""),
    ],
)
def test_a_bot_that_plays_nothing_of_the_pool_is_told_so_at_once(hello: dict[str, Any], why: str) -> None:
    told = Arena(pool=POOL).enter(Hello("anna", **hello)).all(Standing)
    assert [each.detail for each in told] == (
        [f"the pool plays tictactoe at 2+0.1, and {why}: only challenges give it matches"] if why else []
    )


def test_a_bot_is_told_only_of_the_games_and_the_opponents_that_it_accepts() -> None:
    slow = TimeControl(60_000)
    arena = Arena(pool=replace(POOL, games=(*POOL.games, PoolGame(game_of(), slow))))
    anna = arena.enter(Hello("anna", time_controls=[str(slow)]))
    arena.enter(Hello("bert", time_controls=[str(FAST)]))
    anna.say(Status())
    assert anna.hear(Standing).detail == "in the pool for tictactoe at 60+0: nobody to play yet"


def test_player_status_while_playing_waiting_or_unwilling() -> None:
    arena = Arena(pool=PATIENT)
    anna, bert = crowd(arena, "anna", "bert")
    anna.say(Status())
    assert anna.hear(Standing).detail == "in the pool for tictactoe at 2+0.1, with 1 other bot"
    arena.wait(50)
    anna.say(Status())
    assert anna.hear(Standing).detail == "1 of at most 1 matches in play"
    arena.give(StartDraining())
    resign_all(arena)
    bert.say(Status())
    assert bert.hear(Standing).detail == "the server is stopping and begins no new matches"
    plain = Arena().enter("anna")
    plain.say(Status())
    assert plain.hear(Standing).detail == "bots play here only by challenge, and nobody has challenged it"


def test_a_bot_is_told_its_ratings_when_it_connects_and_when_they_change_which_counts_at_once() -> None:
    arena = Arena(pool=PATIENT)
    anna = arena.enter("anna", ratings={"tictactoe": Rating(1500.0)})
    bert = arena.enter("bert")
    arena.enter("carl", ratings={"tictactoe": Rating(1500.0)})
    (told,) = anna.all(Standing)
    assert (told.ratings, told.deviations) == ({"tictactoe": 1500.0}, {"tictactoe": 350.0})
    assert not bert.all(Standing)
    for _ in range(2):
        arena.give(RatingChanged("tictactoe", "bert", Rating(2500.0, 65.0)))
    arena.give(RatingChanged("tictactoe", "nobody", Rating(2500.0)))
    (told,) = bert.all(Standing)
    assert (told.ratings, told.deviations) == ({"tictactoe": 2500.0}, {"tictactoe": 65.0})
    arena.wait(50)
    (match,) = arena.listing().matches
    assert {match.players.maxie, match.players.minnie} == {"anna", "carl"}


def test_a_season_begins_with_no_ratings() -> None:
    arena = Arena(pool=PATIENT)
    anna = arena.enter("anna", ratings={"tictactoe": Rating(2500.0), "riskless": Rating(1600.0)})
    bert, carl = arena.enter("bert"), arena.enter("carl", ratings={"riskless": Rating(1700.0)})
    for peer in (anna, bert, carl):
        peer.news()
    arena.give(SeasonClosed("tictactoe"))
    assert anna.hear(Standing).ratings == {"riskless": 1600.0}
    assert (bert.news(), carl.news()) == ([], [])


def test_the_bot_that_waited_longest_is_first_and_queues_again_after_each_match() -> None:
    arena = Arena(pool=None)
    anna, bert = crowd(arena, "anna", "bert", matches=2)
    crowd(arena, "carl", "dora")
    arena.give(ApplySettings(replace(arena.settings, pool=replace(POOL, pause_ms=10**9))))
    matchmaker = vars(arena.core)["_matchmaker"]
    matchmaker.update_waiting()
    assert matchmaker.waiting_names == ["anna", "bert", "carl", "dora"]
    for _ in range(2):
        arena.play(anna, bert)
    matchmaker.update_waiting()
    assert matchmaker.waiting_names == ["carl", "dora"]


def test_the_rules_of_adjudication_hold_for_the_pool() -> None:
    arena = Arena(pool=POOL, adjudication=Adjudication(limit=2))
    crowd(arena, "anna", "bert")
    arena.wait(100)
    (terms,) = [each.terms for each in arena.of(OpenMatch)]
    assert terms.adjudication == Adjudication(limit=2)

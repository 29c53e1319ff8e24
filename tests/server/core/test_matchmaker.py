"""The matchmaker: pairs of waiting bots, their games, quotas, and `standing` messages."""

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
from arena.rating.glicko import GlickoRating
from arena.server.core.bot import RATING_OF_UNRATED_BOT
from arena.server.core.effects import SaveNewMatch
from arena.server.core.inputs import ApplySettings, RatingChanged, SeasonClosed, StartDraining
from arena.server.core.matchmaker import (
    MAX_BOTS_COMPARED_AT_ONCE,
    REMATCH_COST_RATING_POINTS,
    choose_pairs,
)
from arena.server.core.pairing import PairingHistory
from arena.server.core.service_order import ServiceOrder
from arena.server.core.settings import GameAtTimeControl
from tests.server.core.arena import FAST, POOL, TICTACTOE, Arena, Peer
from tests.server.core.test_matches import NoStart
from tests.server.matches import game_of

SLOW = TimeControl.parse("30+0.1")
PATIENT = replace(POOL, ready_timeout_ms=300_000)


def history() -> PairingHistory:
    return PairingHistory("salt")


# choose_pairs


def choose(
    bots: Sequence[str], history: PairingHistory, service_order: ServiceOrder[str], **options: Any
) -> list[tuple[str, str]]:
    """Call `choose_pairs`, by default for one pair, with all bots of one owner, equally rated and free to meet."""
    defaults: dict[str, Any] = {
        "get_owner": lambda _name: "",
        "get_rating": lambda _name: RATING_OF_UNRATED_BOT,
        "may_meet": lambda _a, _b: True,
        "max_pairs": 1,
    }
    return choose_pairs(bots, history, service_order, **(defaults | options))


@given(st.lists(st.sets(st.sampled_from("abcdef")), max_size=80))
def test_the_chosen_pair_has_met_least_often_among_the_waiting_bots(rounds: list[set[str]]) -> None:
    known, met = history(), Counter[frozenset[str]]()
    maxies = Counter[tuple[str, str]]()
    for waiting in rounds:
        choice = choose(sorted(waiting), known, ServiceOrder())
        if len(waiting) < 2:
            assert not choice
            continue
        (pair,) = choice
        assert set(pair) <= waiting
        assert met[frozenset(pair)] == min(met[frozenset(each)] for each in combinations(waiting, 2))
        met[frozenset(pair)] += 1
        maxies[pair] += 1
        known.record_match_start(*pair)
        assert abs(maxies[pair] - maxies[pair[::-1]]) <= 1


@given(
    st.lists(st.integers(1000, 2000), max_size=12),
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=60),
    st.integers(0, 8),
)
def test_several_pairs_chosen_at_once_are_those_chosen_one_by_one(
    rated: list[int], met: list[tuple[int, int]], most: int
) -> None:
    names = [f"bot {number}" for number in range(len(rated))]
    ratings = dict(zip(names, map(float, rated), strict=True))
    known = history()
    for a, b in met:
        if a != b:
            known.record_match_start(f"bot {a}", f"bot {b}")
    choice = choose(names, known, ServiceOrder(), get_rating=ratings.__getitem__, max_pairs=most)
    for pair in choice:
        assert choose(names, known, ServiceOrder(), get_rating=ratings.__getitem__) == [pair]
        known.record_match_start(*pair)
        names = [name for name in names if name not in pair]
    assert len(choice) == min(most, len(ratings) // 2)


@given(st.integers(0, 3 * MAX_BOTS_COMPARED_AT_ONCE))
def test_in_a_crowd_all_bots_get_a_match_longest_wait_first(size: int) -> None:
    left = [f"bot {number:03}" for number in range(size)]
    opponents: list[str] = []
    while chosen := choose(left, history(), ServiceOrder(), max_pairs=size):
        opponents += [name for pair in chosen for name in pair]
        left = [name for name in left if name not in opponents]
    assert len(left) == size % 2
    assert opponents == sorted(opponents)


@given(st.lists(st.integers(1, 6), min_size=2, max_size=5), st.integers(1, 3))
def test_no_owner_waits_longer_than_one_turn_of_each_other_owner(sizes: list[int], slots: int) -> None:
    owners = {f"{owner} {number}": str(owner) for owner, size in enumerate(sizes) for number in range(size)}
    known, turns, waited = history(), ServiceOrder[str](), Counter[str]()
    waiting = list(owners)
    for _ in range(30):
        choice = choose(waiting, known, turns, get_owner=owners.__getitem__, max_pairs=slots)
        served = [owners[name] for pair in choice for name in pair]
        for pair in choice:
            known.record_match_start(*pair)
            turns.record_service(*(owners[name] for name in pair))
        for owner in set(owners.values()):
            waited[owner] = 0 if owner in served else waited[owner] + 1
            assert waited[owner] < len(sizes)


def test_bots_of_similar_rating_meet_first_but_not_forever() -> None:
    ratings = {"a": 1500.0, "b": 1500.0 + 3 * REMATCH_COST_RATING_POINTS, "c": 1510.0}
    known, chosen = history(), []
    for _ in range(5):
        (pair,) = choose(["a", "b", "c"], known, ServiceOrder(), get_rating=ratings.__getitem__)
        known.record_match_start(*pair)
        chosen.append("".join(sorted(pair)))
    assert chosen[:3] == ["ac", "ac", "ac"]
    assert set(chosen[3:]) == {"bc", "ab"}


# in an arena


def connect_bots(arena: Arena, *names: str, **hello: Any) -> list[Peer]:
    return [arena.connect(Hello(name, **hello)) for name in names]


def resign_all(arena: Arena) -> None:
    """End each match that has begun since the last call, by a resignation of Maxie."""
    for peer in list(arena.peers.values()):
        for start in [each for each in peer.pop_unread() if isinstance(each, Start)]:
            if start.seat == "maxie":
                peer.send(Resign(start.match))


def test_concurrency_limits_the_parallel_matches_of_local_bots_only() -> None:
    arena = Arena(pool=PATIENT, concurrency=2)
    for number in range(6):
        arena.connect(f"bot {number}", runs_on_server_machine=True)
    arena.wait(100)
    assert arena.core.match_count == 2
    for number in range(6):
        arena.connect(f"remote {number}")
    arena.wait(100)
    assert arena.core.match_count == 5, "matches between remote bots need no capacity"


def test_bots_of_one_owner_meet_only_in_unrated_matches() -> None:
    arena = Arena(pool=PATIENT)
    anna, bert = (arena.connect(name, owner="eve") for name in ("anna", "bert"))
    arena.wait(100)
    assert arena.core.match_count == 0
    anna.send(replace(TICTACTOE, opponent="bert"))
    assert (
        anna.receive(Error).detail
        == "both bots have the same owner, so their matches are not rated: send rated false"
    )
    anna.send(replace(TICTACTOE, opponent="bert", rated=False))
    bert.send(Accept(bert.receive(Challenged).challenge))
    assert arena.core.match_count == 1
    for name in ("carl", "dora"):  # bots without tokens at one address
        arena.connect(name, owner="192.0.2.1", is_owner_an_address=True)
    arena.wait(100)
    assert arena.core.match_count == 2


def test_remote_bots_do_not_wait_for_capacity_of_the_servers_machine() -> None:
    arena = Arena(pool=PATIENT, concurrency=1)
    for name in ("anna", "bert", "carl"):
        arena.connect(name, runs_on_server_machine=True)
    arena.wait(100)
    for name in ("dora", "emil"):
        arena.connect(name)
    arena.wait(100)
    assert [peer.name for peer in arena.peers.values() if peer.all(Start)] == ["anna", "bert", "dora", "emil"]


def test_the_load_of_a_match_is_the_number_of_threads_of_its_local_bots() -> None:
    arena = Arena(pool=PATIENT, concurrency=4, concurrency_counts_threads=True)

    def enter(name: str, threads: int, *, local: bool) -> Peer:
        return arena.connect(
            Hello(name, engine=EngineInfo("x", {}, threads)), runs_on_server_machine=local, owner=name
        )

    enter("anna", 3, local=True)
    enter("bert", 3, local=True)
    arena.wait(50)
    assert arena.core.match_count == 1
    enter("carl", 2, local=True)
    enter("dora", 2, local=True)
    arena.wait(50)
    assert arena.core.match_count == 1, "three of four cores are in use"
    for name in ("emil", "fred"):
        enter(name, 4096, local=False)
    arena.wait(50)
    assert arena.core.match_count == 2, "threads of remote bots do not count"
    resign_all(arena)
    arena.wait(50)
    assert arena.core.match_count >= 1


def test_the_pool_offers_a_bot_only_the_games_it_plays() -> None:
    games = (GameAtTimeControl(game_of(), FAST), GameAtTimeControl(game_of(), SLOW))
    arena = Arena(pool=replace(PATIENT, games=games))
    connect_bots(arena, "anna")
    connect_bots(arena, "bert", time_controls=[str(SLOW)])
    connect_bots(arena, "carl", games=["riskless"])
    connect_bots(arena, "dora", pool=False)
    for _ in range(3):
        arena.wait(50)
        resign_all(arena)
    assert {
        (each.time_control, frozenset((each.players.maxie, each.players.minnie))) for each in arena.records
    } == {(str(SLOW), frozenset(("anna", "bert")))}


def get_time_control_and_opening(record: Record) -> tuple[str, tuple[object, ...]]:
    return record.time_control, tuple(each.move for each in record.moves if each.opening)


def test_each_game_and_opening_is_played_from_both_seats_in_pairs() -> None:
    openings = ((0, 1), (4, 8))
    games = tuple(GameAtTimeControl(game_of(), tc, openings) for tc in (FAST, SLOW))
    arena = Arena(pool=replace(PATIENT, games=games))
    anna, bert = connect_bots(arena, "anna", "bert")
    for _ in range(8):
        arena.wait(50)
        by_name = {"anna": anna, "bert": bert}
        start = anna.receive(Start)
        for peer in (anna, bert):
            peer.send(Ready(start.match))
        by_name[start.players.maxie].send(Resign(start.match))
        arena.wait(40_000) if len(arena.records) % 3 == 0 else None
    records = arena.records[:8]
    assert {get_time_control_and_opening(each) for each in records} == {
        (str(tc), opening) for tc in (FAST, SLOW) for opening in openings
    }
    for first, second in zip(records[::2], records[1::2], strict=True):
        assert get_time_control_and_opening(first) == get_time_control_and_opening(second)
        assert first.players.maxie == second.players.minnie


def test_two_bots_pause_between_their_matches() -> None:
    arena = Arena(pool=replace(PATIENT, rematch_pause_ms=3_000))
    connect_bots(arena, "anna", "bert")
    arena.wait(100)
    resign_all(arena)
    arena.wait(2_999)
    assert arena.core.match_count == 0
    arena.wait(30)
    assert arena.core.match_count == 1


def test_an_unanswered_challenge_keeps_its_bot_out_of_the_pool_only_briefly() -> None:
    arena = Arena()
    anna, bert, carl = connect_bots(arena, "anna", "bert", "carl")
    carl.send(replace(TICTACTOE, opponent="anna"))
    anna.receive(Challenged)
    settings = replace(arena.settings, pool=PATIENT)
    arena.handle(ApplySettings(settings))
    arena.wait(100)
    assert {bert.receive(Start).players.maxie, bert.all(Start)[0].players.minnie} == {"bert", "carl"}
    connect_bots(arena, "dora")
    arena.wait(1_800)
    assert not anna.all(Start)
    arena.wait(200)
    assert "anna" in msgspec.structs.astuple(anna.receive(Start).players)


def test_a_pool_with_a_broken_game_does_not_begin_match_after_match() -> None:
    arena = Arena(pool=replace(POOL, games=(GameAtTimeControl(cast("AnyGame", NoStart()), FAST),)))
    connect_bots(arena, "anna", "bert")
    arena.wait(10_000)
    assert len(arena.records) <= 1
    assert len(arena.inputs) < 20


# quotas


def test_a_bot_gets_as_many_pool_matches_as_its_quota() -> None:
    arena = Arena(pool=PATIENT)
    connect_bots(arena, "anna")
    (bert,) = connect_bots(arena, "bert", quota=2)
    for _ in range(5):
        arena.wait(50)
        resign_all(arena)
    assert len(arena.records) == 2
    bert.send(Status())
    assert bert.receive(Standing) == Standing("finishing", "takes no more matches; 0 in play", 0)
    bert.send(Status(1))
    arena.wait(50)
    assert arena.core.match_count == 1


def test_standing_describes_the_event_that_is_played_on_the_server() -> None:
    arena = Arena()
    (anna, late) = connect_bots(arena, "anna", "late")
    messages = []
    for entrants in (None, ("anna", "bert")):
        arena.handle(
            ApplySettings(
                replace(arena.settings, external_event_name="cup", external_event_entrants=entrants)
            )
        )
        for peer in (anna, late):
            peer.send(Status())
            messages.append(peer.receive(Standing))
    assert [each.state for each in messages] == ["waiting", "waiting", "waiting", "idle"]
    assert [each.detail for each in messages[1:]] == [
        "the event cup has yet to begin",
        "in the event cup: its next match is due when both bots are free",
        "the event cup began without it: it gets no match here unless it is challenged",
    ]


# suspension and standing


def test_a_failing_bot_is_suspended_until_it_starts_a_new_session() -> None:
    arena = Arena(pool=replace(POOL, ready_timeout_ms=200))
    anna, bert = connect_bots(arena, "anna", "bert")
    arena.wait(29_000)
    assert len(arena.records) == 3, "neither bot gets ready, so both forfeit"
    standing = anna.receive(Standing)
    assert standing.state == "suspended"
    assert "3 matches in a row forfeited, the last by no_show; back in 30 s" in standing.detail
    assert [each.benched for each in arena.listing().bots] == [
        "3 matches in a row forfeited, the last by no_show; back in 30 s"
    ] * 2
    arena.wait(2_000)
    assert len(arena.records) == 4, "the first suspension is over"
    assert "back in 60 s" in anna.receive(Standing).detail
    anna.disconnect()
    bert.disconnect()
    anna, bert = connect_bots(arena, "anna", "bert")
    arena.wait(300)
    assert bert.receive(End).reason is EndReason.NO_SHOW, "a new session ends the suspension"
    assert "5 matches in a row" in anna.receive(Standing).detail


def test_forfeits_in_event_matches_do_not_suspend_a_bot() -> None:
    arena = Arena()
    anna, bert = connect_bots(arena, "anna", "bert")
    for _ in range(5):
        arena.request_match(anna, bert, ready=100)
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
def test_standing_describes_the_state_of_a_bot(hello: dict[str, Any], state: str, detail: str) -> None:
    arena = Arena(pool=POOL)
    anna = arena.connect(Hello("anna", **hello))
    anna.send(Status())
    standing = anna.receive(Standing)
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
def test_a_bot_that_plays_no_game_of_the_pool_gets_its_standing_at_once(
    hello: dict[str, Any], why: str
) -> None:
    standings = Arena(pool=POOL).connect(Hello("anna", **hello)).all(Standing)
    assert [each.detail for each in standings] == (
        [f"the pool plays tictactoe at 2+0.1, and {why}: only challenges give it matches"] if why else []
    )


def test_standing_names_only_games_and_opponents_that_the_bot_accepts() -> None:
    slow = TimeControl(60_000)
    arena = Arena(pool=replace(POOL, games=(*POOL.games, GameAtTimeControl(game_of(), slow))))
    anna = arena.connect(Hello("anna", time_controls=[str(slow)]))
    arena.connect(Hello("bert", time_controls=[str(FAST)]))
    anna.send(Status())
    assert anna.receive(Standing).detail == "in the pool for tictactoe at 60+0: nobody to play yet"


def test_standing_of_a_waiting_a_playing_and_an_idle_bot() -> None:
    arena = Arena(pool=PATIENT)
    anna, bert = connect_bots(arena, "anna", "bert")
    anna.send(Status())
    assert anna.receive(Standing).detail == "in the pool for tictactoe at 2+0.1, with 1 other bot"
    arena.wait(50)
    anna.send(Status())
    assert anna.receive(Standing).detail == "1 of at most 1 matches in play"
    arena.handle(StartDraining())
    resign_all(arena)
    bert.send(Status())
    assert bert.receive(Standing).detail == "the server is stopping and begins no new matches"
    plain = Arena().connect("anna")
    plain.send(Status())
    assert plain.receive(Standing).detail == "bots play here only by challenge, and nobody has challenged it"


def test_a_bot_gets_its_ratings_on_connecting_and_on_each_change() -> None:
    arena = Arena(pool=PATIENT)
    anna = arena.connect("anna", ratings={"tictactoe": GlickoRating(1500.0)})
    bert = arena.connect("bert")
    arena.connect("carl", ratings={"tictactoe": GlickoRating(1500.0)})
    (standing,) = anna.all(Standing)
    assert (standing.ratings, standing.deviations) == ({"tictactoe": 1500.0}, {"tictactoe": 350.0})
    assert not bert.all(Standing)
    for _ in range(2):
        arena.handle(RatingChanged("tictactoe", "bert", GlickoRating(2500.0, 65.0)))
    arena.handle(RatingChanged("tictactoe", "nobody", GlickoRating(2500.0)))
    (standing,) = bert.all(Standing)
    assert (standing.ratings, standing.deviations) == ({"tictactoe": 2500.0}, {"tictactoe": 65.0})
    arena.wait(50)
    (match,) = arena.listing().matches
    assert {match.players.maxie, match.players.minnie} == {"anna", "carl"}


def test_a_new_season_begins_without_ratings() -> None:
    arena = Arena(pool=PATIENT)
    anna = arena.connect(
        "anna", ratings={"tictactoe": GlickoRating(2500.0), "riskless": GlickoRating(1600.0)}
    )
    bert, carl = arena.connect("bert"), arena.connect("carl", ratings={"riskless": GlickoRating(1700.0)})
    for peer in (anna, bert, carl):
        peer.pop_unread()
    arena.handle(SeasonClosed("tictactoe"))
    assert anna.receive(Standing).ratings == {"riskless": 1600.0}
    assert (bert.pop_unread(), carl.pop_unread()) == ([], [])


def test_waiting_bots_are_in_order_of_arrival_and_busy_bots_do_not_wait() -> None:
    arena = Arena(pool=None)
    anna, bert = connect_bots(arena, "anna", "bert", matches=2)
    connect_bots(arena, "carl", "dora")
    arena.handle(ApplySettings(replace(arena.settings, pool=replace(POOL, rematch_pause_ms=10**9))))
    matchmaker = vars(arena.core)["_matchmaker"]
    matchmaker.update_waiting_bots()
    assert matchmaker.waiting_bot_names == ["anna", "bert", "carl", "dora"]
    for _ in range(2):
        arena.request_match(anna, bert)
    matchmaker.update_waiting_bots()
    assert matchmaker.waiting_bot_names == ["carl", "dora"]


def test_pool_matches_have_the_adjudication_rules_of_the_settings() -> None:
    arena = Arena(pool=POOL, adjudication=Adjudication(limit=2))
    connect_bots(arena, "anna", "bert")
    arena.wait(100)
    (terms,) = [each.terms for each in arena.of(SaveNewMatch)]
    assert terms.adjudication == Adjudication(limit=2)

"""Events in an arena: who enters, when they begin, what is played, and what becomes of who stays away."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from msgspec.structs import replace

from arena.protocol.codes import Code, EndReason
from arena.protocol.messages import (
    Browse,
    EnterEvent,
    Error,
    EventStatus,
    Hello,
    LeaveEvent,
    Listing,
    Resign,
    Standing,
    Start,
    Status,
)
from arena.protocol.values import Players
from arena.rating.glicko import Rating
from arena.rating.rater import FinishedMatch
from arena.server.core.effects import (
    CloseMatch,
    CommandAnswered,
    EventFinished,
    EventMatchFinished,
    EventNews,
    EventStarted,
    OpenMatch,
    RoundPaired,
    SaveEvent,
)
from arena.server.core.event_state import EventPlan, EventState, Recurrence, StoredEvent
from arena.server.core.events import NO_SHOW_NS
from arena.server.core.inputs import (
    AnnounceEvent,
    ControlEvent,
    FindClient,
    HostCommand,
    HostRequest,
    RenameEntry,
    RestoreMatches,
)
from arena.server.core.settings import OPEN_EVENT, HouseEngine, PoolGame
from tests.server.core.arena import FAST, MS, POOL, Arena, Peer, play_on
from tests.server.matches import game_of

PATIENCE_MS = NO_SHOW_NS // MS
ONE_OWNER = (Players("anna", "bert"), Players("bert", "anna"))
START = PoolGame(game_of(), FAST)
WEEKLY = Recurrence("Fri 20:00", "", "UTC", 7)


def plan(format: str = "swiss", **changes: Any) -> EventPlan:
    made = EventPlan(
        event="cup", uid="7", start_time=60, closing_time=50, format=format, rounds=3, starts=(START,)
    )
    return replace(made, **changes)


def ask(arena: Arena, request: HostRequest) -> CommandAnswered:
    arena.give(HostCommand(1, request))
    answer: CommandAnswered = arena.of(CommandAnswered)[-1]
    return answer


def state(arena: Arena) -> EventState:
    kept: SaveEvent = arena.of(SaveEvent)[-1]
    return kept.state


def entered(arena: Arena, *names: str, owner: str = "") -> list[Peer]:
    peers = [arena.enter(name, owner=owner) for name in names]
    for peer in peers:
        peer.say(EnterEvent("cup"))
        assert peer.hear(EventStatus).entered
    return peers


def begun(event: EventPlan, *names: str) -> tuple[Arena, list[Peer]]:
    """Return an arena whose event has begun, and the bots that have entered it."""
    arena = Arena()
    ask(arena, AnnounceEvent(event))
    peers = entered(arena, *names)
    arena.wait(60_100)
    return arena, peers


def play_out(arena: Arena, steps: int = 200) -> None:
    """Let all bots play until the event is over."""
    for _ in range(steps):
        play_on(arena)
        arena.wait(10)
        if state(arena).has_ended:
            return
    raise AssertionError(f"the event is not over: {state(arena)}")


def play_event(format: str, *names: str) -> tuple[Arena, list[Peer]]:
    """Return an arena in which these bots have played an event to its end, and the bots."""
    arena = Arena(pool=None)
    ask(arena, AnnounceEvent(plan(format, minutes=1)))
    peers = entered(arena, *names)
    assert not arena.of(EventNews)
    arena.wait(60_200)
    if format == "arena":
        for _ in range(50):
            play_on(arena)
            arena.wait(10)
        arena.wait(60_000)
    play_out(arena)
    return arena, peers


def test_an_event_from_its_announcement_to_its_end() -> None:
    arena = Arena(pool=None)
    assert ask(arena, AnnounceEvent(plan())) == CommandAnswered(1, "cup is announced", done=True)
    assert not ask(arena, AnnounceEvent(plan())).done
    anna, *_ = entered(arena, "anna", "bert", "carl", "dora")
    anna.say(Status())
    assert anna.hear(Standing).detail == "in the event cup: begins at 1970-01-01T00:01:00Z"
    watcher = arena.enter(Hello("eve", role="spectator")).say(Browse())
    (listed,) = watcher.hear(Listing).events
    assert (listed.event, listed.state, listed.entries, listed.begins_ms) == ("cup", "open", 4, 60_000)
    arena.wait(59_900)
    assert not arena.of(OpenMatch)
    arena.wait(200)
    assert arena.core.match_count == 2
    assert anna.all(EventStatus)[-1].detail == "round 1 of 3, 4 bots"
    play_out(arena)
    assert state(arena).phase == "over"
    met = Counter(frozenset((each.players.maxie, each.players.minnie)) for each in arena.records)
    assert set(met.values()) == {2}
    assert len(met) == 6, "three rounds of four bots are a round-robin"
    assert {each.event for each in arena.records} == {"cup"}
    assert anna.all(EventStatus)[-1].state == "over"
    assert not arena.core.events


@pytest.mark.parametrize("format", ["swiss", "round-robin", "gauntlet", "knockout", "arena"])
def test_the_webhook_is_told_of_the_beginning_each_round_each_match_and_the_end(format: str) -> None:
    names = ("anna", "bert", "carl", "dora")
    arena, _ = play_event(format, *names)
    news = [each.content for each in arena.of(EventNews) if each.event == "cup"]
    first, *between, last = news
    assert first == EventStarted(format, "tictactoe", state(arena).bots)
    assert isinstance(last, EventFinished)
    assert last.state == "over"
    assert {place.bot for place in last.places} == set(names)
    assert [place.rank for place in last.places] == sorted(place.rank for place in last.places)
    over = [each for each in between if isinstance(each, EventMatchFinished)]
    assert [each.match for each in over] == [each.match for each in arena.records]
    rounds = [each for each in between if isinstance(each, RoundPaired)]
    assert len(over) + len(rounds) == len(between)
    assert [each.round for each in rounds] == list(range(1, len(rounds) + 1))
    assert len(rounds) == {"swiss": 3, "round-robin": 3, "gauntlet": 3, "knockout": 2, "arena": 0}[format]
    met = {frozenset(pair) for each in rounds for pair in each.pairs}
    if format != "arena":
        assert met == {frozenset((each.players.maxie, each.players.minnie)) for each in over}


def test_the_cancellation_of_an_event_is_told_once_although_its_matches_end_later() -> None:
    arena, (anna, *_) = begun(plan("round-robin"), "anna", "bert", "carl", "dora")
    ask(arena, ControlEvent("cup", "cancel"))
    arena.wait(100)
    anna.say(Resign(anna.hear(Start).match))
    arena.wait(100)
    assert arena.core.match_count == 1
    play_out(arena)
    arena.wait(60_000)
    assert not arena.core.events
    assert [type(each.content) for each in arena.of(EventNews)].count(EventFinished) == 1
    (told,) = [each for each in anna.all(EventStatus) if each.state == "cancelled"]
    assert told.detail == "the event is cancelled: the host has cancelled it"


def test_a_core_that_is_built_anew_tells_nothing_twice() -> None:
    arena, _ = begun(plan(rounds=2), "anna", "bert")
    kept = state(arena)
    other = Arena()
    other.give(RestoreMatches([], {}, {}, events=[StoredEvent(kept, {})]))
    other.wait(50_000)
    assert not [each for each in other.of(EventNews) if isinstance(each.content, EventStarted)]
    assert not [
        each
        for each in other.of(EventNews)
        if isinstance(each.content, RoundPaired) and each.content.round == 1
    ]
    ask(other, ControlEvent("cup", "cancel"))
    other.wait(10)
    assert other.of(EventNews)[-1].content.state == "cancelled"


@pytest.mark.parametrize("format", ["swiss", "round-robin", "gauntlet", "knockout", "arena"])
def test_each_bot_is_told_its_place_and_points_at_the_end(format: str) -> None:
    arena, peers = play_event(format, "anna", "bert", "carl", "dora", "emil")
    told = {peer.name: peer.all(EventStatus)[-1] for peer in peers}
    records = [
        each for each in arena.records if each.result.winner or each.result.reason is not EndReason.NO_SHOW
    ]
    points = {
        name: sum(
            0.5 if each.result.winner is None else getattr(each.players, each.result.winner) == name
            for each in records
            if name in (each.players.maxie, each.players.minnie)
        )
        for name in told
    }
    byes = {
        name: 2.0 if format == "swiss" and told[name].points == points[name] + 2 else 0.0 for name in told
    }
    assert {name: each.points for name, each in told.items()} == {
        name: points[name] + byes[name] for name in told
    }
    assert sum(byes.values()) == (6 if format == "swiss" else 0), "five bots: one sits out each round"
    best, *_ = order = sorted(told.values(), key=lambda each: int(each.rank or 0))
    assert best.rank == 1
    if format != "knockout":
        scores = [float(each.points or 0) for each in order]
        assert scores == sorted(scores, reverse=True)
    assert best.detail == f"the event is over: place 1 of 5, {best.points:g} points"
    assert best.table == f"/event/{best.event}"


def test_an_event_begins_with_its_bots_by_rating_in_its_game_and_then_by_name() -> None:
    arena = Arena()
    ask(arena, AnnounceEvent(plan()))
    for name, tictactoe, riskless in (
        ("anna", 1400.0, 1900.0),
        ("carl", 1600.0, 1500.0),
        ("bert", 1600.0, 1500.0),
        ("dora", 1700.0, 1400.0),
    ):
        ratings = {"tictactoe": Rating(tictactoe), "riskless": Rating(riskless)}
        arena.enter(name, ratings=ratings).say(EnterEvent("cup"))
    arena.wait(60_000)
    assert state(arena).phase == "running"
    assert state(arena).bots == ("dora", "bert", "carl", "anna")


def test_who_is_not_there_at_the_beginning_is_not_in_it_and_with_one_alone_there_is_none() -> None:
    arena = Arena()
    ask(arena, AnnounceEvent(plan("knockout")))
    _, _, carl = entered(arena, "anna", "bert", "carl")
    carl.leave()
    arena.wait(60_100)
    assert state(arena).bots == ("anna", "bert")
    arena = Arena()
    ask(arena, AnnounceEvent(plan()))
    (anna,) = entered(arena, "anna")
    arena.wait(60_100)
    assert state(arena).phase == "cancelled"
    assert (
        anna.all(EventStatus)[-1].detail
        == "the event is cancelled: fewer than two of its bots were connected at its start"
    )


def test_who_stays_away_loses_a_round_and_after_two_is_withdrawn_until_it_returns() -> None:
    arena, (*_, dora) = begun(plan(rounds=6), "anna", "bert", "carl", "dora")
    dora.leave()
    for _ in range(2):
        play_on(arena)
        arena.wait(PATIENCE_MS + 10_000)
    play_on(arena)
    lost = [each for each in arena.records if "dora" in (each.players.maxie, each.players.minnie)]
    assert Counter(each.result.reason for each in lost)[EndReason.NO_SHOW] >= 2
    assert all(
        not effect.terms.rated for effect in arena.of(OpenMatch) if effect.terms.match == lost[-1].match
    )
    assert state(arena).withdrawn == ("dora",)
    back = arena.enter("dora")
    back.say(EnterEvent("cup"))
    assert back.hear(EventStatus).entered
    assert state(arena).withdrawn == ()
    play_out(arena)
    assert any(isinstance(each, Start) for each in back.heard)


def test_a_forfeit_says_why_the_bot_was_not_there() -> None:
    arena, (_, bert, carl, _) = begun(plan("round-robin", rounds=2), "anna", "bert", "carl", "dora")
    bert.say(Status(0))
    carl.leave()
    ask(arena, ControlEvent("cup", "withdraw", "dora"))
    for _ in range(4):
        play_on(arena)
        arena.wait(PATIENCE_MS + 10_000)
    details = {each.result.detail for each in arena.records if each.result.reason is EndReason.NO_SHOW}
    expected = (
        "bert took no more matches",
        "carl did not connect in time",
        "dora was withdrawn from the event",
    )
    assert details.issuperset(expected)


def test_who_stays_away_loses_all_matches_of_the_round_after_one_wait() -> None:
    arena, (_, bert) = begun(plan("round-robin", rounds=1, starts=(START, START)), "anna", "bert")
    play_on(arena)
    bert.leave()
    arena.wait(PATIENCE_MS + 10_000)
    assert len(arena.records) == 4
    assert [each.result.reason for each in arena.records][-3:] == [EndReason.NO_SHOW] * 3
    assert state(arena).phase == "over"


def test_the_name_of_a_series_means_the_event_in_progress_where_only_that_can_be_meant() -> None:
    arena = Arena()
    ask(arena, AnnounceEvent(plan(rounds=6, event="weekly-1", series="weekly", recurrence=WEEKLY)))
    peers = [arena.enter(name) for name in ("anna", "bert", "carl", "dora")]
    for peer in peers:
        peer.say(EnterEvent("weekly"))
    arena.wait(60_100)
    running, coming = (each.plan.event for each in arena.core.events)
    assert running == "weekly-1"
    peers[3].leave()
    for _ in range(2):
        play_on(arena)
        arena.wait(PATIENCE_MS + 10_000)
    dora = arena.enter("dora")
    dora.say(EnterEvent("weekly"))
    assert (dora.hear(EventStatus).event, state(arena).withdrawn) == (running, ()), "it returns"
    for to in ("pause", "resume"):
        assert ask(arena, ControlEvent("weekly", to)).answer.startswith(f"{running} is ")
    for _ in range(2):
        assert ask(arena, ControlEvent("weekly", "withdraw", "dora")).done
    assert [each.has_entered("dora") for each in arena.core.events] == [False, False]
    dora.say(EnterEvent("weekly"))
    assert (
        dora.hear(Error).detail
        == f"'dora' was withdrawn from {coming}: only the host or the bot's owner can enter it again"
    )
    assert ask(arena, ControlEvent("weekly", "enter", "dora")).answer == f"dora is in {running}"
    assert ask(arena, ControlEvent("weekly", "cancel")).answer == f"{running} is cancelled"


def test_a_restart_in_the_middle_of_a_round_goes_on_with_its_matches() -> None:
    names = ("anna", "bert", "carl", "dora")
    arena, _ = begun(plan(rounds=2), *names)
    play_on(arena)
    done = {
        each.match: FinishedMatch(each.match, each.game, each.players, each.result) for each in arena.records
    }
    before = {each.terms.match: each.terms.players for each in arena.of(OpenMatch)}
    again = Arena()
    again.now = arena.now
    again.give(RestoreMatches(arena.unfinished(), events=[StoredEvent(state(arena), done)]))
    for name in names:
        again.enter(name)
    again.effects.insert(0, SaveEvent(state(arena)))
    play_out(again)
    after = {each.terms.match: each.terms.players for each in again.of(OpenMatch)}
    assert not before.keys() & after.keys()
    assert len(before) + len(after) == 8
    calm, _ = begun(plan(rounds=2), *names)
    play_out(calm)
    assert {each.terms.match: each.terms.players for each in calm.of(OpenMatch)} == before | after


def test_bots_that_wait_for_an_event_get_no_match_of_the_pool_where_the_host_wants_it() -> None:
    arena = Arena(pool=POOL)
    ask(arena, AnnounceEvent(plan(hold_pool=True)))
    entered(arena, "anna", "bert")
    while arena.now < 49_000 * MS:
        arena.wait(100)
        play_on(arena)
    assert arena.records
    arena.wait(1_500)
    play_on(arena)
    played = len(arena.of(OpenMatch))
    arena.wait(8_000)
    assert len(arena.of(OpenMatch)) == played
    arena.wait(3_000)
    assert {each.terms.event for each in arena.of(OpenMatch)[played:]} == {"cup"}


def playing(arena: Arena) -> list[set[str]]:
    """Return the bots of each match so far."""
    return [{each.terms.players.maxie, each.terms.players.minnie} for each in arena.of(OpenMatch)]


def test_a_bot_with_a_due_match_gets_no_match_of_the_pool_while_its_opponent_is_busy() -> None:
    arena = Arena(pool=POOL)
    ask(arena, AnnounceEvent(plan()))
    entered(arena, "anna", "bert", "carl", "dora")
    round_one = {"anna", "carl"}, {"bert", "dora"}
    while arena.now < 58_500 * MS or playing(arena)[-1] in round_one:
        play_on(arena)
        arena.wait(100)
    arena.wait(60_100 - arena.now // MS)
    assert state(arena).phase == "running"
    before = arena.of(OpenMatch)
    assert [each.terms.event for each in before[-2:]] == [OPEN_EVENT, OPEN_EVENT]
    play_on(arena, only=playing(arena)[-1])
    arena.wait(500)
    assert arena.of(OpenMatch) == before, "both wait for their opponents in the event"
    play_on(arena)
    arena.wait(100)
    assert {each.terms.event for each in arena.of(OpenMatch)[len(before) :]} == {"cup"}
    play_out(arena)


def test_the_host_steers_an_event_and_is_told_why_not() -> None:
    arena = Arena()
    assert ask(arena, ControlEvent("cup", "pause")) == CommandAnswered(
        1, "no event 'cup' is open or in progress", done=False
    )
    ask(arena, AnnounceEvent(plan(rounds=5)))
    entered(arena, "anna", "bert", "carl")
    assert ask(arena, ControlEvent("cup", "enter", "dora")).done
    assert ask(arena, ControlEvent("cup", "withdraw", "dora")).answer == "dora is withdrawn from cup"
    arena.wait(60_100)
    assert ask(arena, ControlEvent("cup", "pause")).done
    play_on(arena)
    arena.wait(100)
    assert len(arena.of(OpenMatch)) == len(arena.records)
    assert ask(arena, ControlEvent("cup", "resume")).done
    arena.wait(100)
    assert arena.core.match_count
    assert ask(arena, ControlEvent("cup", "cancel")).done
    play_on(arena)
    arena.wait(100)
    assert not arena.core.match_count
    assert not arena.core.events


def test_an_entry_that_is_not_taken_is_refused_with_the_reason() -> None:
    arena = Arena()
    ask(arena, AnnounceEvent(plan("knockout", invited=("anna", "bert"))))
    ((carl,), guest) = [arena.enter("carl")], arena.enter("guest-1", guest=True)
    for peer, event, why in (
        (carl, "cup", "cup is open only to invited bots, and 'carl' is not invited"),
        (carl, "tea", "no event 'tea' is open or in progress"),
        (guest, "cup", "a guest cannot enter events; ask the host for a token"),
    ):
        peer.say(EnterEvent(event))
        assert peer.hear(Error) == Error(Code.NO_SUCH_EVENT, why)
    anna, _ = entered(arena, "anna", "bert")
    anna.say(LeaveEvent("cup"))
    assert not anna.hear(EventStatus).entered
    arena.wait(51_000)
    anna.say(EnterEvent("cup"))
    assert anna.hear(Error).detail == "the entries of cup are closed: it is about to begin"


def test_an_arena_lasts_as_long_as_its_host_said() -> None:
    arena, _ = begun(plan("arena", minutes=1), "anna", "bert", "carl")
    while not state(arena).has_ended:
        play_on(arena)
        arena.wait(500)
    assert arena.now <= 122_000 * MS
    met = Counter(frozenset((each.players.maxie, each.players.minnie)) for each in arena.records)
    assert len(met) == 3
    assert sum(met.values()) > 50


@pytest.mark.parametrize("rated", [True, False])
@pytest.mark.parametrize("format", ["arena", "round-robin", "swiss", "knockout"])
def test_bots_of_one_owner_play_no_rated_match(format: str, rated: bool) -> None:
    arena = Arena()
    ask(arena, AnnounceEvent(plan(format, minutes=1, rated=rated)))
    entered(arena, "anna", "bert", owner="eve")
    entered(arena, "carl", "dora")
    arena.wait(60_100)
    while not state(arena).has_ended:
        play_on(arena)
        arena.wait(500)
    together = [each for each in arena.of(CloseMatch) if each.record.players in ONE_OWNER]
    assert not any(each.rated for each in together)
    others = [each for each in arena.of(CloseMatch) if each.record.players not in ONE_OWNER]
    assert others
    assert all(each.rated == rated for each in others)
    if format == "arena":
        assert bool(together) != rated, "in an arena there is somebody else"
    if format == "round-robin":
        assert together, "all play all"


def test_a_series_ends_if_its_next_event_and_all_further_ones_are_cancelled() -> None:
    arena = Arena()
    ask(arena, AnnounceEvent(plan(rounds=6, event="weekly-1", series="weekly", recurrence=WEEKLY)))
    for name in ("anna", "bert"):
        arena.enter(name).say(EnterEvent("weekly"))
    arena.wait(60_100)
    running, coming = (each.plan.event for each in arena.core.events)
    told = ask(arena, ControlEvent("weekly", "stop")).answer
    assert told == f"{coming} is cancelled, and weekly is not repeated"
    arena.wait(100)
    assert [each.plan.event for each in arena.core.events] == [running]
    ask(arena, ControlEvent("weekly", "cancel"))
    play_on(arena)
    arena.wait(100)
    assert not arena.core.events


def test_a_client_is_found_while_it_is_connected() -> None:
    arena = Arena()
    anna = arena.enter("anna")
    assert ask(arena, FindClient("anna")).done
    assert not ask(arena, FindClient("bert")).done
    anna.leave()
    answer = ask(arena, FindClient("anna"))
    assert (answer.done, answer.answer) == (False, "anna is not connected")


def test_a_bot_is_renamed_and_removed_in_all_events_that_have_not_begun() -> None:
    arena = Arena()
    ask(arena, AnnounceEvent(plan(invited=("anna", "bert", "carl"))))
    entered(arena, "anna", "bert", "carl")
    ask(arena, ControlEvent("cup", "withdraw", "carl"))
    assert ask(arena, RenameEntry("anna", "tiger")).answer == "anna is renamed to tiger"
    assert ask(arena, RenameEntry("carl", "")).answer == "carl is removed"
    (known,) = arena.core.events
    assert (known.bots, known.excluded, known.plan.invited) == (("tiger", "bert"), (), ("tiger", "bert"))
    assert state(arena) == known
    ask(arena, AnnounceEvent(plan(event="other", uid="8", start_time=500)))
    ask(arena, ControlEvent("other", "enter", "bert"))
    arena.enter("tiger")
    arena.wait(60_100)
    ask(arena, RenameEntry("bert", "lion"))
    assert [each.bots for each in arena.core.events] == [("bert", "tiger"), ("lion",)], "cup has begun"


def test_a_name_of_the_house_without_an_engine_is_not_entered() -> None:
    arena = Arena(house=(HouseEngine("house-greedy", "greedy"),))
    ask(arena, AnnounceEvent(plan()))
    answer = ask(arena, ControlEvent("cup", "enter", "house-greddy"))
    told = "this server has no engine called 'house-greddy'; did you mean \"house-greedy\"?"
    assert (answer.done, answer.answer) == (False, told)
    assert ask(arena, ControlEvent("cup", "enter", "house-greedy")).done


def test_a_bot_that_is_away_is_entered_by_its_stored_rating() -> None:
    arena = Arena()
    ask(arena, AnnounceEvent(plan(ratings=(1600, 1800))))
    arena.give(HostCommand(1, ControlEvent("cup", "enter", "anna", {"tictactoe": 1700.0, "riskless": 900.0})))
    assert arena.of(CommandAnswered)[-1].done
    arena.give(HostCommand(2, ControlEvent("cup", "enter", "bert", {"riskless": 1700.0})))
    told = arena.of(CommandAnswered)[-1].answer
    assert told == "cup is open to ratings of 1600 to 1800, but 'bert' is rated 1500"

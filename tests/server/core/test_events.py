"""Events in an arena: entries, start, matches, forfeits of absent bots, and messages about them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from msgspec.structs import replace

from arena.protocol.codes import EndReason, ErrorCode
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
from arena.rating.glicko import GlickoRating
from arena.rating.rater import FinishedMatch
from arena.server.core.effects import (
    EventFinished,
    EventMatchFinished,
    EventNews,
    EventStarted,
    RoundPaired,
    SaveEvent,
    SaveFinishedMatch,
    SaveNewMatch,
    StoredRequestAnswered,
)
from arena.server.core.event_state import EventPlan, EventState, Recurrence, StoredEvent
from arena.server.core.events import MAX_WAIT_FOR_ABSENT_BOT_NS
from arena.server.core.inputs import (
    AnnounceTournament,
    ChangeTournament,
    FindConnectedClient,
    NumberedStoredRequest,
    RenameTournamentEntry,
    RestoredState,
    StoredRequest,
)
from arena.server.core.settings import OPEN_POOL_EVENT_NAME, GameAtTimeControl, HouseEngine
from tests.server.core.arena import FAST, MS, POOL, Arena, Peer, play_until_quiet
from tests.server.matches import game_of

PATIENCE_MS = MAX_WAIT_FOR_ABSENT_BOT_NS // MS
ONE_OWNER = (Players("anna", "bert"), Players("bert", "anna"))
START = GameAtTimeControl(game_of(), FAST)
WEEKLY = Recurrence("Fri 20:00", "", "UTC", 7)


def plan(format: str = "swiss", **changes: Any) -> EventPlan:
    made = EventPlan(
        event_name="cup",
        event_uid="7",
        start_unix_s=60,
        closing_unix_s=50,
        format_name=format,
        round_count=3,
        games=(START,),
    )
    return replace(made, **changes)


def send_command(arena: Arena, request: StoredRequest) -> StoredRequestAnswered:
    """Return the core's answer to a command of the host."""
    arena.handle(NumberedStoredRequest(1, request))
    answer: StoredRequestAnswered = arena.of(StoredRequestAnswered)[-1]
    return answer


def get_stored_state(arena: Arena) -> EventState:
    """Return the last stored state of an event."""
    saved: SaveEvent = arena.of(SaveEvent)[-1]
    return saved.state


def enter_bots(arena: Arena, *names: str, owner: str = "") -> list[Peer]:
    """Connect bots, and enter them in the event `cup`."""
    peers = [arena.connect(name, owner=owner) for name in names]
    for peer in peers:
        peer.send(EnterEvent("cup"))
        assert peer.receive(EventStatus).entered
    return peers


def begin_event(event: EventPlan, *names: str) -> tuple[Arena, list[Peer]]:
    """Return an arena in which the event has begun, and the bots that have entered the event."""
    arena = Arena()
    send_command(arena, AnnounceTournament(event))
    peers = enter_bots(arena, *names)
    arena.wait(60_100)
    return arena, peers


def play_out(arena: Arena, steps: int = 200) -> None:
    """Let all bots play until the event is over."""
    for _ in range(steps):
        play_until_quiet(arena)
        arena.wait(10)
        if get_stored_state(arena).has_ended:
            return
    raise AssertionError(f"the event is not over: {get_stored_state(arena)}")


def play_event(format: str, *names: str) -> tuple[Arena, list[Peer]]:
    """Let these bots play an event to its end. Return the arena and the bots."""
    arena = Arena(pool=None)
    send_command(arena, AnnounceTournament(plan(format, duration_minutes=1)))
    peers = enter_bots(arena, *names)
    assert not arena.of(EventNews)
    arena.wait(60_200)
    if format == "arena":
        for _ in range(50):
            play_until_quiet(arena)
            arena.wait(10)
        arena.wait(60_000)
    play_out(arena)
    return arena, peers


def test_an_event_from_its_announcement_to_its_end() -> None:
    arena = Arena(pool=None)
    assert send_command(arena, AnnounceTournament(plan())) == StoredRequestAnswered(
        1, "cup is announced", succeeded=True
    )
    assert not send_command(arena, AnnounceTournament(plan())).succeeded
    anna, *_ = enter_bots(arena, "anna", "bert", "carl", "dora")
    anna.send(Status())
    assert anna.receive(Standing).detail == "in the event cup: begins at 1970-01-01T00:01:00Z"
    watcher = arena.connect(Hello("eve", role="spectator")).send(Browse())
    (listed,) = watcher.receive(Listing).events
    assert (listed.event, listed.state, listed.entries, listed.begins_ms) == ("cup", "open", 4, 60_000)
    arena.wait(59_900)
    assert not arena.of(SaveNewMatch)
    arena.wait(200)
    assert arena.core.match_count == 2
    assert anna.all(EventStatus)[-1].detail == "round 1 of 3, 4 bots"
    play_out(arena)
    assert get_stored_state(arena).phase == "over"
    met = Counter(frozenset((each.players.maxie, each.players.minnie)) for each in arena.records)
    assert set(met.values()) == {2}
    assert len(met) == 6, "three rounds of four bots are a round-robin"
    assert {each.event for each in arena.records} == {"cup"}
    assert anna.all(EventStatus)[-1].state == "over"
    assert not arena.core.event_states


@pytest.mark.parametrize("format", ["swiss", "round-robin", "gauntlet", "knockout", "arena"])
def test_the_webhook_gets_the_start_each_round_each_match_and_the_end(format: str) -> None:
    names = ("anna", "bert", "carl", "dora")
    arena, _ = play_event(format, *names)
    news = [each.content for each in arena.of(EventNews) if each.event_name == "cup"]
    first, *between, last = news
    assert first == EventStarted(format, "tictactoe", get_stored_state(arena).entered_bots)
    assert isinstance(last, EventFinished)
    assert last.event_phase == "over"
    assert {place.bot_name for place in last.final_ranks} == set(names)
    assert [place.rank for place in last.final_ranks] == sorted(place.rank for place in last.final_ranks)
    over = [each for each in between if isinstance(each, EventMatchFinished)]
    assert [each.match_id for each in over] == [each.match for each in arena.records]
    rounds = [each for each in between if isinstance(each, RoundPaired)]
    assert len(over) + len(rounds) == len(between)
    assert [each.round_number for each in rounds] == list(range(1, len(rounds) + 1))
    assert len(rounds) == {"swiss": 3, "round-robin": 3, "gauntlet": 3, "knockout": 2, "arena": 0}[format]
    met = {frozenset(pair) for each in rounds for pair in each.bot_pairs}
    if format != "arena":
        assert met == {frozenset((each.players.maxie, each.players.minnie)) for each in over}


def test_a_cancellation_is_reported_once_although_matches_end_later() -> None:
    arena, (anna, *_) = begin_event(plan("round-robin"), "anna", "bert", "carl", "dora")
    send_command(arena, ChangeTournament("cup", "cancel"))
    arena.wait(100)
    anna.send(Resign(anna.receive(Start).match))
    arena.wait(100)
    assert arena.core.match_count == 1
    play_out(arena)
    arena.wait(60_000)
    assert not arena.core.event_states
    assert [type(each.content) for each in arena.of(EventNews)].count(EventFinished) == 1
    (status,) = [each for each in anna.all(EventStatus) if each.state == "cancelled"]
    assert status.detail == "the event is cancelled: the host has cancelled it"


def test_a_restored_core_reports_no_news_twice() -> None:
    arena, _ = begin_event(plan(round_count=2), "anna", "bert")
    stored_state = get_stored_state(arena)
    other = Arena()
    other.handle(RestoredState([], {}, {}, unfinished_events=[StoredEvent(stored_state, {})]))
    other.wait(50_000)
    assert not [each for each in other.of(EventNews) if isinstance(each.content, EventStarted)]
    assert not [
        each
        for each in other.of(EventNews)
        if isinstance(each.content, RoundPaired) and each.content.round_number == 1
    ]
    send_command(other, ChangeTournament("cup", "cancel"))
    other.wait(10)
    assert other.of(EventNews)[-1].content.event_phase == "cancelled"


@pytest.mark.parametrize("format", ["swiss", "round-robin", "gauntlet", "knockout", "arena"])
def test_each_bot_gets_its_final_rank_and_points(format: str) -> None:
    arena, peers = play_event(format, "anna", "bert", "carl", "dora", "emil")
    final_statuses = {peer.name: peer.all(EventStatus)[-1] for peer in peers}
    records = [
        each for each in arena.records if each.result.winner or each.result.reason is not EndReason.NO_SHOW
    ]
    points = {
        name: sum(
            0.5 if each.result.winner is None else getattr(each.players, each.result.winner) == name
            for each in records
            if name in (each.players.maxie, each.players.minnie)
        )
        for name in final_statuses
    }
    byes = {
        name: 2.0 if format == "swiss" and final_statuses[name].points == points[name] + 2 else 0.0
        for name in final_statuses
    }
    assert {name: each.points for name, each in final_statuses.items()} == {
        name: points[name] + byes[name] for name in final_statuses
    }
    assert sum(byes.values()) == (6 if format == "swiss" else 0), (
        "one of the five bots has a bye in each round"
    )
    best, *_ = order = sorted(final_statuses.values(), key=lambda each: int(each.rank or 0))
    assert best.rank == 1
    if format != "knockout":
        scores = [float(each.points or 0) for each in order]
        assert scores == sorted(scores, reverse=True)
    assert best.detail == f"the event is over: place 1 of 5, {best.points:g} points"
    assert best.table == f"/event/{best.event}"


def test_the_bots_of_an_event_are_ordered_by_rating_in_its_game_then_by_name() -> None:
    arena = Arena()
    send_command(arena, AnnounceTournament(plan()))
    for name, tictactoe, riskless in (
        ("anna", 1400.0, 1900.0),
        ("carl", 1600.0, 1500.0),
        ("bert", 1600.0, 1500.0),
        ("dora", 1700.0, 1400.0),
    ):
        ratings = {"tictactoe": GlickoRating(tictactoe), "riskless": GlickoRating(riskless)}
        arena.connect(name, ratings=ratings).send(EnterEvent("cup"))
    arena.wait(60_000)
    assert get_stored_state(arena).phase == "running"
    assert get_stored_state(arena).entered_bots == ("dora", "bert", "carl", "anna")


def test_an_event_begins_without_absent_bots_and_needs_two_bots() -> None:
    arena = Arena()
    send_command(arena, AnnounceTournament(plan("knockout")))
    _, _, carl = enter_bots(arena, "anna", "bert", "carl")
    carl.disconnect()
    arena.wait(60_100)
    assert get_stored_state(arena).entered_bots == ("anna", "bert")
    arena = Arena()
    send_command(arena, AnnounceTournament(plan()))
    (anna,) = enter_bots(arena, "anna")
    arena.wait(60_100)
    assert get_stored_state(arena).phase == "cancelled"
    assert (
        anna.all(EventStatus)[-1].detail
        == "the event is cancelled: fewer than two of its bots were connected at its start"
    )


def test_an_absent_bot_forfeits_and_is_withdrawn_after_two_rounds_until_it_returns() -> None:
    arena, (*_, dora) = begin_event(plan(round_count=6), "anna", "bert", "carl", "dora")
    dora.disconnect()
    for _ in range(2):
        play_until_quiet(arena)
        arena.wait(PATIENCE_MS + 10_000)
    play_until_quiet(arena)
    lost = [each for each in arena.records if "dora" in (each.players.maxie, each.players.minnie)]
    assert Counter(each.result.reason for each in lost)[EndReason.NO_SHOW] >= 2
    assert all(
        not effect.terms.rated for effect in arena.of(SaveNewMatch) if effect.terms.match == lost[-1].match
    )
    assert get_stored_state(arena).withdrawn_bots == ("dora",)
    back = arena.connect("dora")
    back.send(EnterEvent("cup"))
    assert back.receive(EventStatus).entered
    assert get_stored_state(arena).withdrawn_bots == ()
    play_out(arena)
    assert any(isinstance(each, Start) for each in back.received)


def test_a_forfeit_states_why_the_bot_was_absent() -> None:
    arena, (_, bert, carl, _) = begin_event(
        plan("round-robin", round_count=2), "anna", "bert", "carl", "dora"
    )
    bert.send(Status(0))
    carl.disconnect()
    send_command(arena, ChangeTournament("cup", "withdraw", "dora"))
    for _ in range(4):
        play_until_quiet(arena)
        arena.wait(PATIENCE_MS + 10_000)
    details = {each.result.detail for each in arena.records if each.result.reason is EndReason.NO_SHOW}
    expected = (
        "bert took no more matches",
        "carl did not connect in time",
        "dora was withdrawn from the event",
    )
    assert details.issuperset(expected)


def test_an_absent_bot_forfeits_all_matches_of_a_round_after_one_wait() -> None:
    arena, (_, bert) = begin_event(plan("round-robin", round_count=1, games=(START, START)), "anna", "bert")
    play_until_quiet(arena)
    bert.disconnect()
    arena.wait(PATIENCE_MS + 10_000)
    assert len(arena.records) == 4
    assert [each.result.reason for each in arena.records][-3:] == [EndReason.NO_SHOW] * 3
    assert get_stored_state(arena).phase == "over"


def test_the_name_of_a_series_means_its_running_event_for_actions_on_running_events() -> None:
    arena = Arena()
    send_command(
        arena,
        AnnounceTournament(
            plan(round_count=6, event_name="weekly-1", series_name="weekly", recurrence=WEEKLY)
        ),
    )
    peers = [arena.connect(name) for name in ("anna", "bert", "carl", "dora")]
    for peer in peers:
        peer.send(EnterEvent("weekly"))
    arena.wait(60_100)
    running, coming = (each.plan.event_name for each in arena.core.event_states)
    assert running == "weekly-1"
    peers[3].disconnect()
    for _ in range(2):
        play_until_quiet(arena)
        arena.wait(PATIENCE_MS + 10_000)
    dora = arena.connect("dora")
    dora.send(EnterEvent("weekly"))
    assert (dora.receive(EventStatus).event, get_stored_state(arena).withdrawn_bots) == (running, ()), (
        "dora returns to the event in progress"
    )
    for to in ("pause", "resume"):
        assert send_command(arena, ChangeTournament("weekly", to)).answer.startswith(f"{running} is ")
    for _ in range(2):
        assert send_command(arena, ChangeTournament("weekly", "withdraw", "dora")).succeeded
    assert [each.has_entered("dora") for each in arena.core.event_states] == [False, False]
    dora.send(EnterEvent("weekly"))
    assert (
        dora.receive(Error).detail
        == f"'dora' was withdrawn from {coming}: only the host or the bot's owner can enter it again"
    )
    assert send_command(arena, ChangeTournament("weekly", "enter", "dora")).answer == f"dora is in {running}"
    assert send_command(arena, ChangeTournament("weekly", "cancel")).answer == f"{running} is cancelled"


def test_after_a_restart_in_a_round_the_event_continues_its_matches() -> None:
    names = ("anna", "bert", "carl", "dora")
    arena, _ = begin_event(plan(round_count=2), *names)
    play_until_quiet(arena)
    done = {
        each.match: FinishedMatch(each.match, each.game, each.players, each.result) for each in arena.records
    }
    before = {each.terms.match: each.terms.players for each in arena.of(SaveNewMatch)}
    again = Arena()
    again.now = arena.now
    again.handle(
        RestoredState(arena.unfinished(), unfinished_events=[StoredEvent(get_stored_state(arena), done)])
    )
    for name in names:
        again.connect(name)
    again.effects.insert(0, SaveEvent(get_stored_state(arena)))
    play_out(again)
    after = {each.terms.match: each.terms.players for each in again.of(SaveNewMatch)}
    assert not before.keys() & after.keys()
    assert len(before) + len(after) == 8
    calm, _ = begin_event(plan(round_count=2), *names)
    play_out(calm)
    assert {each.terms.match: each.terms.players for each in calm.of(SaveNewMatch)} == before | after


def test_with_hold_pool_entered_bots_get_no_pool_match_after_the_entries_close() -> None:
    arena = Arena(pool=POOL)
    send_command(arena, AnnounceTournament(plan(reserves_entered_bots=True)))
    enter_bots(arena, "anna", "bert")
    while arena.now < 49_000 * MS:
        arena.wait(100)
        play_until_quiet(arena)
    assert arena.records
    arena.wait(1_500)
    play_until_quiet(arena)
    played = len(arena.of(SaveNewMatch))
    arena.wait(8_000)
    assert len(arena.of(SaveNewMatch)) == played
    arena.wait(3_000)
    assert {each.terms.event for each in arena.of(SaveNewMatch)[played:]} == {"cup"}


def list_match_bots(arena: Arena) -> list[set[str]]:
    """Return the names of the bots of each match so far."""
    return [{each.terms.players.maxie, each.terms.players.minnie} for each in arena.of(SaveNewMatch)]


def test_a_bot_with_a_due_event_match_gets_no_pool_match() -> None:
    arena = Arena(pool=POOL)
    send_command(arena, AnnounceTournament(plan()))
    enter_bots(arena, "anna", "bert", "carl", "dora")
    round_one = {"anna", "carl"}, {"bert", "dora"}
    while arena.now < 58_500 * MS or list_match_bots(arena)[-1] in round_one:
        play_until_quiet(arena)
        arena.wait(100)
    arena.wait(60_100 - arena.now // MS)
    assert get_stored_state(arena).phase == "running"
    before = arena.of(SaveNewMatch)
    assert [each.terms.event for each in before[-2:]] == [OPEN_POOL_EVENT_NAME, OPEN_POOL_EVENT_NAME]
    play_until_quiet(arena, only=list_match_bots(arena)[-1])
    arena.wait(500)
    assert arena.of(SaveNewMatch) == before, "both bots wait for their opponents in the event"
    play_until_quiet(arena)
    arena.wait(100)
    assert {each.terms.event for each in arena.of(SaveNewMatch)[len(before) :]} == {"cup"}
    play_out(arena)


def test_commands_of_the_host_change_an_event_or_are_refused_with_the_reason() -> None:
    arena = Arena()
    assert send_command(arena, ChangeTournament("cup", "pause")) == StoredRequestAnswered(
        1, "no event 'cup' is open or in progress", succeeded=False
    )
    send_command(arena, AnnounceTournament(plan(round_count=5)))
    enter_bots(arena, "anna", "bert", "carl")
    assert send_command(arena, ChangeTournament("cup", "enter", "dora")).succeeded
    assert (
        send_command(arena, ChangeTournament("cup", "withdraw", "dora")).answer
        == "dora is withdrawn from cup"
    )
    arena.wait(60_100)
    assert send_command(arena, ChangeTournament("cup", "pause")).succeeded
    play_until_quiet(arena)
    arena.wait(100)
    assert len(arena.of(SaveNewMatch)) == len(arena.records)
    assert send_command(arena, ChangeTournament("cup", "resume")).succeeded
    arena.wait(100)
    assert arena.core.match_count
    assert send_command(arena, ChangeTournament("cup", "cancel")).succeeded
    play_until_quiet(arena)
    arena.wait(100)
    assert not arena.core.match_count
    assert not arena.core.event_states


def test_a_refused_entry_gets_the_reason() -> None:
    arena = Arena()
    send_command(arena, AnnounceTournament(plan("knockout", invited_bots=("anna", "bert"))))
    ((carl,), guest) = [arena.connect("carl")], arena.connect("guest-1", is_guest=True)
    for peer, event, why in (
        (carl, "cup", "cup is open only to invited bots, and 'carl' is not invited"),
        (carl, "tea", "no event 'tea' is open or in progress"),
        (guest, "cup", "a guest cannot enter events; ask the host for a token"),
    ):
        peer.send(EnterEvent(event))
        assert peer.receive(Error) == Error(ErrorCode.NO_SUCH_EVENT, why)
    anna, _ = enter_bots(arena, "anna", "bert")
    anna.send(LeaveEvent("cup"))
    assert not anna.receive(EventStatus).entered
    arena.wait(51_000)
    anna.send(EnterEvent("cup"))
    assert anna.receive(Error).detail == "the entries of cup are closed: it is about to begin"


def test_an_event_of_the_format_arena_ends_after_its_minutes() -> None:
    arena, _ = begin_event(plan("arena", duration_minutes=1), "anna", "bert", "carl")
    while not get_stored_state(arena).has_ended:
        play_until_quiet(arena)
        arena.wait(500)
    assert arena.now <= 122_000 * MS
    met = Counter(frozenset((each.players.maxie, each.players.minnie)) for each in arena.records)
    assert len(met) == 3
    assert sum(met.values()) > 50


@pytest.mark.parametrize("rated", [True, False])
@pytest.mark.parametrize("format", ["arena", "round-robin", "swiss", "knockout"])
def test_bots_of_one_owner_play_no_rated_match(format: str, rated: bool) -> None:
    arena = Arena()
    send_command(arena, AnnounceTournament(plan(format, duration_minutes=1, is_rated=rated)))
    enter_bots(arena, "anna", "bert", owner="eve")
    enter_bots(arena, "carl", "dora")
    arena.wait(60_100)
    while not get_stored_state(arena).has_ended:
        play_until_quiet(arena)
        arena.wait(500)
    together = [each for each in arena.of(SaveFinishedMatch) if each.record.players in ONE_OWNER]
    assert not any(each.is_rated for each in together)
    others = [each for each in arena.of(SaveFinishedMatch) if each.record.players not in ONE_OWNER]
    assert others
    assert all(each.is_rated == rated for each in others)
    if format == "arena":
        assert bool(together) != rated, "without rating, bots of one owner may meet"
    if format == "round-robin":
        assert together, "all bots meet in a round-robin"


def test_stop_cancels_the_next_event_and_ends_the_series() -> None:
    arena = Arena()
    send_command(
        arena,
        AnnounceTournament(
            plan(round_count=6, event_name="weekly-1", series_name="weekly", recurrence=WEEKLY)
        ),
    )
    for name in ("anna", "bert"):
        arena.connect(name).send(EnterEvent("weekly"))
    arena.wait(60_100)
    running, coming = (each.plan.event_name for each in arena.core.event_states)
    answer = send_command(arena, ChangeTournament("weekly", "stop")).answer
    assert answer == f"{coming} is cancelled, and weekly is not repeated"
    arena.wait(100)
    assert [each.plan.event_name for each in arena.core.event_states] == [running]
    send_command(arena, ChangeTournament("weekly", "cancel"))
    play_until_quiet(arena)
    arena.wait(100)
    assert not arena.core.event_states


def test_a_client_is_found_while_it_is_connected() -> None:
    arena = Arena()
    anna = arena.connect("anna")
    assert send_command(arena, FindConnectedClient("anna")).succeeded
    assert not send_command(arena, FindConnectedClient("bert")).succeeded
    anna.disconnect()
    answer = send_command(arena, FindConnectedClient("anna"))
    assert (answer.succeeded, answer.answer) == (False, "anna is not connected")


def test_a_bot_is_renamed_and_removed_in_all_events_that_have_not_begun() -> None:
    arena = Arena()
    send_command(arena, AnnounceTournament(plan(invited_bots=("anna", "bert", "carl"))))
    enter_bots(arena, "anna", "bert", "carl")
    send_command(arena, ChangeTournament("cup", "withdraw", "carl"))
    assert send_command(arena, RenameTournamentEntry("anna", "tiger")).answer == "anna is renamed to tiger"
    assert send_command(arena, RenameTournamentEntry("carl", "")).answer == "carl is removed"
    (known,) = arena.core.event_states
    assert (known.entered_bots, known.excluded_bots, known.plan.invited_bots) == (
        ("tiger", "bert"),
        (),
        ("tiger", "bert"),
    )
    assert get_stored_state(arena) == known
    send_command(arena, AnnounceTournament(plan(event_name="other", event_uid="8", start_unix_s=500)))
    send_command(arena, ChangeTournament("other", "enter", "bert"))
    arena.connect("tiger")
    arena.wait(60_100)
    send_command(arena, RenameTournamentEntry("bert", "lion"))
    assert [each.entered_bots for each in arena.core.event_states] == [("bert", "tiger"), ("lion",)], (
        "cup has begun"
    )


def test_an_unknown_house_engine_is_not_entered() -> None:
    arena = Arena(house_engines=(HouseEngine("house-greedy", "greedy"),))
    send_command(arena, AnnounceTournament(plan()))
    answer = send_command(arena, ChangeTournament("cup", "enter", "house-greddy"))
    reason = "this server has no engine called 'house-greddy'; did you mean \"house-greedy\"?"
    assert (answer.succeeded, answer.answer) == (False, reason)
    assert send_command(arena, ChangeTournament("cup", "enter", "house-greedy")).succeeded


def test_a_disconnected_bot_is_entered_with_its_stored_rating() -> None:
    arena = Arena()
    send_command(arena, AnnounceTournament(plan(rating_bounds=(1600, 1800))))
    arena.handle(
        NumberedStoredRequest(
            1, ChangeTournament("cup", "enter", "anna", {"tictactoe": 1700.0, "riskless": 900.0})
        )
    )
    assert arena.of(StoredRequestAnswered)[-1].succeeded
    arena.handle(NumberedStoredRequest(2, ChangeTournament("cup", "enter", "bert", {"riskless": 1700.0})))
    answer = arena.of(StoredRequestAnswered)[-1].answer
    assert answer == "cup is open to ratings of 1600 to 1800, but 'bert' is rated 1500"

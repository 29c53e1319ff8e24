"""A single event: after each restart, it has the same pairings and all results."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from arena.protocol.codes import EndReason
from arena.protocol.record import Result
from arena.protocol.timecontrol import TimeControl
from arena.protocol.values import Players, Seat
from arena.rating.pairing import Pairing
from arena.rating.rater import FinishedMatch
from arena.server.core.event import EventRequestRefused, TournamentEvent
from arena.server.core.event_state import EventPlan, EventState, StoredEvent
from arena.server.core.settings import GameAtTimeControl
from tests.properties import examples
from tests.server.matches import game_of

START = GameAtTimeControl(game_of(), TimeControl.parse("1+0"))
Done = dict[str, FinishedMatch]


def plan(format: str, **changes: object) -> EventPlan:
    made = EventPlan(
        event_name="cup",
        event_uid="7",
        start_unix_s=100,
        closing_unix_s=100,
        format_name=format,
        round_count=3,
        duration_minutes=10,
        games=(START,),
    )
    return replace(made, **changes)


def outcome(match: str, pairing: Pairing, lost: set[str]) -> Result:
    """Return a result that depends only on the id of the match. The bots in `lost` never appear."""
    absent = {pairing.maxie, pairing.minnie} & lost
    if absent:
        winner: Seat | None = None if len(absent) == 2 else "minnie" if pairing.maxie in absent else "maxie"
        return Result(winner, EndReason.NO_SHOW)
    dice = sha256(match.encode()).digest()[0]
    seats: tuple[Seat | None, ...] = ("maxie", "minnie", None)
    return Result(None, EndReason.SERVER_FAULT) if dice < 20 else Result(seats[dice % 3], EndReason.LINE)


def finish_match(event: TournamentEvent, done: Done, lost: set[str]) -> None:
    """End the match in progress that has the lowest id, and add it to `done`."""
    match = min(event.matches_in_progress)
    pairing = event.matches_in_progress[match]
    result = outcome(match, pairing, lost)
    assert match not in done
    done[match] = FinishedMatch(match, "", Players(pairing.maxie, pairing.minnie), result)
    event.record_match_result(match, result)


def restore_event(event: TournamentEvent, done: Done) -> TournamentEvent:
    """Return the event as a restarted server restores it."""
    again = TournamentEvent(StoredEvent(event.state, dict(done)))
    again.restore_matches_in_progress(
        {match: Players(each.maxie, each.minnie) for match, each in event.matches_in_progress.items()}
    )
    assert [again.compute_place(bot) for bot in event.state.entered_bots] == [
        event.compute_place(bot) for bot in event.state.entered_bots
    ]
    return again


def play(
    event: TournamentEvent, dice: Random, *, kills: float, lost: set[str], leave: dict[int, str]
) -> Done:
    """Play an event to its end, with a restart before each step by the probability `kills`, and return the finished matches.

    leave  bot that leaves the event, by the number of matches finished before
    """
    done: Done = {}
    while not event.is_finished:
        if dice.random() < kills:
            event = restore_event(event, done)
        busy = {bot for each in event.matches_in_progress.values() for bot in (each.maxie, each.minnie)}
        free = [each for each in event.list_due_matches() if busy.isdisjoint((each.maxie, each.minnie))]
        if free and (not event.matches_in_progress or dice.random() < 0.5):
            event.record_match_start(free[0])
            continue
        finish_match(event, done, lost)
        for bot in (leave.pop(len(done), ""),):
            if bot:
                event.withdraw_entered_bot(bot)
    return done


def begin_event(format: str, bots: int, **changes: object) -> TournamentEvent:
    event = TournamentEvent(StoredEvent(EventState(plan(format, **changes)), {}))
    names = [f"b{number}" for number in range(bots)]
    for name in names:
        event.enter_bot(name, 1500)
    event.begin_with_bots(names)
    return event


@pytest.mark.parametrize("format", ["round-robin", "gauntlet", "swiss", "knockout"])
@examples(10)
@given(st.integers(2, 7), st.sets(st.integers(0, 6), max_size=2), st.integers(0, 1000), st.data())
def test_an_event_has_the_same_pairings_after_a_restart_at_any_step(
    format: str, bots: int, lost: set[int], seed: int, data: st.DataObject
) -> None:
    away = {f"b{number}" for number in lost if number < bots}
    leaves = {5: "b1"} if data.draw(st.booleans()) else {}
    calm = play(begin_event(format, bots), Random(seed), kills=0, lost=away, leave=dict(leaves))
    for kills in (0.3, 1):
        stormy = play(begin_event(format, bots), Random(seed), kills=kills, lost=away, leave=dict(leaves))
        if not leaves:
            # Restarts change the order of the matches, but the same matches are played, and none is lost.
            assert stormy == calm


@examples(10)
@given(st.integers(3, 9), st.integers(0, 1000), st.integers(1, 12))
def test_a_late_entry_to_a_swiss_event_is_paired_from_the_next_round_on(
    bots: int, seed: int, when: int
) -> None:
    def played(kills: float) -> Done:
        event, dice, done = begin_event("swiss", bots, round_count=5), Random(seed), Done()
        while not event.is_finished:
            if len(done) == when and "late" not in event.state.entered_bots:
                event.enter_bot("late", 1500)
            if dice.random() < kills:
                event = restore_event(event, done)
            for each in event.list_due_matches():
                event.record_match_start(each)
            finish_match(event, done, set())
        return done

    calm = played(0)
    # Restarts change the order of the matches, but the same matches are played.
    assert played(0.5) == played(1) == calm
    first = list(calm.values())[: when + 1]
    assert not any("late" in (each.players.maxie, each.players.minnie) for each in first)


@given(st.integers(2, 7), st.integers(1, 3), st.integers(0, 1000))
def test_a_bot_ranks_above_the_first_bot_of_a_gauntlet_if_it_beat_that_bot(
    bots: int, rounds: int, seed: int
) -> None:
    event = begin_event("gauntlet", bots, round_count=rounds)
    play(event, Random(seed), kills=0, lost=set(), leave={})
    (rank, points), *others = [
        place for bot in event.state.entered_bots if (place := event.compute_place(bot)) is not None
    ]
    assert rank == 1 + sum(scored > rounds for _, scored in others)
    assert points + sum(scored for _, scored in others) == 2 * rounds * (bots - 1)
    assert sorted(others) == sorted(others, key=lambda each: -each[1])


def test_the_first_bot_of_a_gauntlet_never_leads_if_it_loses_all_matches() -> None:
    event = begin_event("gauntlet", 3, round_count=7)
    for finished in range(1, 8):
        for _ in range(2):
            pairing = next(each for each in event.list_due_matches() if "b1" in (each.maxie, each.minnie))
            match = event.record_match_start(pairing)
            event.record_match_result(
                match, Result("maxie" if pairing.maxie == "b1" else "minnie", EndReason.LINE)
            )
        assert [event.compute_place(bot) for bot in ("b1", "b0", "b2")] == [
            (1, 2 * finished),
            (2, 0),
            (3, 0),
        ]


def test_the_current_round_of_a_knockout_is_the_last_with_all_pairs_known() -> None:
    event = begin_event("knockout", 4)
    while due := [each for each in event.list_due_matches() if "b0" in (each.maxie, each.minnie)]:
        event.record_match_start(due[0])
        (match,) = event.matches_in_progress
        event.record_match_result(
            match, Result("maxie" if due[0].maxie == "b0" else "minnie", EndReason.LINE)
        )
    assert (event.current_round, event.pairs_of_current_round) == (1, (("b0", "b3"), ("b1", "b2")))


def test_only_the_host_can_enter_a_bot_again_that_the_host_withdrew() -> None:
    for running in (False, True):
        event = TournamentEvent(StoredEvent(EventState(plan("swiss")), {}))
        for name in ("anna", "bert", "carl"):
            event.enter_bot(name, 1500)
        if running:
            event.begin_with_bots(["anna", "bert", "carl"])
        event.withdraw_entered_bot("carl", by_host_or_owner=True)
        with pytest.raises(
            EventRequestRefused,
            match="'carl' was withdrawn from cup: only the host or the bot's owner can enter it again",
        ):
            event.enter_bot("carl", 1500)
        assert not event.state.has_entered("carl")
        event.enter_bot("carl", 1500, by_host_or_owner=True)
        assert event.state.has_entered("carl")
        event.withdraw_entered_bot("carl")
        event.enter_bot("carl", 1500)
        assert (event.state.has_entered("carl"), event.state.excluded_bots) == (True, ())


def test_a_bot_that_plays_one_match_of_an_encounter_is_not_withdrawn() -> None:
    """Events of a server and ladders share this rule of the formats (`rating.formats.Absences`)."""
    for format in ("swiss", "round-robin"):
        event = begin_event(format, 2, round_count=4, games=(START, START))
        while not event.is_finished:
            for each in event.list_due_matches():
                match = event.record_match_start(each)
                late = {"b1"} if each.pair.start_position_index == 0 else set()
                event.record_match_result(match, outcome(match, each, late))
        assert event.state.withdrawn_bots == ()


def test_an_event_refuses_entries_and_actions_with_the_reason() -> None:
    def refusal(bot: str, rating: float, **changes: object) -> str:
        event = TournamentEvent(StoredEvent(EventState(plan("swiss", **changes)), {}))
        with pytest.raises(EventRequestRefused) as refused:
            event.enter_bot(bot, rating)
        return str(refused.value)

    assert (
        refusal("eve", 1500, invited_bots=("anna",))
        == "cup is open only to invited bots, and 'eve' is not invited"
    )
    assert (
        refusal("eve", 1400, rating_bounds=(1500, 0))
        == "cup is open to ratings of 1500 and more, but 'eve' is rated 1400"
    )
    assert (
        refusal("eve", 1800, rating_bounds=(0, 1700))
        == "cup is open to ratings of 0 to 1700, but 'eve' is rated 1800"
    )
    event = begin_event("knockout", 2)
    with pytest.raises(EventRequestRefused, match="a knockout accepts no late entries"):
        event.enter_bot("late", 1500)
    event.change_phase("pause")
    with pytest.raises(EventRequestRefused, match="cannot pause cup: it is paused"):
        event.change_phase("pause")
    with pytest.raises(
        EventRequestRefused, match="'late' cannot leave cup: it has not entered, or the event is over"
    ):
        event.withdraw_entered_bot("late")
    event.change_phase("cancel")
    with pytest.raises(EventRequestRefused, match="'b0' cannot leave cup"):
        event.withdraw_entered_bot("b0")
    with pytest.raises(EventRequestRefused, match="cup accepts no more entries: it is cancelled"):
        event.enter_bot("late", 1500)


def test_an_event_of_the_format_arena_pairs_free_bots_also_after_restarts() -> None:
    event, done, met = begin_event("arena", 5), Done(), Counter[frozenset[str]]()
    for _ in range(40):
        event = restore_event(event, done)
        busy = {bot for each in event.matches_in_progress.values() for bot in (each.maxie, each.minnie)}
        free = [bot for bot in event.state.entered_bots if bot not in busy]
        for pairing in event.pair_free_bots(free, get_rating=lambda _: 1500.0, may_meet=lambda _a, _b: True):
            assert event.record_match_start(pairing) not in done
            met[frozenset((pairing.maxie, pairing.minnie))] += 1
        match = min(event.matches_in_progress)
        each = event.matches_in_progress[match]
        result = Result("maxie", EndReason.LINE)
        done[match] = FinishedMatch(match, "", Players(each.maxie, each.minnie), result)
        event.record_match_result(match, result)
    assert len(met) >= 8

from random import Random

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.protocol.codes import EndReason
from arena.protocol.record import Record, Result
from arena.protocol.values import Players, Seat
from arena.rating.formats import LADDER_FORMATS, KnockoutFormat, RoundRobinFormat, make_format
from arena.rating.pairing import Pairing
from arena.rating.schedule import (
    MAX_ATTEMPTS_PER_MATCH,
    Schedule,
    compute_points_by_bot,
    find_absent_bots,
    make_match_id,
)
from tests.properties import examples
from tests.rating.pairs import make_round_robin
from tests.server.matches import record as make_finished_record

EVENT = "7"


def make_record(match: str, pairing: Pairing, dice: Random, *, void: bool = False) -> Record:
    """Return the record of a match with a random winner, or of a void match."""
    winners: tuple[Seat | None, ...] = ("maxie", "minnie", None)
    winner = dice.choice(winners)
    return make_finished_record(
        match,
        maxie=pairing.maxie,
        minnie=pairing.minnie,
        winner=None if void else winner,
        reason=EndReason.SERVER_FAULT if void else EndReason.LINE,
    )


def play_match(match: str, pairing: Pairing) -> Record:
    """Return the record of a match, whose result depends only on the match id. Every fifth match or so is void."""
    dice = Random(match)
    return make_record(match, pairing, dice, void=dice.random() < 0.2)


def play(schedule: Schedule, dice: Random, max_matches: int = 10**6, at_once: int = 3) -> dict[str, Record]:
    """Play up to `max_matches` matches, up to `at_once` of them at a time, which start and end in a random order."""
    playing: list[tuple[str, Pairing]] = []
    records: dict[str, Record] = {}
    while len(records) < max_matches:
        heads = schedule.list_startable_pairings()
        if heads and len(playing) < at_once and (not playing or dice.random() < 0.6):
            chosen = dice.choice(heads)
            playing.append((schedule.make_next_match_id(chosen), chosen))
            schedule.mark_started(chosen)
        elif playing:
            match, pairing = playing.pop(dice.randrange(len(playing)))
            records[match] = play_match(match, pairing)
            schedule.record_result(pairing, records[match])
        else:
            break
    return records


def make_schedule(name: str, bots: int, rounds: int, starts: int) -> Schedule:
    return Schedule(EVENT, make_format(name, [f"b{i}" for i in range(bots)], rounds, starts, 3))


@examples(40)
@given(
    st.sampled_from(LADDER_FORMATS),
    st.integers(2, 6),
    st.integers(1, 3),
    st.integers(1, 2),
    st.randoms(),
    st.data(),
)
def test_an_event_killed_at_any_time_plays_the_same_matches(
    name: str, bots: int, rounds: int, starts: int, dice: Random, data: st.DataObject
) -> None:
    unbroken = play(make_schedule(name, bots, rounds, starts), dice)
    kept: dict[str, Record] = {}
    for _ in range(3):
        schedule = make_schedule(name, bots, rounds, starts)
        settled, again = schedule.restore_results(kept)
        assert len(settled) + len(again) == len(kept)
        assert [each.match for _, each in settled] == [
            match for match in kept if _contains_match(match, settled)
        ]
        more = play(schedule, dice, data.draw(st.integers(0, 30)))
        assert not set(more) & set(kept), "no match is played twice"
        kept |= more
    schedule = make_schedule(name, bots, rounds, starts)
    schedule.restore_results(kept)
    kept |= play(schedule, dice)
    assert kept == unbroken
    assert len(schedule) == 0
    final = make_schedule(name, bots, rounds, starts)
    settled, _ = final.restore_results(kept)
    assert len(settled) == final.total_matches
    assert not final.list_startable_pairings()


def _contains_match(match: str, settled: list[tuple[Pairing, Record]]) -> bool:
    return any(each.match == match for _, each in settled)


@settings(deadline=None)
@given(st.integers(2, 5), st.integers(1, 3), st.randoms(use_true_random=False))
def test_each_match_is_scheduled_once_and_two_bots_meet_in_order(
    bots: int, rounds: int, dice: Random
) -> None:
    names = [f"b{i}" for i in range(bots)]
    left = [pairing for pair in make_round_robin(names, rounds, 1, 0) for pairing in pair.make_pairings()]
    schedule = Schedule(EVENT, RoundRobinFormat(names, rounds, 1, 0))
    while schedule:
        heads = schedule.list_startable_pairings()
        first_of_each = {frozenset((each.maxie, each.minnie)): each for each in reversed(left)}
        assert heads == sorted(first_of_each.values(), key=left.index)
        chosen = dice.choice(heads)
        schedule.mark_started(chosen)
        left.remove(chosen)
    assert not left
    assert not schedule.list_startable_pairings()


def test_a_void_match_is_played_again_up_to_the_limit() -> None:
    schedule = Schedule(EVENT, RoundRobinFormat(["a", "b"], 1, 1, 0))
    [head] = schedule.list_startable_pairings()
    ids = []
    for number in range(MAX_ATTEMPTS_PER_MATCH):
        assert schedule.list_startable_pairings() == [head]
        ids.append(schedule.make_next_match_id(head))
        schedule.mark_started(head)
        final = schedule.record_result(head, make_record(ids[-1], head, Random(), void=True))
        assert final == (number == MAX_ATTEMPTS_PER_MATCH - 1)
    assert ids == [make_match_id(EVENT, head, number) for number in range(MAX_ATTEMPTS_PER_MATCH)]
    assert len(set(ids)) == MAX_ATTEMPTS_PER_MATCH
    assert [each.leg for each in schedule.list_startable_pairings()] == [1]


def test_match_ids_differ_by_event_and_stay_the_same() -> None:
    [head] = Schedule(EVENT, RoundRobinFormat(["a", "b"], 1, 1, 0)).list_startable_pairings()
    assert make_match_id(EVENT, head, 0) != make_match_id("8", head, 0)
    # Never change this id: events in the stores of earlier versions must be resumed.
    assert make_match_id(EVENT, head, 0) == "59c87a09ea45810f0f8b9682ba1bce15"


def test_an_endless_event_always_has_more_and_can_be_resumed() -> None:
    def make_endless() -> Schedule:
        return Schedule(EVENT, RoundRobinFormat(["a", "b", "c"], None, 1, 0))

    first = make_endless()
    assert first.total_matches is None
    kept = play(first, Random(1), 200)
    again = make_endless()
    settled, void = again.restore_results(kept)
    assert len(settled) + len(void) == 200
    assert again.list_startable_pairings()
    more = play(again, Random(2), 100)
    assert not set(more) & set(kept)


def test_a_slow_bot_delays_only_itself() -> None:
    schedule = Schedule(EVENT, RoundRobinFormat(["slow", "a", "b"], 50, 1, 0))
    started_count = 0
    for _ in range(100):
        for head in schedule.list_startable_pairings():
            if "slow" not in (head.maxie, head.minnie):
                schedule.mark_started(head)
                started_count += 1
    assert started_count == 100


def test_a_match_without_players_counts_and_is_not_played_again() -> None:
    schedule = Schedule(EVENT, RoundRobinFormat(["a", "b"], 1, 1, 0))
    for head in schedule.list_startable_pairings():
        schedule.mark_started(head)
        empty = msgspec.structs.replace(
            make_record("m", head, Random()), result=Result(None, EndReason.NO_SHOW, "nobody came")
        )
        assert schedule.record_result(head, empty)


def test_results_of_an_additional_process_count_for_its_bot_in_a_resumed_event() -> None:
    def make_schedule() -> Schedule:
        return Schedule(EVENT, make_format("knockout", ["a", "b", "c", "d"], 1, 1, 0))

    schedule, done = make_schedule(), dict[str, Record]()
    while len(schedule):
        head = schedule.list_startable_pairings()[0]
        match = schedule.make_next_match_id(head)
        schedule.mark_started(head)
        played = msgspec.structs.replace(
            make_record(match, head, Random()),
            players=Players(f"{head.maxie}#2", f"{head.minnie}#2"),
            result=Result("maxie" if head.maxie > head.minnie else "minnie", EndReason.LINE),
        )
        done[match] = played
        schedule.record_result(head, played)
    again = make_schedule()
    assert len(again.restore_results(done)[0]) == len(done) == 6
    assert isinstance(again.format, KnockoutFormat)
    assert again.format.winner == "d"


def test_an_absent_bot_gives_its_opponent_the_points() -> None:
    [head] = Schedule(EVENT, RoundRobinFormat(["a", "b"], 1, 1, 0)).list_startable_pairings()
    a_wins = Result("maxie" if head.maxie == "a" else "minnie", EndReason.NO_SHOW)
    assert (compute_points_by_bot(head, a_wins), find_absent_bots(head, a_wins)) == ({"a": 1, "b": 0}, {"b"})
    nobody = Result(None, EndReason.NO_SHOW)
    assert (compute_points_by_bot(head, nobody), find_absent_bots(head, nobody)) == (
        {"a": 0, "b": 0},
        {"a", "b"},
    )
    drawn = Result(None, EndReason.BOARD_FULL)
    assert (compute_points_by_bot(head, drawn), find_absent_bots(head, drawn)) == (
        {"a": 0.5, "b": 0.5},
        set(),
    )

"""The rule `repetition` in a referee: compared with a count over the whole match, through the journal, and in the record."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace as with_changes

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from arena.games.riskless import Riskless, RisklessPosition
from arena.games.riskless_map import RisklessMap
from arena.match.adjudication import adjudicate
from arena.match.referee import Referee
from arena.match.referee_events import (
    MatchResult,
    MoveReceived,
    ServerRecovered,
    decode_journal_row,
    encode_journal_row,
)
from arena.match.replay import verify_record
from arena.match.terms import MatchTerms, decode_terms, encode_terms
from arena.protocol.adjudication import DEFAULT_ADJUDICATION, Adjudication
from arena.protocol.codes import EndReason
from arena.protocol.record import BadRecord, RecordedMove, Result
from tests.games import setups
from tests.games.strategies import riskless_maps
from tests.match.refereed import Journal, play_match, record_of
from tests.properties import examples
from tests.server.matches import PATH, terms

# With a cap of 1, positions soon repeat, and nobody reaches the goal.
SMALL = with_changes(PATH, territory_cap=1, armies_to_win=4, ply_limit=200, start=(1, 0, 0, -1))
LIMIT = 120


def random_match(map: RisklessMap, seed: int) -> tuple[list[RisklessPosition], list[list[int]]]:
    """Return the positions and the moves of a match of random moves, played without a referee."""
    played = setups.random_match(Riskless(map), seed, LIMIT)
    return list(played.positions), [list(move) for move in played.moves]


def first_end(positions: list[RisklessPosition], times: int, opening: int) -> int | None:
    """Return the first ply after the opening whose position has occurred `times` times; None if there is none. The oracle."""
    seen: Counter[tuple[object, ...]] = Counter()
    for ply, position in enumerate(positions):
        place = (position.armies, position.player)
        seen[place] += 1
        if ply > opening and seen[place] >= times:
            return ply
    return None


def agree_terms(map: RisklessMap, rules: Adjudication | None, opening: list[list[int]]) -> MatchTerms:
    return replace(terms(), game=Riskless(map), adjudication=rules, opening=tuple(opening))


def refereed(given: MatchTerms, moves: list[list[int]]) -> tuple[Referee, Journal]:
    referee, journal, _ = play_match(given, [(move, None) for move in moves])
    return referee, journal


MAPS = st.just(SMALL) | riskless_maps(4).map(
    lambda made: with_changes(
        made,
        territory_cap=2,
        armies_to_win=2 * made.territory_count,
        ply_limit=300,
        start=tuple(max(-2, min(2, armies)) for armies in made.start),
    )
)


@examples(150)
@given(map=MAPS, seed=st.integers(0, 2**32), times=st.integers(2, 4), opening=st.integers(0, 8))
def test_a_match_and_its_record_end_when_the_oracle_says_so(
    map: RisklessMap, seed: int, times: int, opening: int
) -> None:
    positions, moves = random_match(map, seed)
    opening = min(opening, len(moves) - 1)
    end = first_end(positions, times, opening)
    given = agree_terms(map, Adjudication(repetition=times), moves[:opening])
    referee, journal = refereed(given, moves[opening:])
    if end is None or Riskless(map).outcome(positions[end]) is not None:
        assert referee.result is None or referee.result.reason is not EndReason.ADJUDICATED
    else:
        assert referee.ply == end
        assert referee.result is not None
        assert (referee.result.winner, referee.result.reason) == (None, EndReason.ADJUDICATED)
        assert referee.result.detail.startswith("repetition: the same position came up")
    made = record_of(referee)
    assert made.result.ended_by_repetition is (
        referee.result is not None
        and end == referee.ply != 0
        and referee.position == positions[end]
        and referee.result.reason is EndReason.ADJUDICATED
    )
    verify_record(made)
    _judged_alike_after_a_restart(given, journal, referee)


def _judged_alike_after_a_restart(given: MatchTerms, journal: Journal, referee: Referee) -> None:
    """Check that a referee restored from the journal in the middle of the match decides it in the same way."""
    middle = len(journal) // 2
    again = Referee(decode_terms(encode_terms(given)))
    for at, event in journal[:middle]:
        [(kept_at, kept)] = decode_journal_row(encode_journal_row(at, event))
        again.handle_event(kept, kept_at)
    again.handle_event(ServerRecovered(), 10**6)
    for at, event in journal[middle:]:
        again.handle_event(event, 10**6 + at)
    assert (again.result, again.ply) == (referee.result, referee.ply)


def circling(rules: Adjudication | None = DEFAULT_ADJUDICATION, plies: int = 100) -> Referee:
    """Return a match in which both players move back and forth: from ply 4 on, each position occurs again after 4 plies."""
    moves = [[0, 1], [3, 2], [1, 0], [2, 3]] * (plies // 4)
    return refereed(agree_terms(SMALL, rules, []), moves)[0]


def test_both_players_get_the_end_at_the_third_occurrence() -> None:
    referee = circling()
    detail = "repetition: the same position came up 3 times, with the same player to move"
    assert referee.result == MatchResult(None, EndReason.ADJUDICATED, detail)
    places = [(each.armies, each.player) for each in verify_record(record_of(referee)).positions]
    assert Counter(places).most_common(1) == [(places[-1], 3)]
    last = MoveReceived(
        referee.terms.game.player(referee.position).opponent, referee.ply - 1, referee.moves[-1].move
    )
    assert not referee.handle_event(last, 1000)


def test_nothing_is_counted_without_the_rule() -> None:
    for rules in (None, Adjudication(limit=1000)):
        assert circling(rules).result is None


def test_repetition_takes_precedence_over_the_ply_limit() -> None:
    position = circling().position
    every = Adjudication(repetition=3, limit=1)
    moves = [RecordedMove([0, 1], 0.0)] * 4
    for times in (2, 3, 4):
        verdict = adjudicate(every, position, moves, times)
        assert verdict is not None
        assert verdict.detail.startswith("repetition:") is (times >= 3)


def test_a_record_that_claims_a_repetition_that_was_not_one_is_refused() -> None:
    true = record_of(circling())
    verify_record(true)
    shorter = replace(true, moves=true.moves[:-1])
    with pytest.raises(BadRecord, match=r"its adjudication rules \(repetition=3\) do not end it"):
        verify_record(shorter)
    with pytest.raises(BadRecord, match=r"its adjudication rules \(repetition=4\) do not end it"):
        verify_record(replace(true, adjudication=Adjudication(repetition=4)))
    with pytest.raises(BadRecord, match=r"its adjudication rules \(none\) do not end it"):
        verify_record(replace(true, adjudication=None))
    limited = replace(true, adjudication=Adjudication(limit=len(true.moves)))
    with pytest.raises(
        BadRecord,
        match=r"ended by a repeated position, but its moves lead to another result: \d+ plies were played",
    ):
        verify_record(limited)
    verify_record(replace(limited, result=replace(true.result, detail="the ply limit of the ladder")))


def test_a_record_that_goes_on_after_a_repetition_is_refused_where_its_terms_have_the_rule() -> None:
    longer = record_of(circling(None))
    verify_record(longer)
    with pytest.raises(
        BadRecord,
        match=f"the record has a move at ply {circling().ply}, but the match was over before this ply",
    ):
        verify_record(replace(longer, adjudication=DEFAULT_ADJUDICATION))
    resigned = record_of(circling())
    resigned = replace(resigned, result=Result("maxie", EndReason.RESIGNATION))
    with pytest.raises(BadRecord, match="its moves say that nobody wins \\(adjudicated\\)"):
        verify_record(resigned)


@examples(50)
@given(seed=st.integers(0, 2**32), extra=st.integers(1, 20))
def test_no_record_gains_or_loses_a_ply(seed: int, extra: int) -> None:
    positions, moves = random_match(SMALL, seed)
    end = first_end(positions, 3, 0)
    assume(end is not None and end + extra < len(moves))
    true = record_of(refereed(agree_terms(SMALL, DEFAULT_ADJUDICATION, []), moves)[0])
    verify_record(true)
    for plies in (len(true.moves) - 1, len(true.moves) + extra):
        told_moves = [RecordedMove(move, 1.0) for move in moves[:plies]]
        with pytest.raises(BadRecord):
            verify_record(replace(true, moves=told_moves))

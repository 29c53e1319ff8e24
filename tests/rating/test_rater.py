from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from arena.protocol.codes import FORFEIT_REASONS, EndReason
from arena.protocol.record import Record, Result
from arena.protocol.values import Players, Seat
from arena.rating.glicko import GlickoRating, update_rating
from arena.rating.rater import (
    FinishedMatch,
    RatedOutcome,
    Rater,
    RatingCategory,
    RatingEffect,
    count_rating_periods,
    get_bot_outcome,
    get_rating_effect,
)
from tests.server.matches import record
from tests.server.played import day

DOCUMENT = Path(__file__).parents[2] / "docs" / "ratings.md"


def make_record(
    reason: EndReason,
    winner: Seat | None,
    *,
    maxie: str = "anna",
    minnie: str = "bert",
    game: str = "tictactoe",
) -> Record:
    return record(maxie=maxie, minnie=minnie, winner=winner, reason=reason, game=game)


def read_documented_effects() -> dict[str, str]:
    """Return the effect of each end reason on the ratings, by end reason, from the table in docs/ratings.md."""
    _, _, table = DOCUMENT.read_text(encoding="utf-8").partition("| reason of the end |")
    return dict(re.findall(r"^\| `(\w+)` \| (.*?) \|$", table.partition("\n\n")[0], re.MULTILINE))


@pytest.mark.parametrize("reason", EndReason)
def test_the_document_has_the_effect_of_each_end_reason(reason: EndReason) -> None:
    assert read_documented_effects()[reason.value] == get_rating_effect(reason).value


def test_the_document_lists_no_other_end_reason() -> None:
    assert read_documented_effects().keys() == {reason.value for reason in EndReason}


@pytest.mark.parametrize("reason", [each for each in EndReason if each is not EndReason.SERVER_FAULT])
def test_a_decided_match_is_a_win_and_a_loss(reason: EndReason) -> None:
    assert get_bot_outcome(Result("maxie", reason), "maxie") == (RatedOutcome.WIN, False)
    assert get_bot_outcome(Result("maxie", reason), "minnie") == (
        RatedOutcome.LOSS,
        reason in FORFEIT_REASONS - {EndReason.CRASH},
    )


def test_a_crash_counts_for_the_loser_and_is_not_a_forfeit() -> None:
    crashed = FinishedMatch("m", "tictactoe", Players("a", "b"), Result("maxie", EndReason.CRASH))
    maxie, minnie = Rater().rate_match(crashed, "2026-01-01T00:00:00.000Z")
    assert (maxie.crash, minnie.crash) == (False, True)
    assert (maxie.forfeit, minnie.forfeit) == (False, False)
    late = FinishedMatch("m", "tictactoe", Players("a", "b"), Result("maxie", EndReason.TIMEOUT))
    assert [(each.crash, each.forfeit) for each in Rater().rate_match(late, "2026-01-01T00:00:00.000Z")] == [
        (False, False),
        (False, True),
    ]


@pytest.mark.parametrize("reason", [EndReason.PLY_LIMIT, EndReason.BOARD_FULL, EndReason.BOTH_ARMIES])
def test_a_match_without_a_winner_is_a_draw(reason: EndReason) -> None:
    assert get_bot_outcome(Result(None, reason), "maxie") == (RatedOutcome.DRAW, False)


def test_a_server_fault_counts_for_nobody_and_both_bots_forfeit_if_both_are_absent() -> None:
    assert get_rating_effect(EndReason.SERVER_FAULT) is RatingEffect.NO_EFFECT
    assert get_bot_outcome(Result(None, EndReason.SERVER_FAULT), "maxie") == (RatedOutcome.NONE, False)
    assert get_bot_outcome(Result(None, EndReason.NO_SHOW), "minnie") == (RatedOutcome.NONE, True)


def test_both_ratings_are_updated_from_their_values_before_the_match() -> None:
    maxie, minnie = Rater().rate_match(make_record(EndReason.LINE, "maxie"), day(1))
    assert maxie.to_glicko_rating() == update_rating(GlickoRating(), [(GlickoRating(), 1.0)], periods=0)
    assert minnie.to_glicko_rating() == update_rating(GlickoRating(), [(GlickoRating(), 0.0)], periods=0)
    assert maxie.rating - 1500 == pytest.approx(1500 - minnie.rating)


def test_each_game_has_its_own_ratings() -> None:
    rater = Rater()
    rater.rate_match(make_record(EndReason.LINE, "maxie"), day(1))
    riskless, _ = rater.rate_match(make_record(EndReason.ARMIES, "minnie", game="riskless"), day(2))
    assert riskless.to_glicko_rating() == update_rating(GlickoRating(), [(GlickoRating(), 0.0)], periods=0)


def test_days_without_a_match_increase_the_deviation() -> None:
    soon, late = Rater(), Rater()
    for _ in range(20):
        for rater in (soon, late):
            rater.rate_match(make_record(EndReason.BOARD_FULL, None), day(1))
    after_a_day, _ = soon.rate_match(make_record(EndReason.LINE, "maxie"), day(2))
    after_a_month, _ = late.rate_match(make_record(EndReason.LINE, "maxie"), day(31))
    assert after_a_day.deviation < after_a_month.deviation
    assert after_a_day.rating < after_a_month.rating


def test_a_void_match_leaves_the_rating_and_its_days_count_once() -> None:
    straight, voided = Rater(), Rater()
    for rater in (straight, voided):
        rater.rate_match(make_record(EndReason.LINE, "maxie"), day(1))
    void, _ = voided.rate_match(make_record(EndReason.SERVER_FAULT, None), day(11))
    assert void.outcome is RatedOutcome.NONE
    one, _ = straight.rate_match(make_record(EndReason.LINE, "maxie"), day(21))
    other, _ = voided.rate_match(make_record(EndReason.LINE, "maxie"), day(21))
    assert (
        void.rating == straight.current_ratings[RatingCategory("tictactoe"), "anna"].rating
        or one.rating != void.rating
    )
    # The results are equal except for the small change of the volatility.
    assert other.rating == pytest.approx(one.rating, abs=0.01)
    assert other.deviation == pytest.approx(one.deviation, abs=0.01)


@pytest.mark.parametrize(("earlier", "later", "passed"), [(1, 1, 0), (1, 2, 1), (1, 31, 30), (2, 1, 0)])
def test_periods_are_days_and_never_negative(earlier: int, later: int, passed: float) -> None:
    assert count_rating_periods(day(earlier), day(later)) == passed
    assert count_rating_periods(day(1), day(1, second=27)) == 27 / 86400


@given(st.lists(st.sampled_from(["maxie", "minnie", None]), max_size=30))
def test_rating_matches_in_two_batches_equals_rating_them_at_once(winners: list[Seat | None]) -> None:
    matches = [make_record(EndReason.RESIGNATION, winner) for winner in winners]
    matches = [
        replace(each, result=Result(None, EndReason.BOARD_FULL)) if each.result.winner is None else each
        for each in matches
    ]
    times = [day(1 + number) for number in range(len(matches))]
    whole = Rater()
    steps = [whole.rate_match(each, at) for each, at in zip(matches, times, strict=True)]
    half = len(matches) // 2
    first = Rater()
    for each, at in zip(matches[:half], times[:half], strict=True):
        first.rate_match(each, at)
    second = Rater(first.current_ratings)
    assert [
        second.rate_match(each, at) for each, at in zip(matches[half:], times[half:], strict=True)
    ] == steps[half:]
    assert second.current_ratings == whole.current_ratings

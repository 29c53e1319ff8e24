from __future__ import annotations

import pytest

from arena.games.basics import MAXIE, RESERVED_END_REASONS, Outcome, RuleEndReason
from arena.protocol.codes import EndReason


def test_a_reason_in_words_is_one_word_on_the_wire() -> None:
    outcome = Outcome(MAXIE, "four in a row")
    assert outcome.reason_code == "four_in_a_row"
    assert str(outcome) == "maxie wins (four in a row)"
    assert EndReason(outcome.reason_code).meaning == "four in a row"


def test_a_shared_reason_is_its_own_word() -> None:
    assert {Outcome(None, reason).reason_code for reason in RuleEndReason} == {
        reason.value for reason in RuleEndReason
    }


@pytest.mark.parametrize("reason", ["", "Four", "a" * 33, "a\nb", "timeout", "illegal move", "no_show"])
def test_an_invalid_reason_is_refused(reason: str) -> None:
    with pytest.raises(ValueError, match="not a valid end reason"):
        Outcome(None, reason)


def test_the_words_that_no_game_can_give_are_those_for_a_match_that_ended_before_its_game() -> None:
    assert {reason.value for reason in EndReason} - {
        reason.value for reason in RuleEndReason
    } == RESERVED_END_REASONS

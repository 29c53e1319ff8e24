from __future__ import annotations

import re

import msgspec
import pytest

from games.core import Reason
from protocol.codes import FORFEITS, Code, EndReason


@pytest.mark.parametrize("words", [Code, EndReason])
def test_every_word_is_written_as_it_is_spelt_and_says_what_it_means(
    words: type[Code | EndReason],
) -> None:
    for word in words:
        assert re.fullmatch(r"[a-z]+(_[a-z]+)*", word.value)
        assert word.name == word.value.upper()
        assert str(word) == word.value
        assert 10 < len(word.meaning) < 100
        assert "|" not in word.meaning, "it would break the table"
    assert len({word.meaning for word in words}) == len(words)


def test_every_way_in_which_a_game_ends_is_a_reason_on_the_wire() -> None:
    # a leaf ends only the explicit trees, which no match is played on
    assert {reason.value for reason in Reason} - {"leaf"} <= {reason.value for reason in EndReason}


def test_forfeits_are_no_ends_by_the_rules() -> None:
    rules = {reason.value for reason in Reason}
    assert not {reason.value for reason in FORFEITS} & rules
    assert {EndReason.RESIGNATION, EndReason.SERVER_FAULT} & FORFEITS == set()


@pytest.mark.parametrize("words", [Code, EndReason])
def test_words_pass_through_json(words: type[Code | EndReason]) -> None:
    for word in words:
        back = msgspec.json.decode(msgspec.json.encode(word), type=words)
        assert back is word
        assert back.meaning == word.meaning

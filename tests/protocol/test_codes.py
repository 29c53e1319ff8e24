from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest

from arena.games.core import RuleEndReason
from arena.protocol.codec import decode_server_message, encode_message
from arena.protocol.codes import FORFEIT_REASONS, EndReason, ErrorCode
from arena.protocol.messages import End
from arena.protocol.values import Clocks


@pytest.mark.parametrize("words", [ErrorCode, EndReason])
def test_every_code_is_encoded_as_its_word_and_has_a_meaning(
    words: type[ErrorCode | EndReason],
) -> None:
    for word in words:
        assert re.fullmatch(r"[a-z]+(_[a-z]+)*", word.value)
        assert word.name == word.value.upper()
        assert str(word) == word.value
        assert 10 < len(word.meaning) < 100
        assert "|" not in word.meaning, "it would break the table"
    assert len({word.meaning for word in words}) == len(words)


def test_every_way_in_which_a_game_ends_is_a_reason_on_the_wire() -> None:
    # LEAF ends only explicit trees, on which no match is played
    assert {reason.value for reason in RuleEndReason} - {"leaf"} <= {reason.value for reason in EndReason}


def test_forfeits_are_no_ends_by_the_rules() -> None:
    rules = {reason.value for reason in RuleEndReason}
    assert not {reason.value for reason in FORFEIT_REASONS} & rules
    assert {EndReason.RESIGNATION, EndReason.SERVER_FAULT} & FORFEIT_REASONS == set()


def test_the_reason_of_a_game_of_ones_own_has_a_meaning() -> None:
    assert EndReason("out_of_fuel").meaning == "out of fuel"


@pytest.mark.parametrize("words", [ErrorCode, EndReason])
def test_words_pass_through_json(words: type[ErrorCode | EndReason]) -> None:
    for word in words:
        back = msgspec.json.decode(msgspec.json.encode(word), type=words)
        assert back is word
        assert back.meaning == word.meaning


@pytest.mark.parametrize("kind", [ErrorCode, EndReason])
def test_a_word_of_a_later_version_is_kept_unchanged(kind: Any) -> None:
    for word in ("boredom", "x", "x" * 64):
        later = kind(word)
        assert later == word
        assert later.value == word
        assert later not in list(kind)
    for wrong in ("", "x" * 65, 7):
        with pytest.raises(ValueError, match="is not a valid"):
            kind(wrong)


def test_an_end_for_a_reason_of_a_later_version_is_taken_by_its_winner() -> None:
    end = End("m", "minnie", EndReason.LINE, "", [], Clocks(0, 0))
    frame = encode_message(end).replace(b"\xa4line", b"\xa7boredom")
    told = decode_server_message(frame)
    assert isinstance(told, End)
    assert (told.winner, told.reason.value) == ("minnie", "boredom")
    assert encode_message(told) == frame

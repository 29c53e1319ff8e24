"""Events: stored in the journal and read back unchanged."""

from __future__ import annotations

from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.games.core import Player
from arena.match.referee_events import (
    DeadlinePassed,
    MoveReceived,
    RefereeEvent,
    TurnStarted,
    decode_journal_row,
    encode_journal_row,
)
from arena.protocol.values import Thinking

ns = st.integers(0, 2**62)
plies = st.integers(0, 10_000)
text = st.text(max_size=40)
moves = st.one_of(text, st.integers(-(2**53), 2**53), st.lists(st.integers(0, 99), max_size=4))
thinking = st.one_of(st.none(), st.builds(Thinking, depth=st.integers(0, 99), nodes=st.integers(0, 2**53)))
special: dict[type, st.SearchStrategy[RefereeEvent]] = {
    MoveReceived: st.builds(MoveReceived, st.sampled_from(Player), plies, moves, thinking),
    TurnStarted: st.builds(TurnStarted, plies, ns),
    DeadlinePassed: st.builds(DeadlinePassed, ns),
}
every = st.one_of([special.get(kind, st.from_type(kind)) for kind in get_args(RefereeEvent)])


@given(every, ns)
def test_an_event_is_read_from_the_journal_unchanged(event: RefereeEvent, at: int) -> None:
    turn = (at, TurnStarted(3, 5))
    assert decode_journal_row(encode_journal_row(at, event)) == [(at, event)]
    assert decode_journal_row(encode_journal_row(at + 1, event, turn)) == [turn, (at + 1, event)]


def test_no_event_changes_after_it_was_made() -> None:
    """The referee, the journal and the spectators get the same event object one after another."""
    assert all(kind.__struct_config__.frozen for kind in get_args(RefereeEvent))


def test_every_kind_of_event_has_a_different_tag() -> None:
    kinds = get_args(RefereeEvent)
    assert len({kind.__struct_config__.tag for kind in kinds}) == len(kinds)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "{}",
        '{"type": "opened"}',
        '[[1, {"type": "nonsense"}]]',
        '[[1, {"type": "moved"}]]',
        '[[{"type": "opened"}]]',
    ],
)
def test_text_that_is_not_an_event_is_refused(line: str) -> None:
    with pytest.raises(msgspec.DecodeError):
        decode_journal_row(line)

"""Events: what the journal keeps of one is the event."""

from __future__ import annotations

from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from games.core import Player
from match.events import (
    DeadlineFell,
    Event,
    Moved,
    TurnLeft,
    from_journal,
    from_line,
    joined,
    last_at,
    to_journal,
)
from protocol.messages import Thinking

ns = st.integers(0, 2**62)
plies = st.integers(0, 10_000)
text = st.text(max_size=40)
moves = st.one_of(text, st.integers(-(2**53), 2**53), st.lists(st.integers(0, 99), max_size=4))
thinking = st.one_of(st.none(), st.builds(Thinking, depth=st.integers(0, 99), nodes=st.integers(0, 2**53)))
special: dict[type, st.SearchStrategy[Event]] = {
    Moved: st.builds(Moved, st.sampled_from(Player), plies, moves, thinking),
    TurnLeft: st.builds(TurnLeft, plies, ns),
    DeadlineFell: st.builds(DeadlineFell, ns),
}
every = st.one_of([special.get(kind, st.from_type(kind)) for kind in get_args(Event)])


@given(st.lists(every, min_size=1, max_size=5))
def test_events_come_back_from_the_journal_as_they_were(happened: list[Event]) -> None:
    turn = TurnLeft(3, 5)
    alone = [to_journal(at, event) for at, event in enumerate(happened)]
    with_turn = to_journal(7, happened[0], (6, turn))
    assert from_journal(0, joined(alone)) == list(enumerate(happened))
    assert from_line(with_turn) == [(6, turn), (7, happened[0])]
    assert from_journal(0, joined([with_turn, *alone])) == [*from_line(with_turn), *enumerate(happened)]
    assert last_at(with_turn) == 7


def test_what_older_programs_kept_is_read() -> None:
    alone = '{"type":"moved","player":"maxie","ply":3,"move":4}'
    with_turn = f'[6,{{"type":"turn_left","ply":3,"lag":5}},{alone}]'
    moved = (7, Moved(Player.MAXIE, 3, 4))
    assert from_journal(7, alone) == [moved]
    assert from_journal(7, with_turn) == [(6, TurnLeft(3, 5)), moved]


def test_every_kind_has_a_word_of_its_own() -> None:
    kinds = get_args(Event)
    assert len({kind.__struct_config__.tag for kind in kinds}) == len(kinds)


@pytest.mark.parametrize(
    "line", ["", "{}", '{"type": "nonsense"}', '{"type": "moved"}', '[[{"type": "opened"}]]']
)
def test_what_is_no_event_is_refused(line: str) -> None:
    with pytest.raises(msgspec.DecodeError):
        from_journal(0, line)

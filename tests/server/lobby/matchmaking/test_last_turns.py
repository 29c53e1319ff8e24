from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from arena.server.lobby.matchmaking.last_turns import KNOWN, LastTurns


@given(st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=2), max_size=20))
def test_the_number_of_a_last_turn_is_that_of_the_last_time_that_it_was_noted(noted: list[list[str]]) -> None:
    turns: LastTurns[str] = LastTurns()
    for keys in noted:
        turns.note(*keys)
    assert turns.latest == len(noted)
    for key in "abcd":
        assert turns.of(key) == max(
            (number for number, keys in enumerate(noted, 1) if key in keys), default=0
        )


def test_those_that_had_no_turn_for_longest_are_forgotten() -> None:
    turns: LastTurns[int] = LastTurns()
    for key in range(KNOWN):
        turns.note(key)
    turns.note(0)
    turns.note(KNOWN)
    assert (turns.of(0), turns.of(1), turns.of(2), turns.of(KNOWN)) == (KNOWN + 1, 0, 3, KNOWN + 2)

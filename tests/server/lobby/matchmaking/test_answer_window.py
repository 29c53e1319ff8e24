"""A bot is left to answer a challenge, and never kept from its matches for long."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from server.lobby.matchmaking.answer_window import AGAIN, ANSWER, Courtesy


def test_a_bot_is_left_to_answer_once_for_a_moment() -> None:
    courtesy = Courtesy()
    assert not courtesy.holds("anna", 0)
    courtesy.ask("anna", 5)
    assert courtesy.holds("anna", 5)
    assert courtesy.holds("anna", 5 + ANSWER - 1)
    assert not courtesy.holds("anna", 5 + ANSWER)
    assert courtesy.next_end(5) == 5 + ANSWER
    assert courtesy.next_end(5 + ANSWER) is None
    courtesy.ask("anna", 5 + ANSWER)
    assert not courtesy.holds("anna", 5 + ANSWER)
    courtesy.ask("anna", 5 + AGAIN)
    assert courtesy.holds("anna", 5 + AGAIN)


def test_who_left_and_comes_back_is_asked_anew() -> None:
    courtesy = Courtesy()
    courtesy.ask("anna", 0)
    courtesy.forget("anna")
    courtesy.forget("anna")
    assert not courtesy.holds("anna", 1)
    courtesy.ask("anna", 2)
    assert courtesy.holds("anna", 2)


@given(st.lists(st.integers(0, AGAIN // 2), max_size=60))
def test_however_often_it_is_challenged_it_waits_a_tenth_of_the_time_at_most(gaps: list[int]) -> None:
    courtesy, now, held = Courtesy(), 0, 0
    for gap in gaps:
        courtesy.ask("anna", now)
        end = courtesy.next_end(now)
        held += 0 if end is None else min(end - now, gap)
        now += gap
    assert held <= ANSWER + now * ANSWER // AGAIN

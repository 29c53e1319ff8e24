"""A bot is left to answer a challenge, and never kept from its matches for long."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from arena.server.lobby.matchmaking.answer_window import AGAIN_NS, ANSWER_NS, AnswerWindow


def test_a_bot_is_left_to_answer_once_for_a_moment() -> None:
    answer_window = AnswerWindow()
    assert not answer_window.holds("anna", 0)
    answer_window.ask("anna", 5)
    assert answer_window.holds("anna", 5)
    assert answer_window.holds("anna", 5 + ANSWER_NS - 1)
    assert not answer_window.holds("anna", 5 + ANSWER_NS)
    assert answer_window.next_end(5) == 5 + ANSWER_NS
    assert answer_window.next_end(5 + ANSWER_NS) is None
    answer_window.ask("anna", 5 + ANSWER_NS)
    assert not answer_window.holds("anna", 5 + ANSWER_NS)
    answer_window.ask("anna", 5 + AGAIN_NS)
    assert answer_window.holds("anna", 5 + AGAIN_NS)


def test_who_left_and_comes_back_is_asked_anew() -> None:
    answer_window = AnswerWindow()
    answer_window.ask("anna", 0)
    answer_window.forget("anna")
    answer_window.forget("anna")
    assert not answer_window.holds("anna", 1)
    answer_window.ask("anna", 2)
    assert answer_window.holds("anna", 2)


@given(st.lists(st.integers(0, AGAIN_NS // 2), max_size=60))
def test_however_often_it_is_challenged_it_waits_a_tenth_of_the_time_at_most(gaps: list[int]) -> None:
    answer_window, now, held = AnswerWindow(), 0, 0
    for gap in gaps:
        answer_window.ask("anna", now)
        end = answer_window.next_end(now)
        held += 0 if end is None else min(end - now, gap)
        now += gap
    assert held <= ANSWER_NS + now * ANSWER_NS // AGAIN_NS

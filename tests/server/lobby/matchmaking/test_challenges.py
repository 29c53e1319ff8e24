"""Open challenges: who may do what with one, how many, and for how long."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.match.clock import MS
from arena.protocol.codes import Code
from arena.protocol.messages import Challenge
from arena.server.lobby.matchmaking.challenges import BadChallenge, Challenges, OpenChallenge
from tests.server.matches import game_of

GAME = game_of()
Act = Callable[[Challenges, str, str], OpenChallenge]
ACCEPT, DECLINE, WITHDRAW = Challenges.accept, Challenges.decline, Challenges.withdraw


def opened(opponent: str = "", *, per_bot: int = 8, seconds: float = 60) -> tuple[Challenges, str]:
    challenges = Challenges(per_bot=per_bot, seconds=seconds)
    return challenges, challenges.add("anna", Challenge(opponent), GAME, 0).id


@pytest.mark.parametrize(
    ("opponent", "act", "who"),
    [
        ("bert", ACCEPT, "bert"),
        ("", ACCEPT, "bert"),
        ("bert", DECLINE, "bert"),
        ("bert", WITHDRAW, "anna"),
        ("", WITHDRAW, "anna"),
    ],
)
def test_who_may_closes_it_and_only_once(opponent: str, act: Act, who: str) -> None:
    challenges, id = opened(opponent)
    assert act(challenges, who, id).challenger == "anna"
    assert len(challenges) == 0
    with pytest.raises(BadChallenge) as bad:
        act(challenges, who, id)
    assert bad.value.code is Code.NO_SUCH_CHALLENGE


@pytest.mark.parametrize(
    ("opponent", "act", "who"),
    [
        ("bert", ACCEPT, "carl"),
        ("bert", ACCEPT, "anna"),
        ("", ACCEPT, "anna"),
        ("bert", DECLINE, "anna"),
        ("bert", DECLINE, "carl"),
        ("", DECLINE, "carl"),
        ("bert", WITHDRAW, "bert"),
        ("", WITHDRAW, "carl"),
    ],
)
def test_nobody_else_may_and_it_stays_open(opponent: str, act: Act, who: str) -> None:
    challenges, id = opened(opponent)
    with pytest.raises(BadChallenge) as bad:
        act(challenges, who, id)
    assert bad.value.code is Code.NO_SUCH_CHALLENGE
    assert len(challenges) == 1


def test_a_bot_has_so_many_open_and_gets_one_back_for_each_that_closes() -> None:
    challenges, id = opened(per_bot=2)
    challenges.add("anna", Challenge(), GAME, 0)
    with pytest.raises(BadChallenge) as bad:
        challenges.add("anna", Challenge(), GAME, 0)
    assert bad.value.code is Code.RATE_LIMITED
    challenges.add("bert", Challenge(), GAME, 0)
    challenges.withdraw("anna", id)
    challenges.add("anna", Challenge(), GAME, 0)


def test_nobody_challenges_itself() -> None:
    with pytest.raises(BadChallenge) as bad:
        opened("anna")
    assert bad.value.code is Code.BAD_CHALLENGE


def test_it_expires_exactly_when_its_time_is_up() -> None:
    challenges, id = opened(seconds=0.5)
    assert challenges.next_expiry == 500 * MS
    (told,) = challenges.listed(200 * MS)
    assert (told.challenge, told.expires_ms) == (id, 300)
    assert challenges.expire(500 * MS - 1) == []
    assert [each.id for each in challenges.expire(500 * MS)] == [id]
    assert challenges.next_expiry is None


def test_who_leaves_closes_what_it_opened_and_what_it_was_asked() -> None:
    challenges, id = opened("bert")
    other = challenges.add("bert", Challenge(), GAME, 0).id
    kept = challenges.add("carl", Challenge("anna"), GAME, 0).id
    assert [each.id for each in challenges.drop_bot("bert")] == [id, other]
    assert [each.challenge for each in challenges.listed(0)] == [kept]


def test_when_all_are_dropped_none_is_open_and_its_number_does_not_come_again() -> None:
    challenges, id = opened("bert", per_bot=1)
    assert [each.id for each in challenges.drop_all()] == [id]
    assert (challenges.listed(0), len(challenges), challenges.drop_all()) == ([], 0, [])
    assert challenges.add("anna", Challenge("bert"), GAME, 0).id != id


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3), st.integers(0, 100)), max_size=40))
def test_whatever_happens_no_id_comes_twice_and_nobody_has_too_many(
    script: list[tuple[str, int, int]],
) -> None:
    challenges = Challenges(per_bot=2, seconds=1e-7)
    now, ids = 0, []
    for who, what, pause in script:
        now += pause
        if what == 0:
            challenges.expire(now)
        elif what == 1:
            challenges.drop_bot(who)
        else:
            mine = sum(each.challenger == who for each in challenges.listed(now))
            try:
                ids.append(challenges.add(who, Challenge(), GAME, now).id)
            except BadChallenge:
                assert mine == 2
            else:
                assert mine < 2
    assert len(set(ids)) == len(ids)

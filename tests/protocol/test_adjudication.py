import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.protocol.adjudication import DEFAULT_ADJUDICATION, NO_ADJUDICATION, Adjudication, BadAdjudication

RULES = st.builds(
    Adjudication,
    win=st.none() | st.floats(0.001, 1e12),
    draw=st.floats(0, 1e12),
    moves=st.integers(1, 1000),
    after=st.integers(0, 1_000_000),
    limit=st.none() | st.integers(1, 1_000_000),
    repetition=st.none() | st.integers(2, 1000),
    table=st.booleans(),
)


@given(RULES)
def test_text_form_round_trips(rules: Adjudication) -> None:
    assert Adjudication.parse(str(rules)) == rules
    assert (
        Adjudication.from_rule_values({"repetition": NO_ADJUDICATION, **msgspec.to_builtins(rules)}) == rules
    )


@given(RULES)
def test_a_record_has_them_as_they_are(rules: Adjudication) -> None:
    assert msgspec.json.decode(msgspec.json.encode(rules), type=Adjudication) == rules


def test_parts_that_are_left_out_are_as_they_are_by_default() -> None:
    assert Adjudication.parse(" win = 500 , moves=4") == Adjudication(win=500, moves=4, repetition=3)
    assert Adjudication.parse("limit=200,repetition=4") == Adjudication(limit=200, repetition=4)
    assert str(Adjudication(win=500, moves=4)) == "win=500,moves=4,repetition=none"
    assert Adjudication.parse(str(DEFAULT_ADJUDICATION)) == DEFAULT_ADJUDICATION == Adjudication(repetition=3)


def test_a_part_or_all_of_it_is_switched_off_by_a_word() -> None:
    assert Adjudication.parse("limit=200,repetition=none") == Adjudication(limit=200)
    assert Adjudication.from_rule_values({"limit": 200, "repetition": NO_ADJUDICATION}) == Adjudication(
        limit=200
    )
    assert Adjudication.parse(" none ") is None
    assert Adjudication.parse("repetition=none") is None


def test_the_rule_about_solved_maps_is_a_word() -> None:
    assert Adjudication.parse("limit=200, table") == Adjudication(limit=200, repetition=3, table=True)
    assert Adjudication.parse("limit=200,table=none") == Adjudication(limit=200, repetition=3)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "write RULE=VALUE"),
        ("win", "write RULE=VALUE"),
        ("win=1,win=2", "give each rule once"),
        ("table,table", "give each rule once"),
        ("table=yes", "table: Expected `bool`"),
        ("wins=3", "unknown rule 'wins'; the rules are win, draw"),
        ("win=much", "win: Expected `float`, not 'much'"),
        ("win=0", "win: Expected `float` > 0"),
        ("draw=-1", "draw: Expected `float` >= 0"),
        ("limit=1.5", "limit: Expected"),
        ("limit=0", "limit: Expected `int` >= 1"),
        ("moves=4,after=3", "after: has an effect only with draw"),
        ("moves=4", "moves: has an effect only with win or draw"),
        ("moves=none,win=1", "moves: Expected `int`"),
        ("repetition=1", "repetition: Expected `int` >= 2"),
        ("repetition", "write RULE=VALUE"),
        ("none,limit=2", "write RULE=VALUE"),
    ],
)
def test_an_error_names_the_wrong_rule(text: str, why: str) -> None:
    with pytest.raises(BadAdjudication, match=why):
        Adjudication.parse(text)


@pytest.mark.parametrize("table", [{"limit": "20"}, {"limit": True}, {"draw": math.nan}, {"repetition": "3"}])
def test_a_table_has_numbers(table: dict[str, object]) -> None:
    with pytest.raises(BadAdjudication):
        Adjudication.from_rule_values(table)

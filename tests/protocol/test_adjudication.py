import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.adjudication import MOST_NODES, Adjudication, BadAdjudication

RULES = st.builds(
    Adjudication,
    win=st.none() | st.floats(0.001, 1e12),
    draw=st.none() | st.floats(0, 1e12),
    moves=st.integers(1, 1000),
    after=st.integers(0, 1_000_000),
    limit=st.none() | st.integers(1, 1_000_000),
    solve=st.integers(1, MOST_NODES),
)


@given(RULES)
def test_what_is_written_is_read_back(rules: Adjudication) -> None:
    assert Adjudication.parse(str(rules)) == rules
    assert Adjudication.convert(msgspec.to_builtins(rules)) == rules


def test_parts_that_are_left_out_are_off() -> None:
    assert Adjudication.parse(" win = 500 , moves=4") == Adjudication(win=500, moves=4)
    assert str(Adjudication(win=500, moves=4)) == "win=500,moves=4"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "write each part once"),
        ("win", "write each part once"),
        ("win=1,win=2", "write each part once"),
        ("wins=3", "no 'wins'; the parts are win, draw"),
        ("win=much", "win: Expected"),
        ("win=0", "win: Expected `float` > 0"),
        ("draw=-1", "draw: Expected `float` >= 0"),
        ("limit=1.5", "limit: Expected"),
        (f"solve={MOST_NODES + 1}", f"solve: Expected `int` <= {MOST_NODES}"),
        ("moves=4,after=3", "it ends nothing"),
    ],
)
def test_what_is_wrong_is_named(text: str, why: str) -> None:
    with pytest.raises(BadAdjudication, match=why):
        Adjudication.parse(text)


@pytest.mark.parametrize("table", [{"limit": "20"}, {"limit": True}, {"draw": math.nan}, {"win": None}])
def test_a_table_has_numbers(table: dict[str, object]) -> None:
    with pytest.raises(BadAdjudication):
        Adjudication.convert(table)

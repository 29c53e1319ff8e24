from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.protocol.timecontrol import MAX_MS, BadTimeControl, TimeControl
from tests.protocol.strategies import time_controls


@given(time_controls)
def test_text_comes_back_the_same(control: TimeControl) -> None:
    assert TimeControl.parse(str(control)) == control


@given(st.text(max_size=20))
def test_any_other_text_is_refused_in_one_line_that_shows_what_would_be_right(text: str) -> None:
    told = reading(text)
    if isinstance(told, TimeControl):
        assert TimeControl.parse(str(told)) == told
    else:
        assert "10+0.1" in str(told)
        assert "\n" not in str(told)


def reading(text: str) -> TimeControl | BadTimeControl:
    try:
        return TimeControl.parse(text)
    except BadTimeControl as error:
        return error


@pytest.mark.parametrize(
    ("text", "control", "written"),
    [
        ("10+0.1", TimeControl(10_000, 100), "10+0.1"),
        ("10", TimeControl(10_000, 0), "10+0"),
        (" 0.1/move ", TimeControl(100, 0, True), "0.1/move"),
        ("0.001/move", TimeControl(1, 0, True), "0.001/move"),
        ("1.10+0.050", TimeControl(1100, 50), "1.1+0.05"),
        ("60+0", TimeControl(60_000), "60+0"),
        ("100+10", TimeControl(100_000, 10_000), "100+10"),
        ("86400+86400", TimeControl(MAX_MS, MAX_MS), "86400+86400"),
    ],
)
def test_what_people_write(text: str, control: TimeControl, written: str) -> None:
    assert TimeControl.parse(text) == control
    assert str(control) == written


@pytest.mark.parametrize(
    "text",
    ["", "0", "0+1", "0/move", "-1", "1e3", "10+", "+1", "10+0.1/move", "0.0001/move", "1 + 1", "10s", "86401", "1+86401",
     "999999999", "1/Move", "١٠"],
)  # fmt: skip
def test_what_is_none(text: str) -> None:
    with pytest.raises(BadTimeControl, match="is no time control"):
        TimeControl.parse(text)

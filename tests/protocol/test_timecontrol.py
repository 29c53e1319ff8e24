from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.protocol.messages import Challenge
from arena.protocol.timecontrol import (
    MAX_BASE_OR_INCREMENT_MS,
    BadTimeControl,
    TimeControl,
    TimeOdds,
    format_duration,
    parse_duration,
)
from tests.protocol.strategies import time_controls


@given(time_controls)
def test_text_is_unchanged_by_a_round_trip(control: TimeControl) -> None:
    assert TimeControl.parse(str(control)) == control


@given(st.text(max_size=20))
def test_any_other_text_is_refused_in_one_line_with_a_valid_example(text: str) -> None:
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
        ("86400+86400", TimeControl(MAX_BASE_OR_INCREMENT_MS, MAX_BASE_OR_INCREMENT_MS), "86400+86400"),
    ],
)
def test_forms_that_people_write(text: str, control: TimeControl, written: str) -> None:
    assert TimeControl.parse(text) == control
    assert str(control) == written


@pytest.mark.parametrize(
    "text",
    ["", "0", "0+1", "0/move", "-1", "1e3", "10+", "+1", "10+0.1/move", "0.0001/move", "1 + 1", "10s", "86401", "1+86401",
     "999999999", "1/Move", "١٠"],
)  # fmt: skip
def test_invalid_time_controls(text: str) -> None:
    with pytest.raises(BadTimeControl, match="is not a time control"):
        TimeControl.parse(text)


@given(st.integers(1, 10**6), st.sampled_from([("s", 1), ("m", 60), ("h", 3600)]))
def test_a_duration_is_a_number_and_a_unit(number: int, unit: tuple[str, int]) -> None:
    assert parse_duration(f"{number}{unit[0]}") == number * unit[1]


@pytest.mark.parametrize("text", ["10", "s", "", "0s", "-1m", "nans", "infh", "3d"])
def test_anything_else_is_refused_with_a_valid_example(text: str) -> None:
    with pytest.raises(ValueError, match="30s, 10m, 2h, or ever"):
        parse_duration(text)
    assert parse_duration("ever") == math.inf


@given(st.floats(0, 10**7))
def test_the_text_is_exact_to_the_last_unit(seconds: float) -> None:
    units = {"s": 1.0, "min": 60.0, "h": 3600.0}
    parts = re.findall(r"([0-9.]+) (s|min|h)", format_duration(seconds))
    last = 0.06 if seconds < 1 else units[parts[-1][1]]
    assert abs(sum(float(number) * units[unit] for number, unit in parts) - seconds) <= last


def test_a_challenge_that_names_no_time_control_has_the_usual_one() -> None:
    assert Challenge().time_control == TimeControl.parse("10+0.1")


@given(time_controls, st.none() | time_controls, st.none() | time_controls)
def test_a_player_without_odds_has_the_time_control_of_the_match(
    control: TimeControl, maxie: TimeControl | None, minnie: TimeControl | None
) -> None:
    odds = TimeOdds(str(maxie or ""), str(minnie or ""))
    assert odds.get_time_control("maxie", control) == (maxie or control)
    assert odds.get_time_control("minnie", control) == (minnie or control)

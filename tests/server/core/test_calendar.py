"""Start times of events in time zones, also when daylight saving time begins or ends."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arena.protocol.timecontrol import TimeControl
from arena.server.core.calendar import (
    BadStartTime,
    find_last_start_unix_s,
    find_next_start_unix_s,
    make_series_event_name,
    plan_next_event,
)
from arena.server.core.event_state import EventPlan, Recurrence
from arena.server.core.settings import GameAtTimeControl
from tests.server.matches import game_of

ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu")


def unix(text: str) -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())


@given(st.integers(0, 2**31), st.sampled_from(ZONES), st.sampled_from(("", "Mon ", "Fri ", "sunday ")))
def test_the_next_start_time_is_the_first_at_which_local_clocks_show_it(
    after: int, zone: str, day: str
) -> None:
    found = find_next_start_unix_s(f"{day}20:00", zone, after)
    assert after < found <= after + (8 if day else 2) * 24 * 3600
    local = datetime.fromtimestamp(found, ZoneInfo(zone))
    assert (local.hour, local.minute) == (20, 0)
    if day:
        assert f"{local:%a}".lower() == day[:3].lower()


@given(st.integers(10**8, 2**31), st.sampled_from(ZONES), st.sampled_from(("", "Fri ")))
@example(unix("2026-03-29T18:00"), "Europe/Berlin", "")  # this day has 23 hours
@example(unix("2026-10-25T19:00"), "Europe/Berlin", "")  # this day has 25 hours
def test_the_last_time_is_directly_before_the_next_time(before: int, zone: str, day: str) -> None:
    at = f"{day}20:00"
    found = find_last_start_unix_s(at, zone, before)
    assert found <= before < find_next_start_unix_s(at, zone, found)
    local = datetime.fromtimestamp(found, ZoneInfo(zone))
    assert (local.hour, local.minute) == (20, 0)


def plan_repeated(series: str, again: Recurrence, begins: int, closes: int) -> EventPlan:
    """Return the plan of an event that repeats. `begins` and `closes` are Unix times in seconds."""
    return EventPlan(
        event_name=make_series_event_name(series, again, begins),
        event_uid="7",
        series_name=series,
        start_unix_s=begins,
        closing_unix_s=closes,
        format_name="swiss",
        games=(GameAtTimeControl(game_of(), TimeControl.parse("1+0")),),
        recurrence=again,
    )


def test_a_weekly_event_keeps_its_local_hour_when_daylight_saving_ends() -> None:
    again = Recurrence("Fri 20:00", "19:55", "Europe/Berlin", 7)
    begins = unix("2026-10-23T18:00")
    closes = find_last_start_unix_s(again.local_closing_time, again.zone_name, begins)
    plan = plan_repeated("weekly", again, begins, closes)
    names, times, shut, uids = [], [], [], set()
    for _ in range(3):
        names.append(plan.event_name)
        times.append(plan.start_unix_s)
        shut.append(plan.closing_unix_s)
        uids.add(plan.event_uid)
        after = plan_next_event(plan, plan.start_unix_s)
        assert after is not None
        plan = after
    assert names == ["weekly-2026-10-23", "weekly-2026-10-30", "weekly-2026-11-06"]
    assert times == [unix("2026-10-23T18:00"), unix("2026-10-30T19:00"), unix("2026-11-06T19:00")]
    assert shut == [each - 300 for each in times]
    assert len(uids) == 3


def test_the_event_after_a_long_pause_is_planned_in_the_future() -> None:
    begins, then = unix("2026-10-23T20:00"), unix("2026-11-21T20:00")
    plan = plan_repeated("d", Recurrence("20:00", "", "UTC", 1), begins, begins)
    found = plan_next_event(plan, unix("2026-11-20T21:00"))
    assert found is not None
    assert (found.start_unix_s, found.closing_unix_s, found.event_name) == (then, then, "d-2026-11-21")


@pytest.mark.parametrize("at", ["", "noon", "Fri", "Foo 20:00", "24:00", "20:61", "2026-02-30 20:00"])
def test_an_invalid_time_is_refused(at: str) -> None:
    with pytest.raises(BadStartTime):
        find_next_start_unix_s(at, "UTC", 0)


def test_an_unknown_time_zone_is_refused_by_its_name() -> None:
    with pytest.raises(BadStartTime, match="no time zone is called 'Berlin'"):
        find_next_start_unix_s("20:00", "Berlin", 0)


def test_an_event_on_a_full_date_is_not_repeated() -> None:
    begins = unix("2026-10-23T20:00")
    plan = plan_repeated("weekly", Recurrence("2026-10-23 20:00", "", "UTC", 7), begins, begins)
    assert plan_next_event(plan, begins) is None

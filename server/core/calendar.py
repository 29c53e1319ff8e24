"""Start times of events (tournaments) in named time zones: 20:00 stays 20:00 local time when daylight saving begins or ends."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from hashlib import sha256
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from msgspec.structs import replace

from arena.server.core.event_state import EventPlan, Recurrence

WEEKDAY_ABBREVIATIONS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
DAYS_BY_RECURRENCE_INTERVAL = {"day": 1, "week": 7}
"""Length of an interval between two repetitions of an event (a tournament), in days, by the interval's name."""

_START_TIME_PATTERN = re.compile(
    r"(?:(?P<date>\d{4}-\d{2}-\d{2})|(?P<day>[A-Za-z]{3,9}))?\s*(?P<time>\d{1,2}:\d{2})"
)


class BadStartTime(ValueError):
    """Raised for an invalid time or time zone. The one-line message shows a valid form."""


def find_time_zone(zone_name: str) -> ZoneInfo:
    """Return the time zone of that name. Raises BadStartTime if there is none."""
    try:
        return ZoneInfo(zone_name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise BadStartTime(
            f"no time zone is called {zone_name!r:.40}: use a name such as Europe/Berlin or UTC"
        ) from None


def find_next_start_unix_s(local_time: str, zone_name: str, after_unix_s: int) -> int:
    """Return the first Unix time after `after_unix_s`, in seconds, at which clocks in the zone `zone_name` show `local_time`.

    `local_time` is written `Fri 20:00`, `20:00` or `2026-11-27 20:00`. If it has a date, return its time even if that lies
    before `after_unix_s`. Raises BadStartTime if `local_time` or `zone_name` is invalid, or if clocks never show that time
    because daylight saving time begins.
    """
    parts = _START_TIME_PATTERN.fullmatch(local_time.strip())
    day = (parts["day"] or "")[:3].lower() if parts else ""
    if parts is None or (day and day not in WEEKDAY_ABBREVIATIONS):
        raise BadStartTime(f"{local_time!r:.40} is not a time: write Fri 20:00, 20:00 or 2026-11-27 20:00")
    time_zone = find_time_zone(zone_name)
    try:
        hours, minutes = parts["time"].split(":")
        time_of_day = time(int(hours), int(minutes))
        if parts["date"]:
            return _compute_unix_time_s(date.fromisoformat(parts["date"]), time_of_day, time_zone)
    except ValueError:
        raise BadStartTime(
            f"{local_time!r:.40} is not a time: hours must be 0 to 23, minutes 0 to 59, and the day must exist"
        ) from None
    today = datetime.fromtimestamp(after_unix_s, time_zone).date()
    for days_ahead in range(9):
        day_candidate = today + timedelta(days=days_ahead)
        if (not day or day_candidate.weekday() == WEEKDAY_ABBREVIATIONS.index(day)) and _compute_unix_time_s(
            day_candidate, time_of_day, time_zone
        ) > after_unix_s:
            return _compute_unix_time_s(day_candidate, time_of_day, time_zone)
    raise BadStartTime(
        f"{local_time!r:.40} does not exist in {zone_name} in the next seven days, because daylight saving time skips it:"
        " choose another time"
    )


def _compute_unix_time_s(day: date, time_of_day: time, time_zone: ZoneInfo) -> int:
    return round(datetime.combine(day, time_of_day, time_zone).timestamp())


def find_last_start_unix_s(local_time: str, zone_name: str, end_unix_s: int) -> int:
    """Return the latest Unix time, no later than `end_unix_s`, at which clocks in the time zone `zone_name` show `local_time`.

    `local_time` is written as for `find_next_start_unix_s`. Raises BadStartTime for the same reasons.
    """
    # Search from eight days earlier: `local_time` may name a day of the week, and a day may have 25 hours.
    last_time = find_next_start_unix_s(local_time, zone_name, end_unix_s - 8 * 24 * 3600)
    while last_time < (next_time := find_next_start_unix_s(local_time, zone_name, last_time)) <= end_unix_s:
        last_time = next_time
    return last_time


def plan_next_event(plan: EventPlan, after_unix_s: int) -> EventPlan | None:
    """Return the plan (start, format, games) of the event that follows `plan` in its series.

    The next event begins after the start of `plan`, and after Unix time `after_unix_s`, in seconds. Return None if `plan` does
    not repeat, or if its local start time contains a date, and so occurs only once.
    """
    if plan.recurrence is None:
        return None
    recurrence, start_time = plan.recurrence, plan.start_unix_s
    while start_time <= max(after_unix_s, plan.start_unix_s):
        next_time = find_next_start_unix_s(
            recurrence.local_start_time,
            recurrence.zone_name,
            start_time + (recurrence.interval_days - 1) * 24 * 3600,
        )
        if next_time <= start_time:
            return None
        start_time = next_time
    closing_time = start_time
    if recurrence.local_closing_time:
        closing_time = find_last_start_unix_s(recurrence.local_closing_time, recurrence.zone_name, start_time)
    return replace(
        plan,
        event_name=make_series_event_name(plan.series_name, recurrence, start_time),
        event_uid=sha256(f"{plan.event_uid} {start_time}".encode()).hexdigest()[:32],
        start_unix_s=start_time,
        closing_unix_s=closing_time,
    )


def make_series_event_name(series_name: str, recurrence: Recurrence, start_unix_s: int) -> str:
    """Return the name of the event of a series that begins at Unix time `start_unix_s`, in seconds.

    The name consists of the name of the series and the local date, as in `friday-2026-11-27`.

    recurrence  rule of the series, whose time zone determines the local date
    """
    return (
        f"{series_name}-{datetime.fromtimestamp(start_unix_s, find_time_zone(recurrence.zone_name)):%Y-%m-%d}"
    )


def format_unix_time_as_utc(unix_seconds: int) -> str:
    """Return a Unix time (in seconds) as text: UTC, in ISO 8601, as in `2026-11-27T20:00:00Z`."""
    return datetime.fromtimestamp(unix_seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

"""Responses to `GET /events.ics`: a server's tournaments as a calendar that programs can subscribe to (RFC 5545).

A series is a repeated event. In the calendar, a series is its announced event and the next `LISTED_DATES_PER_SERIES` dates,
each as a separate event, because a repetition rule in UTC cannot express a local time of day. An event keeps its UID, by
which calendar programs recognise the event.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from arena.server.core.calendar import plan_next_event
from arena.server.core.event_state import EventPlan, EventState
from arena.server.edge.responses import Response
from arena.server.store import database
from arena.server.store.database import Engine
from arena.server.store.events import list_recent_events
from arena.server.web import titles

CALENDAR_CONTENT_TYPE = "text/calendar; charset=utf-8"
LISTED_DATES_PER_SERIES = 8
"""Number of later dates of a series (a repeated event) that the calendar lists after the event announced last."""
MAX_LISTED_EVENT_AGE = timedelta(days=30)
"""Maximum time since the start of a finished tournament in the calendar. Earlier ones are left out once they are over."""
MAX_CALENDAR_LINE_BYTES = 75
"""Maximum length of a line in bytes, without the line break (RFC 5545, section 3.1)."""
_ICAL_ESCAPES = str.maketrans({"\\": "\\\\", ";": "\\;", ",": "\\,", "\n": "\\n"})


async def answer_calendar_request(engine: Engine, origin: str) -> Response:
    """Respond with the calendar of all recent and future tournaments, in the iCalendar format.

    origin: beginning of links in the calendar, as in `https://arena.example`; empty for no links
    """
    now = datetime.fromisoformat(database.format_current_time())
    states = await list_recent_events(engine, database.format_store_timestamp(now - MAX_LISTED_EVENT_AGE))
    body = render_ical(list_calendar_events(states), origin, now)
    return Response(HTTPStatus.OK, CALENDAR_CONTENT_TYPE, body, {"Cache-Control": "no-cache"})


class CalendarEvent(NamedTuple):
    """Event (tournament) for the calendar: an announced one, or a future one of a series that is not announced yet."""

    plan: EventPlan
    is_cancelled: bool


def list_calendar_events(states: Iterable[EventState]) -> list[CalendarEvent]:
    """Return the tournaments of `states` as events for the calendar, sorted by their start.

    For each series with an open event, the next `LISTED_DATES_PER_SERIES` dates are added as further events.
    """
    events_by_name: dict[str, CalendarEvent] = {}
    latest_by_series: dict[str, EventPlan] = {}
    for state in states:
        plan = state.plan
        events_by_name[plan.event_name] = CalendarEvent(plan, is_cancelled=state.phase == "cancelled")
        latest_so_far = latest_by_series.get(plan.series_name)
        # A series continues from its open event. Without an open event, the series has ended.
        if (
            state.phase == "open"
            and plan.recurrence
            and (latest_so_far is None or latest_so_far.start_unix_s < plan.start_unix_s)
        ):
            latest_by_series[plan.series_name] = plan
    for latest in latest_by_series.values():
        next_plan = plan_next_event(latest, latest.start_unix_s)
        for _ in range(LISTED_DATES_PER_SERIES):
            if next_plan is not None:
                events_by_name.setdefault(next_plan.event_name, CalendarEvent(next_plan, is_cancelled=False))
                next_plan = plan_next_event(next_plan, next_plan.start_unix_s)
    return sorted(events_by_name.values(), key=lambda event: (event.plan.start_unix_s, event.plan.event_name))


def render_ical(events: Sequence[CalendarEvent], origin: str, now: datetime) -> bytes:
    """Return the calendar in the iCalendar format.

    origin: beginning of the links to the events, as in `https://arena.example`; empty for no links
    now: time at which the calendar is made
    """
    lines = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//Riskless Arena//Events//EN",
        "NAME:Riskless Arena",
        "X-WR-CALNAME:Riskless Arena",
        "REFRESH-INTERVAL;VALUE=DURATION:PT1H",
    ]
    for plan, is_cancelled in events:
        lines += _render_ical_event_lines(plan, origin, now, is_cancelled=is_cancelled)
    lines.append("END:VCALENDAR")
    return b"".join(_fold_ical_line(line) for line in lines)


def _render_ical_event_lines(
    plan: EventPlan, origin: str, now: datetime, *, is_cancelled: bool
) -> Iterator[str]:
    host = urlsplit(origin).hostname or "arena"
    yield "BEGIN:VEVENT"
    yield f"UID:{quote(plan.event_name, safe='')}@{host}"
    yield f"DTSTAMP:{_format_ical_time(now)}"
    yield f"DTSTART:{_format_ical_time(datetime.fromtimestamp(plan.start_unix_s, UTC))}"
    if plan.has_arena_format:
        yield f"DURATION:PT{plan.duration_minutes}M"
    yield f"SUMMARY:{_escape_ical_text(plan.series_name or plan.event_name)}"
    yield f"DESCRIPTION:{_escape_ical_text(_describe_event(plan))}"
    yield f"STATUS:{'CANCELLED' if is_cancelled else 'CONFIRMED'}"
    if origin:
        yield f"URL:{origin}/event/{quote(plan.event_name, safe='')}"
    yield "END:VEVENT"


def _describe_event(plan: EventPlan) -> str:
    rounds = f"{plan.duration_minutes} minutes" if plan.has_arena_format else f"{plan.round_count} rounds"
    maps = dict.fromkeys(
        titles.make_match_title(planned.game.name, str(planned.game.setup().get("map", "")), "")
        for planned in plan.games
    )
    parts = [f"{plan.format_name}, {rounds}", ", ".join(maps), str(plan.games[0].time_control)]
    if plan.closing_unix_s < plan.start_unix_s:
        parts.append(f"entries close {(plan.start_unix_s - plan.closing_unix_s) // 60} minutes before")
    return "\n".join(parts)


def _format_ical_time(time: datetime) -> str:
    return time.strftime("%Y%m%dT%H%M%SZ")


def _escape_ical_text(text: str) -> str:
    """Escape a text for use as the value of a property (RFC 5545, section 3.3.11)."""
    return text.translate(_ICAL_ESCAPES)


def _fold_ical_line(line: str) -> bytes:
    """Encode a line with its line break, folded between characters into parts of at most `MAX_CALENDAR_LINE_BYTES`."""
    folded, line_bytes = bytearray(), 0
    for character in line:
        octets = character.encode()
        if line_bytes + len(octets) > MAX_CALENDAR_LINE_BYTES:
            folded += b"\r\n "
            line_bytes = 1
        folded += octets
        line_bytes += len(octets)
    return bytes(folded + b"\r\n")

"""The calendar of events, parsed by the rules of RFC 5545."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from arena.protocol.timecontrol import TimeControl
from arena.server.core.calendar import make_series_event_name as name_of
from arena.server.core.calendar import plan_next_event
from arena.server.core.event_state import EventPlan, EventState, Recurrence
from arena.server.core.settings import GameAtTimeControl
from arena.server.host import ArenaServer
from arena.server.web.event_calendar import LISTED_DATES_PER_SERIES, list_calendar_events, render_ical
from tests.server.matches import game_of
from tests.server.played import insert_event
from tests.server.web.test_web_app import get

NOW = datetime(2026, 10, 16, 12, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")
START_TIME = int(datetime(2026, 10, 16, 20, tzinfo=BERLIN).timestamp())
"""Start of an event, as Unix time: the second last Friday of daylight saving time in Berlin."""
CUP_PLAN = EventPlan(
    event_name="cup",
    event_uid="7",
    start_unix_s=START_TIME,
    closing_unix_s=START_TIME - 300,
    format_name="swiss",
    round_count=7,
    games=(
        GameAtTimeControl(game_of("riskless"), TimeControl.parse("10+0.1")),
        GameAtTimeControl(game_of(), TimeControl.parse("10+0.1")),
    ),
)
RECURRENCE = Recurrence("Fri 20:00", "19:55", "Europe/Berlin", 7)
WEEKLY_PLAN = replace(
    CUP_PLAN,
    event_name=name_of("weekly", RECURRENCE, START_TIME),
    series_name="weekly",
    recurrence=RECURRENCE,
)


def read_calendar(body: bytes) -> list[dict[str, str]]:
    """Return the properties of each event in a calendar, unfolded and unescaped."""
    assert body.endswith(b"\r\n")
    lines = body.split(b"\r\n")
    assert all(len(line) <= 75 for line in lines)
    for line in lines:
        line.decode()  # fails if a fold splits a character
    content = body.replace(b"\r\n ", b"").decode().split("\r\n")[:-1]
    assert content[0] == "BEGIN:VCALENDAR"
    assert content[-1] == "END:VCALENDAR"
    found: list[dict[str, str]] = []
    for each in content[1:-1]:
        name, _, value = each.partition(":")
        if name == "BEGIN":
            found.append({})
        elif found and name != "END":
            assert name not in found[-1]
            found[-1][name] = unescape(value)
    return found


def unescape(text: str) -> str:
    whole, rest = "", iter(text)
    for each in rest:
        whole += {"n": "\n"}.get(after := next(rest), after) if each == "\\" else each
    return whole


def calendar(*states: EventState, origin: str = "https://arena.example") -> list[dict[str, str]]:
    return read_calendar(render_ical(list_calendar_events(states), origin, NOW))


def test_the_times_of_an_event_are_in_utc() -> None:
    (event,) = calendar(EventState(CUP_PLAN))
    assert event == {
        "UID": "cup@arena.example",
        "DTSTAMP": "20261016T120000Z",
        "DTSTART": "20261016T180000Z",
        "SUMMARY": "cup",
        "DESCRIPTION": "swiss, 7 rounds\nPath of four, Tic-tac-toe\n10+0.1\nentries close 5 minutes before",
        "STATUS": "CONFIRMED",
        "URL": "https://arena.example/event/cup",
    }


def test_an_arena_has_a_duration_and_a_cancelled_event_its_status() -> None:
    plan = replace(CUP_PLAN, format_name="arena", duration_minutes=90)
    (event,) = calendar(EventState(plan, phase="cancelled"))
    assert (event["DURATION"], event["STATUS"]) == ("PT90M", "CANCELLED")


def test_an_event_of_a_series_keeps_its_uid_when_it_is_announced() -> None:
    before = calendar(EventState(WEEKLY_PLAN))
    second = plan_next_event(WEEKLY_PLAN, START_TIME)
    assert second is not None
    after = calendar(EventState(WEEKLY_PLAN, phase="over"), EventState(second))
    assert [each["UID"] for each in after[:-1]] == [each["UID"] for each in before]
    assert len({each["UID"] for each in after}) == len(after)
    ended = calendar(EventState(WEEKLY_PLAN, phase="cancelled"))
    assert len(ended) == 1, "a cancelled series has no further dates"


@given(st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=48))
def test_any_name_survives_escaping_and_folding(name: str) -> None:
    (event,) = calendar(EventState(replace(CUP_PLAN, event_name=name)), origin="")
    assert event["SUMMARY"] == name
    assert "URL" not in event


async def test_a_server_serves_the_calendar_of_its_store(host: ArenaServer) -> None:
    await insert_event(host.db_engine, EventState(WEEKLY_PLAN))
    status, headers, body = await get(host, "/events.ics")
    assert (status, headers["Content-Type"]) == (200, "text/calendar; charset=utf-8")
    listed_events = read_calendar(body)
    assert len(listed_events) == 1 + LISTED_DATES_PER_SERIES
    assert listed_events[0]["URL"] == f"{host.url.replace('ws', 'http', 1)}/event/{WEEKLY_PLAN.event_name}"
    assert (await get(host, "/events.ics?x=1"))[0] == 400

"""`arena event`: announce and manage events (tournaments) on a server that uses the store."""

from __future__ import annotations

import secrets
import time
from typing import Annotated, Any

import typer

from arena.console import (
    CommandError,
    DatabaseOption,
    GameOption,
    JsonOption,
    MapOption,
    MarginOption,
    RoundsOption,
    TimeOption,
    UsageError,
    err,
    is_option_given,
    print_table,
    print_table_or_write_json,
    require_game_with_maps,
    write_json,
)
from arena.games.name_hints import format_similar_name_hint
from arena.maps.game_on_map import DEFAULT_MAP
from arena.rating.formats import ARENA_FORMAT, LADDER_FORMATS
from arena.server.commands.directives import parse_duration_option
from arena.server.commands.pool import make_matchmaking_pool
from arena.server.commands.settings_file import BadSetting
from arena.server.commands.store_access import DEFAULT_DATABASE_URL, require_valid_name_argument, run_on_store
from arena.server.core.calendar import (
    DAYS_BY_RECURRENCE_INTERVAL,
    BadStartTime,
    find_last_start_unix_s,
    find_next_start_unix_s,
    find_time_zone,
    format_unix_time_as_utc,
    make_series_event_name,
    plan_next_event,
)
from arena.server.core.event_state import EventPlan, EventState, Recurrence
from arena.server.core.inputs import AnnounceTournament, ChangeTournament
from arena.server.core.settings import HOUSE_ENGINE_NAME_PREFIX, GameAtTimeControl
from arena.server.settings import PoolSettings
from arena.server.store.database import Engine
from arena.server.store.events import find_event_name_conflict, find_event_state, list_events
from arena.server.store.queries import EventTable, load_event_table
from arena.server.store.stored_requests import RequestAnswer, make_event_entry_request, send_request_via_store
from arena.server.store.tokens import is_valid_name, load_all_client_names

MAX_OPENINGS_PER_EVENT = 64
"""Maximum number of openings for each game, map and time control of an event (tournament)."""
MAX_SECONDS_UNTIL_EVENT_START = 10 * 366 * 24 * 3600
"""Maximum time from the announcement of an event (tournament) to its start, in seconds: about ten years."""

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Name of the event.")]
BotArgument = Annotated[str, typer.Argument(metavar="BOT", help="Name of the bot to enter or withdraw.")]
ServerOption = Annotated[
    str,
    typer.Option(
        "--server",
        metavar="NAME",
        help="Server that runs the event, by its setting server.name; default: the unnamed server.",
    ),
]


def new(
    context: typer.Context,
    name: NameArgument,
    start: Annotated[
        str,
        typer.Option(
            "--at",
            metavar="TIME",
            help='Start of the event, in the time zone of --zone: 20:00, "Fri 20:00" or "2026-11-27 20:00".',
        ),
    ],
    closes: Annotated[
        str,
        typer.Option(
            "--closes",
            metavar="HH:MM",
            help="Time at which entries close, e.g. 19:55; default: the start of the event.",
        ),
    ] = "",
    every: Annotated[
        str, typer.Option("--every", metavar="day|week", help="Repeat the event every day or every week.")
    ] = "",
    zone: Annotated[
        str,
        typer.Option("--zone", metavar="ZONE", help="Time zone of the event's times, e.g. Europe/Berlin."),
    ] = "UTC",
    format: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="Format: swiss, round-robin, knockout, gauntlet (highest-rated against all) or arena (continuous pairing).",
        ),
    ] = "swiss",
    rounds: RoundsOption = 7,
    duration: Annotated[
        str,
        typer.Option(
            "--for", metavar="TIME", help="Duration of the event, e.g. 90m; only with --format arena."
        ),
    ] = "60m",
    game: GameOption = "riskless",
    map: MapOption = DEFAULT_MAP,
    tc: TimeOption = "10+0.1",
    margin_ms: MarginOption = 100,
    invite: Annotated[
        str,
        typer.Option(
            "--invite", metavar="BOT,BOT", help="Bots that may enter, separated by commas; default: all."
        ),
    ] = "",
    rating: Annotated[
        str,
        typer.Option(
            "--rating",
            metavar="FROM-TO",
            help="Rating range of the bots that may enter, e.g. 1200-1800, 1500- or -1800.",
        ),
    ] = "",
    rated: Annotated[
        bool, typer.Option("--rated/--casual", help="Play rated or unrated (casual) matches.")
    ] = True,
    hold_pool: Annotated[
        bool,
        typer.Option("--hold-pool", help="Keep entered bots out of the matchmaking pool once entries close."),
    ] = False,
    server: ServerOption = "",
    db: DatabaseOption = DEFAULT_DATABASE_URL,
) -> None:
    """Announce an event.

    Bots enter with `arena bot --enter NAME`. The entered bots that are connected at the start play.

    In a round, two bots that meet play two matches on each map, with swapped seats. A weekly event keeps its local time
    when daylight saving time begins or ends.

    Example: arena event new weekly --at "Fri 20:00" --zone Europe/Berlin --every week --rounds 7 --map italy,world
    """
    if not is_valid_name(name) or len(name) > 48:
        raise UsageError(f"{name!r:.80} is not a valid name of an event: write 1 to 48 printable characters")
    if format not in (*LADDER_FORMATS, ARENA_FORMAT):
        raise UsageError(
            f"--format: must be one of {', '.join((*LADDER_FORMATS, ARENA_FORMAT))}, not {format!r:.40}"
        )
    if every and every not in DAYS_BY_RECURRENCE_INTERVAL:
        raise UsageError(f"--every: must be day or week, not {every!r:.40}")
    if "-" in closes:
        raise UsageError(f"--closes: write a time of day, such as 19:55, not {closes!r:.40}")
    invited = tuple(bot.strip() for bot in invite.split(",") if bot.strip())
    if invite and not invited:
        raise UsageError("--invite: name at least one bot, or leave it out to invite all")
    for bot in invited:
        require_valid_name_argument(bot)
    now = int(time.time())
    option_name = "--zone"
    try:
        find_time_zone(zone)
        option_name = "--at"
        start_time = find_next_start_unix_s(start, zone, now)
        option_name = "--closes"
        closing_time = find_last_start_unix_s(closes, zone, start_time) if closes else start_time
    except BadStartTime as error:
        raise UsageError(f"{option_name}: {error}") from None
    if start_time <= now:
        raise UsageError(f"--at: {start} is in the past; give a later time")
    if start_time > now + MAX_SECONDS_UNTIL_EVENT_START:
        raise UsageError(f"--at: {start} is more than ten years ahead; give an earlier time")
    starts = _parse_event_games(game, map, tc)
    if is_option_given(context, "map"):
        require_game_with_maps(game, type(starts[0].game))
    recurrence = Recurrence(start, closes, zone, DAYS_BY_RECURRENCE_INTERVAL[every]) if every else None
    plan = EventPlan(
        event_name=make_series_event_name(name, recurrence, start_time) if recurrence else name,
        event_uid=secrets.token_hex(16),
        series_name=name if recurrence else "",
        start_unix_s=start_time,
        closing_unix_s=closing_time,
        format_name=format,
        round_count=rounds,
        duration_minutes=_parse_minutes(duration) if format == ARENA_FORMAT else 0,
        games=starts,
        margin_ms=margin_ms,
        is_rated=rated,
        reserves_entered_bots=hold_pool,
        invited_bots=invited,
        rating_bounds=_parse_rating_range(rating),
        recurrence=recurrence,
    )
    if recurrence is not None and plan_next_event(plan, now) is None:
        raise UsageError('--every: a repeated event has no date: write --at "Fri 20:00" or --at 20:00')

    async def announce_event(engine: Engine) -> RequestAnswer | None:
        if (conflict := await find_event_name_conflict(engine, plan)) is not None:
            raise CommandError(f"{conflict} already exists: choose another name")
        return await send_request_via_store(engine, server, AnnounceTournament(plan))

    _print_request_answer(
        run_on_store(db, announce_event, creates_missing_file=True),
        f"; the event {_format_announced_times(plan)}",
    )


def list_(db: DatabaseOption = DEFAULT_DATABASE_URL, json: JsonOption = None) -> None:
    """List all events, the latest last.

    Example: arena event list
    """
    states = run_on_store(db, list_events)
    events_json = [_make_event_json(state) for state in states]
    rows = [
        [
            plan.event_name,
            state.phase,
            format_unix_time_as_utc(plan.start_unix_s),
            plan.format_name,
            str(len(state.entered_bots)),
        ]
        for state in states
        for plan in [state.plan]
    ]
    columns = ("event", "state", "begins", "format", "entries")
    print_table_or_write_json(events_json, json, dict.fromkeys(columns, "left"), rows)


def show(name: NameArgument, db: DatabaseOption = DEFAULT_DATABASE_URL, json: JsonOption = None) -> None:
    """Show an event with its entries and table of results.

    For a series, show the latest event that has begun.

    Example: arena event show weekly
    """

    async def load_event_and_table(engine: Engine) -> tuple[EventState, EventTable | None]:
        state = await find_event_state(engine, name)
        if state is None:
            raise CommandError(f"no event is called {name!r:.80}: `arena event list` shows all")
        return state, await load_event_table(engine, state.plan.event_name)

    state, table = run_on_store(db, load_event_and_table)
    rows = table.rows if table is not None else []
    if json is not None:
        bracket = table.bracket if table is not None else []
        write_json(
            _make_event_json(state) | {"bots": state.entered_bots, "table": rows, "bracket": bracket}, json
        )
        return
    plan = state.plan
    finished_count = table.counted_match_count if table is not None else 0
    err.print(
        f"{plan.event_name}: {_format_event_phase(state)}, {plan.format_name}, {_format_event_start(state)},"
        f" {finished_count} matches played"
    )
    if not rows:
        print_table({"entries": "left"}, [[bot] for bot in state.entered_bots])
        return
    cells = [
        [
            str(row.rank),
            f"{row.bot}{' (withdrawn)' if row.bot in state.withdrawn_bots else ''}",
            f"{row.points:g}",
            "-" if row.buchholz is None else f"{row.buchholz:g}",
            str(row.games),
            row.knockout_stage or "-",
        ]
        for row in rows
    ]
    unlisted_bots = [bot for bot in state.entered_bots if bot not in {row.bot for row in rows}]
    cells += [["-", bot, "0", "-", "0", "-"] for bot in unlisted_bots]
    columns: dict[str, Any] = dict.fromkeys(("#", "bot", "points", "Buchholz", "games", "reached"), "right")
    print_table({**columns, "bot": "left", "reached": "left"}, cells)


def pause(name: NameArgument, server: ServerOption = "", db: DatabaseOption = DEFAULT_DATABASE_URL) -> None:
    """Start no more matches of an event until it is resumed.

    Matches in progress continue.

    Example: arena event pause weekly
    """
    _send_tournament_request(db, server, ChangeTournament(name, "pause"))


def resume(name: NameArgument, server: ServerOption = "", db: DatabaseOption = DEFAULT_DATABASE_URL) -> None:
    """Resume a paused event.

    Example: arena event resume weekly
    """
    _send_tournament_request(db, server, ChangeTournament(name, "resume"))


def cancel(
    name: NameArgument,
    series: Annotated[
        bool,
        typer.Option("--series", help="End the whole series: cancel its coming events, and stop repeating."),
    ] = False,
    server: ServerOption = "",
    db: DatabaseOption = DEFAULT_DATABASE_URL,
) -> None:
    """Cancel an event.

    In a series, only the coming event is cancelled, and the event after it takes place. With --series, all are cancelled.

    Example: arena event cancel weekly
    """
    _send_tournament_request(db, server, ChangeTournament(name, "stop" if series else "cancel"))


def enter(
    name: NameArgument, bot: BotArgument, server: ServerOption = "", db: DatabaseOption = DEFAULT_DATABASE_URL
) -> None:
    """Enter a bot, which may be one of the server's own, in an event.

    Example: arena event enter weekly house-greedy
    """
    _print_request_answer(run_on_store(db, lambda engine: _send_entry_request(engine, server, name, bot)))


def withdraw(
    name: NameArgument, bot: BotArgument, server: ServerOption = "", db: DatabaseOption = DEFAULT_DATABASE_URL
) -> None:
    """Withdraw a bot from an event. The bot loses its remaining matches.

    Example: arena event withdraw weekly my-bot
    """
    _send_tournament_request(db, server, ChangeTournament(name, "withdraw", bot))


async def _send_entry_request(
    engine: Engine, server_name: str, event_name: str, bot_name: str
) -> RequestAnswer | None:
    known_names = await load_all_client_names(engine)
    # Only the server knows the names of its own engines.
    if bot_name not in known_names and not bot_name.startswith(HOUSE_ENGINE_NAME_PREFIX):
        hint = (
            format_similar_name_hint(bot_name, known_names) or ": connect it, or create a token for it, first"
        )
        raise CommandError(f"no bot is called {bot_name!r:.80}{hint}")
    return await send_request_via_store(
        engine, server_name, await make_event_entry_request(engine, event_name, bot_name)
    )


def _send_tournament_request(db: str | None, server_name: str, request: ChangeTournament) -> None:
    _print_request_answer(
        run_on_store(db, lambda engine: send_request_via_store(engine, server_name, request))
    )


def _print_request_answer(answer: RequestAnswer | None, appended_text: str = "") -> None:
    """Print a server's answer to a request. Raises CommandError if the server refused the request.

    answer         answer of the server; None if no server has answered yet
    appended_text  text appended to the printed line, such as the times of the event; unused if the server refused the request
    """
    if answer is None:
        err.print(
            f"no server has answered yet; the next server on this store will carry out the request, or log why it refuses{appended_text}"
        )
    elif answer.succeeded:
        err.print(f"{answer.text}{appended_text}")
    else:
        raise CommandError(answer.text)


def _make_event_json(state: EventState) -> dict[str, object]:
    plan = state.plan
    return {
        "event": plan.event_name,
        "state": state.phase,
        "begins": format_unix_time_as_utc(plan.start_unix_s),
        "closes": format_unix_time_as_utc(plan.closing_unix_s),
        "format": plan.format_name,
        "rounds": state.round_count,
        "entries": len(state.entered_bots),
        "withdrawn": state.withdrawn_bots,
        "cancel_reason": state.cancel_reason,
    }


def _format_event_phase(state: EventState) -> str:
    return f"{state.phase} ({state.cancel_reason})" if state.cancel_reason else state.phase


def _format_event_start(state: EventState) -> str:
    if state.phase == "open":
        return _format_announced_times(state.plan)
    verb = "planned for" if state.phase == "cancelled" else "began at"
    return f"{verb} {format_unix_time_as_utc(state.plan.start_unix_s)}"


def _format_announced_times(plan: EventPlan) -> str:
    closing_text = (
        f", entries close at {format_unix_time_as_utc(plan.closing_unix_s)}"
        if plan.closing_unix_s < plan.start_unix_s
        else ""
    )
    return f"begins at {format_unix_time_as_utc(plan.start_unix_s)}{closing_text}"


def _parse_event_games(game: str, map: str, tc: str) -> tuple[GameAtTimeControl, ...]:
    maps = tuple(name.strip() for name in map.split(","))
    try:
        games = make_matchmaking_pool(PoolSettings(games=(game,), maps=maps, time_controls=(tc,))).games
    except BadSetting as error:
        option_name = {"games": "--game", "maps": "--map", "time_controls": "--tc"}.get(
            error.setting_key.rpartition(".")[2], ""
        )
        raise UsageError(f"{option_name}: {error.reason}") from None
    return tuple(
        GameAtTimeControl(start.game, start.time_control, start.openings[:MAX_OPENINGS_PER_EVENT])
        for start in games
    )


def _parse_minutes(minutes_text: str) -> int:
    seconds = parse_duration_option(minutes_text)
    if not 60 <= seconds <= 24 * 3600:
        raise UsageError("--for: an arena event must last between 1 minute and 1 day, such as 90m")
    return round(seconds / 60)


def _parse_rating_range(rating_range: str) -> tuple[int, int]:
    """Return the lowest and the highest rating in the value of --rating, such as `1200-1800`; 0 stands for a missing bound.

    Raises UsageError for an invalid value.
    """
    lowest, _, highest = rating_range.partition("-")
    if not all(part.isdecimal() or not part for part in (lowest, highest)) or (
        rating_range and "-" not in rating_range
    ):
        raise UsageError(f"--rating: write 1200-1800, 1500- or -1800, not {rating_range!r:.40}")
    if highest and int(highest) < int(lowest or 0):
        raise UsageError(f"--rating: {rating_range} contains no rating; write the lower bound first")
    return int(lowest or 0), int(highest or 0)


SUBCOMMAND_FUNCTIONS = (new, list_, show, pause, resume, cancel, enter, withdraw)

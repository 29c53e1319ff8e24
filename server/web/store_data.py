"""Responses from the store: lists of matches, records, rating tables, tournaments and bots."""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import anyio.to_thread
from msgspec import Struct, field, structs

from arena.games.catalogue import CATALOGUE
from arena.games.core import BadData
from arena.games.riskless import Riskless
from arena.maps.loader import load_map
from arena.protocol.codes import EndReason
from arena.protocol.record import BadRecord, parse_record_line
from arena.rating.standings import format_standings_csv
from arena.server.edge import responses
from arena.server.edge.responses import Response
from arena.server.store.aggregates.event_tables import count_finished_matches
from arena.server.store.aggregates.seasons import load_seasons
from arena.server.store.database import Engine
from arena.server.store.finished_matches import PageCursor, find_record, load_record_line
from arena.server.store.ladders import StoredEventPlan, find_stored_event_plan
from arena.server.store.match_search import (
    DRAWN,
    LOST,
    WON,
    SearchFilter,
    find_opening_key,
    load_head_to_head_scores,
    search_matches,
)
from arena.server.store.opening_explorer import MAX_SEARCHED_POSITION_PLY, find_continuations
from arena.server.store.queries import (
    EventTable,
    load_bot_summary,
    load_event_table,
    load_rating_tables,
    load_startable_pairings,
)
from arena.server.web.analysis import parse_position_parameter, review_match
from arena.server.web.event_progress import EventProgress, UnplayedMatch
from arena.server.web.maps import require_built_in_map
from arena.server.web.page_messages import LiveSnapshot
from arena.server.web.routes import (
    MATCH_ID_PATTERN,
    MAX_LISTED_BOTS,
    BadRequest,
    NotFound,
    RouteMatch,
    make_match_not_found_error,
)
from arena.server.web.static_files import CACHE_CONTROL_FOREVER
from arena.solved.move_quality import MoveQuality, classify_moves_of_record

RESULT_FILTER_VALUES = ("maxie", "minnie", DRAWN)
"""Values of the parameter `result` in a search of matches: Maxie won, Minnie won, or drawn. An end reason is allowed too."""
RESULT_FILTER_VALUES_OF_BOT = (WON, LOST, *RESULT_FILTER_VALUES)
"""Values of the parameter `result` in a search for the matches of one bot: also `won` or `lost` by this bot.

An end reason is allowed too.
"""
_CURSOR_TIME_PATTERN = re.compile(r"[0-9TZ:.+-]{1,32}")
"""Pattern of a time in the parameter `before`, which continues a list of matches where the previous response ended."""
MAX_LISTED_MATCHES = 50
"""Maximum number of matches in one response of a list or a search."""
MAX_LISTED_UNPLAYED_MATCHES = 100
"""Maximum number of unplayed matches of a tournament or ladder that a response lists."""


class SolvedMoveQuality(Struct, frozen=True):
    """Quality of a move on a solved map: its effect on the result that the player can force, and the value after the move."""

    quality: MoveQuality = field(name="kind")
    """Effect of the move, such as `lost the win`."""
    value_after: str = field(name="now")
    """Value of the position after the move, in words, as in `win in 5 plies`, for the player to move there."""


class EventPage(Struct, frozen=True):
    """Response about an event (such as a tournament): its settings, its progress, and the reason if it was cancelled."""

    event: str
    plan: EventProgress | None
    """Settings and progress of the event; None for an event without any, such as the pool (matches arranged by the matchmaker)."""
    counted_match_count: int = field(name="counted")
    """Number of the event's finished matches that its table of results includes so far."""
    current_match_count: int = field(name="playing")
    """Number of the event's matches in progress."""
    is_finished: bool = field(name="finished")
    """True if the event is over and none of its matches is in progress."""
    cancel_reason: str
    """Reason why the event was cancelled; empty if it was not."""


class StoreDataHandler:
    """Handler of requests for data from the store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def handle_request(self, route_match: RouteMatch, live_snapshot: LiveSnapshot) -> Response:
        """Return the response to a request.

        live_snapshot: data that are not in the store, such as the next matches, on the event that the request is for

        Raises BadRequest for an invalid parameter, and NotFound if there is no such match, event or bot.
        """
        parameters, name = route_match.parameters, route_match.path_argument
        match route_match.route_key:
            case "/api/records":
                return await self._answer_records(parameters)
            case "/api/search":
                return await self._answer_search(parameters)
            case "/api/versus":
                return responses.make_json_response(
                    await load_head_to_head_scores(self._engine, parameters["bot"], parameters["opponent"])
                )
            case "/api/record/":
                return await self._answer_record(name, is_download="download" in parameters)
            case "/api/truth/":
                return await self._answer_move_qualities(name)
            case "/api/review/":
                return await review_match(await self._load_record(name))
            case "/api/openings/":
                return await self._answer_continuations(name, parameters)
            case "/api/table":
                return await self._answer_ratings_or_event_table(parameters)
            case "/api/table.csv":
                return await self._answer_event_table_csv(parameters["event"])
            case "/api/event":
                return await self._answer_event(parameters["name"], live_snapshot)
        return await self._answer_bot(name or parameters.get("name", ""))

    async def _answer_records(self, parameters: Mapping[str, str]) -> Response:
        """Respond with the finished matches of a bot, a game or a tournament, the newest first."""
        game = parameters.get("game", "")
        if game and not CATALOGUE.is_known(game):
            raise BadRequest(f"no game is called {game!r:.40}")
        if parameters.get("event") and (parameters.get("bot") or game):
            raise BadRequest(
                "the parameter 'event' cannot be combined with 'bot' or 'game': use /api/search for that"
            )
        return await self._answer_search(parameters)

    async def _answer_search(self, parameters: Mapping[str, str]) -> Response:
        """Respond with the finished matches that fit all given search terms, the newest first."""
        limit, before = _parse_limit(parameters), _parse_cursor(parameters)
        result = parameters.get("result", "")
        if parameters.get("opponent") and not parameters.get("bot"):
            raise BadRequest("the parameter 'opponent' needs 'bot': give both")
        results = RESULT_FILTER_VALUES_OF_BOT if parameters.get("bot") else RESULT_FILTER_VALUES
        if result and result not in (*results, *EndReason):
            raise BadRequest(
                f"the parameter 'result' must be {', '.join(results)} or an end reason such as timeout, not {result!r:.40}"
            )
        opening = ""
        if like_match := parameters.get("like"):
            opening_key = (
                await find_opening_key(self._engine, like_match)
                if MATCH_ID_PATTERN.fullmatch(like_match)
                else None
            )
            if opening_key is None:
                raise NotFound(
                    f"no finished match is called {like_match!r:.80}, or it ended during its opening"
                )
            opening = opening_key
        text_filters = {
            name: parameters.get(name, "") for name in ("bot", "opponent", "map", "game", "event")
        }
        filter = SearchFilter(opening=opening, result=result, **text_filters)
        return responses.make_json_response(await search_matches(self._engine, filter, limit, before))

    async def _answer_record(self, match_id: str, *, is_download: bool) -> Response:
        """Respond with the record of a finished match, found by its id or a unique prefix of the id.

        is_download: True to make the browser save the record as a file
        """
        # The record of a match never changes, so clients can cache it.
        headers = {"Cache-Control": CACHE_CONTROL_FOREVER}
        line, is_full_match_id = (
            await find_record(self._engine, match_id)
            if MATCH_ID_PATTERN.fullmatch(match_id)
            else (None, True)
        )
        if line is None:
            raise make_match_not_found_error(match_id)
        if not is_full_match_id:
            headers["Cache-Control"] = "no-cache"
        if is_download:
            headers["Content-Disposition"] = f'attachment; filename="{match_id.replace(":", "-")}.jsonl"'
        return responses.make_raw_json_response(f"{line}\n".encode(), headers)

    async def _answer_move_qualities(self, match_id: str) -> Response:
        """Respond with the quality of each move of a match on a solved map, as JSON; with null for a match on any other map."""
        line = await self._load_record(match_id)
        return responses.make_json_response(await anyio.to_thread.run_sync(judge_moves_by_solved_table, line))

    async def _answer_continuations(self, map_name: str, parameters: Mapping[str, str]) -> Response:
        """Respond with the moves that were played in finished matches from a position on a built-in map."""
        require_built_in_map(map_name)
        game = Riskless(load_map(map_name))
        try:
            position = game.position_from_text(parse_position_parameter(parameters))
        except BadData as error:
            raise BadRequest(str(error)) from None
        if position.ply > MAX_SEARCHED_POSITION_PLY:
            raise BadRequest(
                f"only positions up to ply {MAX_SEARCHED_POSITION_PLY} can be looked up, not one at ply {position.ply}"
            )
        return responses.make_json_response(await find_continuations(self._engine, game, position))

    async def _load_record(self, match_id: str) -> str:
        line = (
            await load_record_line(self._engine, match_id) if MATCH_ID_PATTERN.fullmatch(match_id) else None
        )
        if line is None:
            raise make_match_not_found_error(match_id)
        return line

    async def _answer_ratings_or_event_table(self, parameters: Mapping[str, str]) -> Response:
        """Respond with the table of the tournament or ladder that `parameters` name.

        If they name none, respond with the rating tables, the cross-tables and a list of all tournaments and ladders.
        """
        event, time_control = parameters.get("event", ""), parameters.get("tc", "")
        if event and parameters.keys() != {"event"}:
            raise BadRequest(
                "the parameter 'event' cannot be combined with 'map', 'tc' or 'season': an event's table always covers all of the event's matches"
            )
        if "map" in parameters and not time_control:
            raise BadRequest("the parameter 'map' needs 'tc': a rating is for one map and one time control")
        if not event:
            season = parameters.get("season", "")
            if season and season not in await load_seasons(self._engine):
                raise NotFound(f"no season is called {season!r:.80}")
            return responses.make_json_response(
                await load_rating_tables(self._engine, parameters.get("map", ""), time_control, season)
            )
        return responses.make_json_response(await self._load_event_table(event))

    async def _answer_event_table_csv(self, event_name: str) -> Response:
        """Respond with the rows of a tournament's table of results as CSV."""
        table = await self._load_event_table(event_name)
        name = re.sub(r"[^A-Za-z0-9_.-]", "_", event_name)
        headers = {"Cache-Control": "no-store", "Content-Disposition": f'attachment; filename="{name}.csv"'}
        return Response(
            HTTPStatus.OK, "text/csv; charset=utf-8", format_standings_csv(table.rows).encode(), headers
        )

    async def _load_event_table(self, event_name: str) -> EventTable:
        table = await load_event_table(self._engine, event_name)
        if table is None:
            raise _make_event_not_found_error(event_name)
        return table

    async def _answer_event(self, event_name: str, live_snapshot: LiveSnapshot) -> Response:
        """Respond with the plan and progress of a tournament or ladder, its next matches and any sequential test (SPRT)."""
        match_count = await count_finished_matches(self._engine, event_name)
        stored_plan = await find_stored_event_plan(self._engine, event_name)
        if (
            match_count is None
            and stored_plan is None
            and live_snapshot.event_progress is None
            and not live_snapshot.current_match_count
        ):
            raise _make_event_not_found_error(event_name)
        plan = live_snapshot.event_progress or (
            None if stored_plan is None else _make_progress_from_plan(event_name, stored_plan)
        )
        state: Mapping[str, Any] = {} if stored_plan is None else stored_plan.plan.get("state", {})
        if stored_plan is not None and state.get("phase") in ("running", "paused"):
            pairings = await load_startable_pairings(self._engine, event_name, stored_plan)
            plan = _make_progress_from_plan(event_name, stored_plan)
            unplayed_matches = [
                UnplayedMatch.from_pairing(pairing, plan.map_names)
                for pairing in pairings[:MAX_LISTED_UNPLAYED_MATCHES]
            ]
            plan = structs.replace(plan, unplayed_matches=unplayed_matches)
        if plan is not None and len(plan.program_by_bot) > MAX_LISTED_BOTS:
            plan = structs.replace(
                plan, program_by_bot=dict(list(plan.program_by_bot.items())[:MAX_LISTED_BOTS])
            )
        is_over = (
            stored_plan is not None
            and stored_plan.finished is not None
            and not live_snapshot.current_match_count
        )
        return responses.make_json_response(
            EventPage(
                event_name,
                plan,
                match_count or 0,
                live_snapshot.current_match_count,
                is_over,
                state.get("cancel_reason", ""),
            )
        )

    async def _answer_bot(self, name: str) -> Response:
        """Respond with the summary of a bot. Raises NotFound if the store has no finished match and no rating of the bot."""
        summary = await load_bot_summary(self._engine, name) if len(name) <= 64 else None
        if summary is None:
            raise NotFound(f"the bot {name!r:.80} has no finished match")
        return responses.make_json_response(summary)


def judge_moves_by_solved_table(record_line: str) -> list[SolvedMoveQuality] | None:
    """Return the quality of each move of a match, from the solved table of the match's map. Takes about 0.1 ms per move.

    Return None if the map has no table or a damaged one, or if the record is invalid.

    record_line: record of the match, as one line of JSON
    """
    try:
        classified_moves = classify_moves_of_record(parse_record_line(record_line))
    except BadRecord:
        return None
    return (
        None
        if classified_moves is None
        else [SolvedMoveQuality(kind, str(value_after)) for _, kind, value_after in classified_moves]
    )


def _parse_limit(parameters: Mapping[str, str]) -> int:
    limit_text = parameters.get("limit", "20")
    if (
        not limit_text.isascii()
        or not limit_text.isdecimal()
        or not 1 <= int(limit_text[:6]) <= MAX_LISTED_MATCHES
    ):
        raise BadRequest(
            f"the parameter 'limit' must be a whole number from 1 to {MAX_LISTED_MATCHES}, not {limit_text!r:.40}"
        )
    return int(limit_text)


def _parse_cursor(parameters: Mapping[str, str]) -> PageCursor | None:
    """Return the position in the parameter `before`, at which a list continues; None without the parameter.

    Raises BadRequest for an invalid value.
    """
    if not parameters.get("before"):
        return None
    time, _, match = parameters["before"].partition("|")
    if not _CURSOR_TIME_PATTERN.fullmatch(time) or not MATCH_ID_PATTERN.fullmatch(match):
        raise BadRequest("the parameter 'before' must be the value of `next` from an earlier response")
    return time, match


def _make_progress_from_plan(event_name: str, stored_plan: StoredEventPlan) -> EventProgress:
    """Return the progress of a tournament or ladder that another process plays or has played, from its stored plan."""
    plan: Mapping[str, Any] = stored_plan.plan
    return EventProgress(
        event=event_name,
        event_kind=stored_plan.kind,
        game=str(plan.get("game", "")),
        map_names=[str(map) for map in plan.get("maps", ())],
        format_name=str(plan.get("format", "")),
        round_count=plan.get("rounds"),
        time_control=str(plan.get("time control", "")),
        program_by_bot={str(name): str(description) for name, description in plan.get("bots", {}).items()},
        played_match_count=0,
        total_match_count=None,
        unplayed_matches=[],
    )


def _make_event_not_found_error(event_name: str) -> NotFound:
    return NotFound(f"no event is called {event_name!r:.80}")

"""Queries of the web site: ratings, tables of tournaments and ladders, and bots with their latest matches.

Every query reads a limited number of rows, in the order of an index or from a stored table, so its cost does not grow
with the number of matches. The tables of Swiss, knockout and gauntlet events are exceptions: they are computed from all
results of the event. In these formats, the number of matches grows with the number of bots, not of pairs of bots.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import groupby, islice

import anyio.to_thread
import sqlalchemy as sa
from msgspec import Struct, field, structs

from arena.protocol.codes import EndReason
from arena.protocol.values import Players
from arena.rating.formats import (
    ARENA_FORMAT,
    FORMATS_WITHOUT_ELO,
    Encounter,
    EventFormat,
    KnockoutFormat,
    RosterChange,
    make_format,
    rank_by_format,
)
from arena.rating.pairing import Pairing
from arena.rating.rater import FinishedMatch, RatingCategory
from arena.rating.schedule import Schedule
from arena.rating.standings import StandingsRow, make_standings_from_counts
from arena.server.store.aggregates import ratings
from arena.server.store.aggregates.event_tables import (
    EventMatchCount,
    EventScores,
    has_matches_in_progress,
    list_events_with_matches,
    load_event_scores,
)
from arena.server.store.aggregates.ratings import CrossScore, RatingCategorySummary, RatingRow
from arena.server.store.aggregates.seasons import ClosedSeason, load_seasons
from arena.server.store.database import Engine, fetch, open_query_connection
from arena.server.store.finished_matches import MatchSummary, read_finished_matches_of_event
from arena.server.store.ladders import StoredEventPlan, find_stored_event_plan
from arena.server.store.match_search import SearchFilter, search_matches
from arena.server.store.schema import rating_steps

FORMATS_RANKED_BY_POINTS = ("round-robin", ARENA_FORMAT)
"""Tournament formats in which the points alone rank the bots, so that a table needs no results of single matches."""
MAX_LISTED_MATCHES_OF_BOT = 100
"""Maximum number of matches in the summary of a bot: its latest ones."""
MAX_LISTED_EVENTS = 50
"""Maximum number of events (tournaments, ladders) in `RatingTables`: the first ones in descending order of name."""
MAX_BOTS_IN_RATING_TABLE = 500
"""Maximum number of bots in the rating table of a game: those with the highest ratings."""
MAX_BOTS_IN_CROSS_TABLE = 40
"""Maximum number of bots in a cross-table: those at the top of the rating table. More would not fit on a web page."""
MAX_LISTED_RATING_CATEGORIES = 100
"""Maximum number of categories (game, map and time control) in `RatingTables`: those with the most matches."""
MAX_LISTED_SEASONS = 100
"""Maximum number of closed seasons in `RatingTables`: the latest ones."""
MAX_POINTS_IN_RATING_HISTORY = 200
"""Maximum number of ratings in a bot's history, of all games (such as Riskless) together: only the latest are listed."""


class RatingTables(Struct, frozen=True):
    """Ratings of all games in one season, from all matches, or only from those on one map with one time control."""

    rating_rows: list[RatingRow] = field(name="standings")
    """Rows of the rating tables of all games, sorted by game and descending rating."""
    cross_scores_by_game: dict[str, list[CrossScore]] = field(name="crosses")
    """Scores of the best bots of each game against each other, by game."""
    event_match_counts: list[EventMatchCount] = field(name="events")
    """Events (tournaments, ladders, and the open pool of other matches) with a match in any season, by descending name."""
    categories: list[RatingCategorySummary]
    """Combinations of game, map and time control with ratings of their own; those with the most rated matches come first."""
    seasons: list[ClosedSeason]
    """Closed seasons, the latest first."""


class EventTable(Struct, frozen=True):
    """Table of results of an event: a tournament, a ladder, or the open pool, which has all other matches."""

    event: str
    rows: list[StandingsRow]
    """Rows of the table, one for each bot, ranked by the rules of the tournament format."""
    cross_scores: list[CrossScore] = field(name="crosses")
    """Scores of the first MAX_BOTS_IN_CROSS_TABLE bots of the table against each other."""
    counted_match_count: int = field(name="counted")
    """Number of finished matches of the event that are included in the table."""
    bracket: list[list[Encounter]] = []
    """Pairings of a knockout, one list for each round, the final last; empty in other formats."""


class RatingHistoryPoint(Struct, frozen=True):
    """Rating of a bot after one of its matches."""

    match_end_time: str = field(name="finished")
    """End time of the match, in the format of `database.format_current_time`."""
    rating: float
    deviation: float


class BotSummary(Struct, frozen=True):
    """Ratings, rating history and latest matches of a bot."""

    bot: str
    rating_rows: list[RatingRow] = field(name="standings")
    """Rows of the bot in the rating tables of the current season, one for each game in which the bot is rated."""
    rating_history_by_game: dict[str, list[RatingHistoryPoint]] = field(name="history")
    """Latest ratings of the bot, by game. Each list begins with the oldest of these ratings."""
    latest_matches: list[MatchSummary] = field(name="matches")
    """Latest finished matches, the newest first."""


async def load_rating_tables(
    engine: Engine, map: str = "", time_control: str = "", season: str = ""
) -> RatingTables:
    """Return the ratings of bots in every kind of game. The newest matches may be missing (see `aggregates.match_counting`).

    map, time_control: only ratings from matches on this map with this time control; both empty for all matches
    season: name of a closed season; empty for the current one, whose tables leave out inactive bots
    """
    seasons = await load_seasons(engine)
    cutoff = None if season else ratings.compute_activity_cutoff_time()
    rows = await ratings.load_rating_rows(
        engine, None, map, time_control, season, limit=MAX_BOTS_IN_RATING_TABLE, active_since_time=cutoff
    )
    crosses: dict[str, list[CrossScore]] = {}
    for game, rows_of_game in groupby(rows, key=lambda row: row.game):
        best_bots = [row.bot for row in islice(rows_of_game, MAX_BOTS_IN_CROSS_TABLE)]
        category = RatingCategory(game, map, time_control, seasons.get_season_number(game, season))
        crosses[game] = await ratings.load_cross_scores(engine, category, best_bots)
    events = await list_events_with_matches(engine, MAX_LISTED_EVENTS)
    categories = await ratings.list_rating_categories(
        engine, MAX_LISTED_RATING_CATEGORIES, season, active_since_time=cutoff
    )
    return RatingTables(
        rows, crosses, events, categories, seasons.list_seasons_latest_first()[:MAX_LISTED_SEASONS]
    )


async def load_event_table(
    engine: Engine, event_name: str, *, includes_all_bots: bool = False
) -> EventTable | None:
    """Return the table of an event (such as a tournament); None if it has no match. The newest matches may be missing.

    For an event with a stored plan, the table lists all bots. For any other event with many bots, it lists only those
    with the most matches (`event_tables.load_event_scores`).

    includes_all_bots: True to list all bots of any event
    """
    stored_plan = await find_stored_event_plan(engine, event_name)
    scores = await load_event_scores(
        engine, event_name, includes_all_bots=includes_all_bots or stored_plan is not None
    )
    if scores is None:
        return (
            EventTable(event_name, [], [], 0) if await has_matches_in_progress(engine, event_name) else None
        )
    if stored_plan is not None:
        scores = _merge_scores_of_bot_processes(scores, stored_plan.plan.get("bots", ()))
    rows, bracket = await _order_event_table(engine, event_name, stored_plan, scores)
    cross_scores = _count_cross_scores(scores, {row.bot for row in rows[:MAX_BOTS_IN_CROSS_TABLE]})
    return EventTable(event_name, rows, cross_scores, scores.match_count, bracket)


async def _order_event_table(
    engine: Engine, event_name: str, stored_plan: StoredEventPlan | None, scores: EventScores
) -> tuple[list[StandingsRow], list[list[Encounter]]]:
    """Return the rows of a tournament's table, ranked by the rules of its format, and the bracket of a knockout.

    The bracket has one list of pairings for each round, the final last. In any other format, the bracket is empty.

    stored_plan: stored plan of the event; None if it has none
    scores: results of the event, from which the rows are computed
    """
    # Compute the ratings in a thread: for many bots this takes a while, and matches must not wait.
    rows = await anyio.to_thread.run_sync(make_standings_from_counts, scores.bots, scores.result_counts)
    if stored_plan is None or _is_ranked_by_elo(stored_plan):
        return rows, []
    if stored_plan.plan["format"] in FORMATS_RANKED_BY_POINTS:
        return rank_by_format(rows, _make_event_format(stored_plan)), []
    async with open_query_connection(engine) as connection:
        results = await read_finished_matches_of_event(connection, event_name)
    return await anyio.to_thread.run_sync(_order_rows_by_format, stored_plan, results, rows)


async def load_bot_summary(engine: Engine, name: str) -> BotSummary | None:
    """Return the summary of a bot; None if the store has no finished match and no rating of the bot."""
    matches_of_bot = (await search_matches(engine, SearchFilter(bot=name), MAX_LISTED_MATCHES_OF_BOT)).matches
    rating_rows = await ratings.load_rating_rows_of_bot(engine, name)
    if not matches_of_bot and not rating_rows:
        return None
    return BotSummary(name, rating_rows, await _load_rating_history(engine, name), matches_of_bot)


def _is_ranked_by_elo(stored_plan: StoredEventPlan) -> bool:
    """Return True if bots are ranked by Elo, as in most ladders; False in every tournament that a server plays."""
    return stored_plan.plan.get("format") not in FORMATS_WITHOUT_ELO and "state" not in stored_plan.plan


async def load_startable_pairings(
    engine: Engine, event_name: str, stored_plan: StoredEventPlan
) -> list[Pairing]:
    """Return the next unfinished match of each pair of bots in a tournament or ladder, in the order of the schedule.

    The list is computed from the results of finished matches alone, so it includes matches in progress.

    stored_plan: stored plan of the event
    """
    async with open_query_connection(engine) as connection:
        results = await read_finished_matches_of_event(connection, event_name)
    return await anyio.to_thread.run_sync(
        lambda: _replay_schedule(stored_plan, results).list_startable_pairings()
    )


def _order_rows_by_format(
    stored_plan: StoredEventPlan, finished_matches: Mapping[str, FinishedMatch], rows: list[StandingsRow]
) -> tuple[list[StandingsRow], list[list[Encounter]]]:
    format = _replay_schedule(stored_plan, finished_matches).format
    return rank_by_format(rows, format), format.make_bracket() if isinstance(format, KnockoutFormat) else []


def _replay_schedule(stored_plan: StoredEventPlan, finished_matches: Mapping[str, FinishedMatch]) -> Schedule:
    """Return the schedule of a tournament or ladder: the matches that are left after its finished ones.

    finished_matches: finished matches of the event by id, in the order in which they finished
    """
    schedule = Schedule(stored_plan.uid, _make_event_format(stored_plan))
    schedule.restore_results(finished_matches)
    return schedule


def _make_event_format(stored_plan: StoredEventPlan) -> EventFormat:
    """Return the format of a tournament, such as a round-robin, in its state before the first match."""
    plan = stored_plan.plan
    return make_format(
        plan["format"],
        list(plan["bots"]),
        plan["rounds"],
        len(plan["setups"]),
        plan["seed"],
        [RosterChange(*fields) for fields in plan.get("changes", ())],
    )


async def _load_rating_history(engine: Engine, bot_name: str) -> dict[str, list[RatingHistoryPoint]]:
    """Return a bot's newest MAX_POINTS_IN_RATING_HISTORY ratings of all games, by game, and in each game the oldest first."""
    latest_rows = (await fetch(engine, _SELECT_RATING_HISTORY, {"bot_name": bot_name})).all()
    history: dict[str, list[RatingHistoryPoint]] = {}
    for step in reversed(latest_rows):
        history.setdefault(step.game, []).append(
            RatingHistoryPoint(step.finished, step.rating, step.deviation)
        )
    return history


_SELECT_RATING_HISTORY = (
    sa.select(*(rating_steps.c[name] for name in ("game", "finished", "rating", "deviation")))
    .where(rating_steps.c.bot == sa.bindparam("bot_name"), rating_steps.c.time_control == "")
    .order_by(rating_steps.c.arrival.desc())
    .limit(MAX_POINTS_IN_RATING_HISTORY)
)


def _merge_scores_of_bot_processes(event_scores: EventScores, bot_names: Collection[str]) -> EventScores:
    """Return the results with each additional process of a bot (`NAME#2` and so on) renamed to the bot (`NAME`).

    bot_names: names of the bots; a name such as `NAME#2` stays as it is unless `NAME` is one of them
    """

    def strip_process_number(name: str) -> str:
        bot, mark, number = name.rpartition("#")
        return bot if mark and number.isdecimal() and bot in bot_names else name

    scores = [
        (
            structs.replace(
                match,
                players=Players(
                    strip_process_number(match.players.maxie), strip_process_number(match.players.minnie)
                ),
            ),
            count,
        )
        for match, count in event_scores.result_counts
    ]
    return EventScores(
        event_scores.match_count, sorted({strip_process_number(bot) for bot in event_scores.bots}), scores
    )


def _count_cross_scores(scores: EventScores, bots: set[str]) -> list[CrossScore]:
    counts: dict[tuple[str, str], list[int]] = {}
    for match, count in scores.result_counts:
        maxie, minnie = match.players.maxie, match.players.minnie
        if match.result.reason is EndReason.SERVER_FAULT or not {maxie, minnie} <= bots:
            continue
        outcome_index = {"maxie": 0, None: 1, "minnie": 2}[match.result.winner]
        counts.setdefault((maxie, minnie), [0, 0, 0])[outcome_index] += count
        counts.setdefault((minnie, maxie), [0, 0, 0])[2 - outcome_index] += count
    return [CrossScore(*key, *outcome_counts) for key, outcome_counts in counts.items()]

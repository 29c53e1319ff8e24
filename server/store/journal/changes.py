"""Changes to the store that a server's journal commits together, and their SQL statements.

Statements go to the drivers of SQLite and PostgreSQL directly, because SQLAlchemy takes ten times as long per statement
as the database. After a commit of unknown outcome, every statement may be executed again: it changes nothing if the
first commit succeeded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from operator import itemgetter
from typing import Any

from msgspec import to_builtins

from arena.match.referee_events import encode_journal_row
from arena.match.terms import encode_terms
from arena.protocol.record import format_record_line
from arena.server.core.effects import (
    AppendMatchEvent,
    DeleteSession,
    DurableEffect,
    SaveEvent,
    SaveFinishedMatch,
    SaveNewMatch,
    SaveSession,
    StoredRequestAnswered,
)
from arena.server.store import database
from arena.server.store.events import make_event_row
from arena.server.store.finished_matches import (
    COLUMNS_SET_AT_MATCH_END,
    INSERT_PACKED_RECORD_SQL,
    compute_match_digest,
    make_match_end_values,
)
from arena.server.store.packing import pack_record

MatchEventRow = tuple[str, int, str]
"""Row to write to the table `events`, with one or more events of a match: match id, number of last event, events as JSON."""
StatementWithRows = tuple[str, Sequence[Any]]
"""Text of an SQL statement, and the parameters of each of its executions."""


@dataclass(slots=True)
class JournalChanges:
    """Database rows that a journal writes in one transaction: one attribute for each kind of row."""

    match_event_rows: list[MatchEventRow] = field(default_factory=list)
    opened_match_rows: list[dict[str, Any]] = field(default_factory=list)
    closed_match_rows: list[dict[str, Any]] = field(default_factory=list)
    session_row_by_bot: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Rows for the table `sessions`, by the bot's name: each has the hash of the session's secret, in hexadecimal.

    The hash is None if the session has ended.
    """
    event_state_rows: list[dict[str, Any]] = field(default_factory=list)
    """Rows of the table `ladders`, each with the state of an event (a tournament) that the server plays."""
    request_answer_rows: list[dict[str, Any]] = field(default_factory=list)
    """Rows for the table `requests`: each has the number of a request, and the server's answer to it."""
    has_only_match_events: bool = True
    """True if only the list `match_event_rows` has rows to write, for which one SQL statement is enough."""

    def list_statements(
        self, next_arrival_sql: str, append_statements: Sequence[StatementWithRows]
    ) -> list[StatementWithRows]:
        """Return the statements that write all changes, in the order in which they must be executed.

        next_arrival_sql: SQL expression for the next arrival number, which gives the order of finished matches in the store
        append_statements: statements that append the rows in `match_event_rows`

        The fixed order prevents deadlocks between servers that change the same rows.
        """
        saved_sessions: list[dict[str, Any]] = []
        ended_sessions: list[dict[str, Any]] = []
        for _, row in sorted(self.session_row_by_bot.items()):
            (ended_sessions if row["hash"] is None else saved_sessions).append(row)
        statements: list[StatementWithRows] = [
            (SAVE_SESSION_SQL, saved_sessions),
            (DELETE_SESSION_SQL, ended_sessions),
            (SAVE_EVENT_SQL, self.event_state_rows),
            (SAVE_REQUEST_ANSWER_SQL, self.request_answer_rows),
            (OPEN_MATCH_SQL, self.opened_match_rows),
            *append_statements,
            (CLOSE_MATCH_SQL.format(arrival=next_arrival_sql), self.closed_match_rows),
            (INSERT_PACKED_RECORD_SQL, self.closed_match_rows),
        ]
        get_rows = itemgetter(1)
        return list(filter(get_rows, statements))


def collect_journal_changes(effects: Iterable[DurableEffect], server_name: str) -> JournalChanges:
    """Return the database rows to write for `effects`, decisions of `server.core` such as an accepted move."""
    changes = JournalChanges()
    for effect in effects:
        if type(effect) is AppendMatchEvent:
            events_json = encode_journal_row(effect.time_ns, effect.event, effect.turn_start)
            changes.match_event_rows.append((effect.match_id, effect.event_number, events_json))
            continue
        changes.has_only_match_events = False
        if type(effect) is SaveNewMatch:
            changes.opened_match_rows.append(_make_opened_match_row(effect, server_name))
        elif type(effect) is SaveFinishedMatch:
            changes.closed_match_rows.append(_make_closed_match_row(effect, server_name))
        elif type(effect) is SaveSession:
            changes.session_row_by_bot[effect.bot_name] = {
                "server": server_name,
                "name": effect.bot_name,
                "hash": effect.secret_hash.hex(),
            }
        elif type(effect) is DeleteSession:
            changes.session_row_by_bot[effect.bot_name] = {
                "server": server_name,
                "name": effect.bot_name,
                "hash": None,
            }
        elif type(effect) is SaveEvent:
            changes.event_state_rows.append(make_event_row(effect.state) | {"server": server_name})
        elif type(effect) is StoredRequestAnswered:
            changes.request_answer_rows.append(to_builtins(effect))
    return changes


def _make_opened_match_row(effect: SaveNewMatch, server_name: str) -> dict[str, Any]:
    terms = effect.terms
    return {
        "match": terms.match,
        "event": terms.event,
        "game": terms.game.name,
        "maxie": terms.players.maxie,
        "minnie": terms.players.minnie,
        "terms": encode_terms(terms),
        "started": effect.start_time_utc,
        "rated": terms.rated,
        "server": server_name,
    }


def _make_closed_match_row(effect: SaveFinishedMatch, server_name: str) -> dict[str, Any]:
    record = effect.record
    return make_match_end_values(record) | {
        "match": record.match,
        "finished": database.format_current_time(),
        "packed": pack_record(format_record_line(record)),
        "whole": False,
        "played": compute_match_digest(record) if effect.is_rated else None,
        "server": server_name,
    }


_OPENED_MATCH_COLUMNS = ("match", "event", "game", "maxie", "minnie", "terms", "started", "rated", "server")
"""Columns of the table `matches` that are set when a match begins."""
_CLOSE_MATCH_ASSIGNMENTS = ", ".join(f"{name} = :{name}" for name in ("finished", *COLUMNS_SET_AT_MATCH_END))

REQUIRE_LEASE_SQL = "SELECT 1 FROM servers WHERE name = :server AND number = :number"
"""Query that returns a row if the lease with this name and fencing token is held, and no row otherwise."""
OPEN_MATCH_SQL = (
    f"INSERT INTO matches ({', '.join(_OPENED_MATCH_COLUMNS)})"  # noqa: S608  names of columns
    f" VALUES ({', '.join(f':{name}' for name in _OPENED_MATCH_COLUMNS)}) ON CONFLICT DO NOTHING"
)
CLOSE_MATCH_SQL = (
    f"UPDATE matches SET {_CLOSE_MATCH_ASSIGNMENTS}, arrival = {{arrival}}, played = :played,"  # noqa: S608  names of columns
    " rated = (rated AND NOT EXISTS (SELECT 1 FROM matches AS earlier WHERE earlier.played = :played"
    " AND earlier.played IS NOT NULL)) WHERE match = :match AND server = :server AND finished IS NULL"
)
"""Statement that marks a match in progress as finished.

The statement also makes the match unrated if an earlier rated match has the same digest (`compute_match_digest`).
"""
SAVE_SESSION_SQL = (
    "INSERT INTO sessions (server, name, hash, since)"
    " VALUES (:server, :name, :hash, (SELECT coalesce(max(number), 0) FROM matches))"
    " ON CONFLICT (server, name) DO UPDATE SET hash = excluded.hash, since = excluded.since"
)
SAVE_EVENT_SQL = (
    "INSERT INTO ladders (event, uid, kind, named, plan, started, finished, server)"
    " VALUES (:event, :uid, 'event', true, :plan, :started, :finished, :server)"
    " ON CONFLICT (event) DO UPDATE SET plan = excluded.plan, finished = excluded.finished"
    " WHERE ladders.uid = excluded.uid"
)
"""Statement that stores the state of an event (a tournament) that the server plays."""
SAVE_REQUEST_ANSWER_SQL = "UPDATE requests SET answer = :answer, done = :done WHERE number = :number"
DELETE_SESSION_SQL = "DELETE FROM sessions WHERE server = :server AND name = :name"


class NumberedParameterStatement:
    """PostgreSQL statement with numbered parameters ($1, $2 …), made from a text with named parameters (:name)."""

    def __init__(self, sql: str) -> None:
        self.parameter_names = list(dict.fromkeys(re.findall(r"(?<!:):([a-z_]+)", sql)))
        self.sql = re.sub(
            r"(?<!:):([a-z_]+)", lambda found: f"${self.parameter_names.index(found[1]) + 1}", sql
        )

    def list_values_in_order(self, row: Mapping[str, Any]) -> Sequence[Any]:
        """Return the values of the statement's parameters, in the order of their numbers.

        row: values by parameter name
        """
        return [row[name] for name in self.parameter_names]


make_numbered_parameter_statement = cache(NumberedParameterStatement)
"""Cached constructor of NumberedParameterStatement, so that each SQL text is converted only once."""

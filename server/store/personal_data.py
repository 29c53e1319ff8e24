"""Personal data in the store: list the data of bots and owners, delete them, and rename a bot.

While servers run, call `server.store.renaming` instead: it makes them refuse the name, and then calls these functions.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import msgspec
import sqlalchemy as sa
from msgspec.structs import asdict, replace

from arena.protocol.codes import EndReason
from arena.protocol.engines import EnginesBySeat
from arena.protocol.record import Record, format_record_line, parse_record_line
from arena.protocol.values import Players, Seat
from arena.server.store import schema
from arena.server.store.address_uses import remove_expired_bot_addresses
from arena.server.store.aggregates.match_counting import add_new_matches_to_aggregates
from arena.server.store.database import (
    Engine,
    fetch,
    format_current_time,
    lock_store_exclusively,
    open_query_connection,
    run_in_transaction,
)
from arena.server.store.errors import OperationRefused
from arena.server.store.events import list_unfinished_events
from arena.server.store.names import (
    DELETED_BOT_NAME_PREFIX,
    HIDDEN_BOT_NAME_PREFIX,
    find_name_unavailability_reason,
)
from arena.server.store.packing import (
    PackableMatch,
    pack_match,
    pack_record,
    unpack_match,
    unpack_record,
    unpack_terms,
)
from arena.server.store.schema import (
    addresses,
    directives,
    events,
    invitations,
    ladders,
    matches,
    records,
    requests,
    sessions,
    tokens,
)
from arena.server.store.tokens import TokenError, read_names_with_token, require_valid_name

RENAMED_MATCHES_PER_TRANSACTION = 20
"""Maximum number of matches in which one transaction changes a name. Meanwhile, a running server may be unable to write."""

BOT_NAME_COLUMNS_BY_TABLE = {
    schema.rating_steps: ("bot",),
    schema.standings: ("bot",),
    schema.crosses: ("bot", "opponent"),
    schema.rating_bases: ("bot",),
    schema.event_bots: ("bot",),
    schema.event_scores: ("maxie", "minnie"),
}
"""Columns that contain names of bots in tables of ratings and results, by table."""

END_REASONS_WITH_TEXT_WRITTEN_BY_LOSER = frozenset({EndReason.CRASH, EndReason.RESIGNATION})
"""End reasons of matches whose `detail` is a message that the losing bot sent."""


class NameInUse(OperationRefused):
    """Raised when a name cannot be changed or deleted now, because its bot has a match in progress or is in a tournament.

    The message is a one-line reason.
    """


class NameInRunningEvent(NameInUse):
    """Raised when a name cannot be changed or deleted because the bot is in a tournament or ladder that has begun."""


async def load_personal_data(engine: Engine, names: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """Return the stored data of bots or owners called `names`: the rows of each table, by the table's name.

    The result does not include matches, their results, or the hashes of secrets and addresses.
    """
    name_column_by_table = {
        tokens: tokens.c.name,
        sessions: sessions.c.name,
        directives: directives.c.subject,
        schema.standings: schema.standings.c.bot,
        invitations: invitations.c.owner,
        addresses: addresses.c.name,
    }
    rows_by_table: dict[str, list[dict[str, Any]]] = {}
    for table, column in name_column_by_table.items():
        columns = [stored for stored in table.columns if stored.name != "hash"]
        rows = await fetch(engine, sa.select(*columns).where(column.in_(names)).order_by(column))
        rows_by_table[table.name] = [dict(row) for row in rows.mappings()]
    return rows_by_table


async def is_name_stored(engine: Engine, name: str) -> bool:
    """Return True if the store has data of a bot or an owner called `name`, including matches and entries in tournaments."""
    if any((await load_personal_data(engine, [name])).values()):
        return True
    return await has_matches(engine, name) or bool(await list_servers_with_event_entry(engine, name))


async def has_matches(engine: Engine, bot_name: str) -> bool:
    """Return True if the store has a match of a bot called `bot_name`."""
    return (await fetch(engine, _select_match_of_player(bot_name))).first() is not None


class ForgottenBot(NamedTuple):
    """Bot whose personal data were deleted."""

    new_name: str
    """Random name that replaces the bot's name in its matches."""
    match_count: int
    """Number of the bot's matches, in which its name was replaced."""


async def forget_name(engine: Engine, name: str) -> ForgottenBot:
    """Delete the token, sessions, bans, hashed addresses and match logs of a bot, and replace its name in all records.

    With the last bot of an owner, the owner's invitations and bans are deleted too. `name` may also be an owner without
    bots. If a call was interrupted, call the function again.

    Return the random name that replaces `name`, and the number of changed matches. Raises NameInUse if the bot has a
    match in progress or is in a tournament or ladder that has begun.
    """
    await add_new_matches_to_aggregates(engine)  # matches counted later would bring the name back
    await run_in_transaction(engine, partial(_require_not_playing, bot_name=name))
    deleted_name = f"{DELETED_BOT_NAME_PREFIX}{secrets.token_hex(4)}"
    count = await _rename_in_all_matches(engine, name, deleted_name, is_deletion=True)
    await run_in_transaction(
        engine, partial(_delete_bot_data_outside_matches, name=name, new_name=deleted_name)
    )
    return ForgottenBot(deleted_name, count)


async def rename_in_store(engine: Engine, name: str, new_name: str, *, transfers_ban: bool) -> int:
    """Rename a bot in all stored data, including its token, and return the number of its matches.

    transfers_ban: True to ban the new name if the old one is banned

    The old name stays taken. To resume an interrupted rename, call the function again. Raises NameInUse if the bot has
    a match in progress or is in a tournament or ladder that has begun, and TokenError if the new name is not available.
    """
    await add_new_matches_to_aggregates(engine)
    row = await run_in_transaction(engine, partial(_retire_old_name, name=name, new_name=new_name))
    count = await _rename_in_all_matches(engine, name, new_name, is_deletion=False)
    await run_in_transaction(
        engine,
        partial(_transfer_bot_data, name=name, new_name=new_name, token_row=row, transfers_ban=transfers_ban),
    )
    return count


def make_hidden_name() -> str:
    """Return a new random name for a bot whose own name the host (the person who runs the server) hides."""
    return f"{HIDDEN_BOT_NAME_PREFIX}{secrets.token_hex(4)}"


def _retire_old_name(connection: sa.Connection, name: str, new_name: str) -> dict[str, Any]:
    """Revoke the token of the old name, so that nobody else can take the name.

    A name without a token gets a revoked one. Return the name's previous row of the table `tokens`; empty if it had none.
    """
    lock_store_exclusively(connection)
    _require_not_playing(connection, name)
    row = _read_renamable_token_row(connection, name, new_name)
    kept_values = {
        "name": name,
        "hash": "",
        "role": "bot",
        "owner": name,
        "created": format_current_time(),
        "rotated": None,
    }
    if row is None:
        connection.execute(sa.insert(tokens).values(**kept_values, revoked=format_current_time()))
        return {}
    connection.execute(sa.update(tokens).where(tokens.c.name == name).values(revoked=format_current_time()))
    return row


def _read_renamable_token_row(connection: sa.Connection, name: str, new_name: str) -> dict[str, Any] | None:
    """Check that a bot can be renamed, and return the bot's row of the table `tokens`; None if the bot has no token.

    Raises TokenError if `name` is not a bot that can be renamed (a guest cannot), or if the new name is invalid or not
    available.
    """
    tokens_query = sa.select(tokens).where(tokens.c.name.in_((name, new_name)))
    rows = {row["name"]: dict(row) for row in connection.execute(tokens_query).mappings()}
    row, target_row = rows.get(name), rows.get(new_name)
    if row is None and (
        find_name_unavailability_reason(name, ())
        or connection.execute(_select_match_of_player(name)).scalar() is None
    ):
        raise TokenError(f"no bot with an owner is called {name!r:.80}: `arena owner list` lists these bots")
    require_valid_name(new_name)
    why = None
    if not new_name.startswith(HIDDEN_BOT_NAME_PREFIX):
        other_names = [other for other in read_names_with_token(connection) if other != name]
        why = find_name_unavailability_reason(new_name, other_names)
    is_own_name = target_row is None or (
        row is not None and target_row["revoked"] and target_row["owner"] == row["owner"]
    )
    if why is None and (
        name == new_name or not is_own_name or _has_stored_history(connection, new_name, row)
    ):
        why = f"{new_name!r:.80} is taken: choose another name"
    if why is not None:
        raise TokenError(why)
    return row


def _has_stored_history(connection: sa.Connection, new_name: str, token_row: dict[str, Any] | None) -> bool:
    """Return True if the new name has results that do not come from an interrupted rename of the same bot.

    token_row: row of the old name in the table `tokens`; None if there is no row
    """
    tables = [schema.standings, schema.event_bots]
    queries = [sa.select(table.c.bot).where(table.c.bot == new_name).limit(1) for table in tables]
    if token_row is None or token_row["revoked"] is None:
        queries.append(_select_match_of_player(new_name))
    return any(connection.execute(query).scalar() is not None for query in queries)


def _transfer_bot_data(
    connection: sa.Connection, name: str, new_name: str, token_row: dict[str, Any], *, transfers_ban: bool
) -> None:
    """Transfer the old name's results, address hashes and token to the new name, and delete the old name's sessions.

    token_row: row of the table `tokens` to store under the new name; empty if it gets no token
    transfers_ban: True to ban the new name if the old one is banned
    """
    lock_store_exclusively(connection)
    _rename_outside_matches(connection, name, new_name)
    connection.execute(sa.delete(sessions).where(sessions.c.name == name))
    connection.execute(sa.update(addresses).where(addresses.c.name == name).values(name=new_name))
    of_name = directives.c.kind == "name"
    connection.execute(sa.delete(directives).where(of_name, directives.c.subject == new_name))
    if transfers_ban:
        connection.execute(
            sa.update(directives).where(of_name, directives.c.subject == name).values(subject=new_name)
        )
    if token_row:
        connection.execute(sa.delete(tokens).where(tokens.c.name == new_name))
        connection.execute(sa.insert(tokens).values(**token_row | {"name": new_name}))


async def _rename_in_all_matches(engine: Engine, name: str, new_name: str, *, is_deletion: bool) -> int:
    count = 0
    change_batch = partial(_rename_in_match_batch, name=name, new_name=new_name, is_deletion=is_deletion)
    while changed := await run_in_transaction(engine, change_batch):
        count += changed
    return count


def _require_not_playing(connection: sa.Connection, bot_name: str) -> None:
    match_in_progress = _select_match_of_player(bot_name).where(matches.c.finished.is_(None))
    match = connection.execute(match_in_progress).scalar()
    if match is not None:
        raise NameInUse(
            f"{bot_name!r:.80} has a match in progress ({match:.8}): ban the name with `arena ban`, and try again after the match"
        )
    _require_not_entered_in_event(connection, bot_name)


def _require_not_entered_in_event(connection: sa.Connection, bot_name: str) -> None:
    """Raise NameInRunningEvent if a bot is in an unfinished ladder, or in a tournament that has begun and is not over."""
    unfinished = sa.select(ladders.c.event, ladders.c.plan).where(ladders.c.finished.is_(None))
    for row in connection.execute(unfinished).all():
        plan = msgspec.json.decode(row.plan)
        if not _is_plan_of_future_event(plan) and _replace_name_in_json(plan, bot_name, "") != plan:
            raise NameInRunningEvent(
                f"{bot_name!r:.80} is in the event {row.event!r:.80}: wait until the event is over"
            )


def _is_plan_of_future_event(plan: dict[str, Any]) -> bool:
    """Return True if a stored plan is of an event (tournament) that has not begun.

    Only the event's server may change such a plan: the server would overwrite a change by anybody else.
    """
    return bool(plan.get("state", {}).get("phase") == "open")


async def require_not_in_running_event(engine: Engine, bot_name: str) -> None:
    """Raise NameInRunningEvent if the bot is in a running ladder or tournament, during which the bot's name must not change."""
    async with open_query_connection(engine) as connection:
        await connection.run_sync(_require_not_entered_in_event, bot_name)


async def require_possible_rename(engine: Engine, name: str, new_name: str) -> None:
    """Check that a bot can be renamed once its matches in progress are over.

    Raises NameInRunningEvent if the bot is in a tournament or ladder that has begun, and TokenError if there is no such bot or
    the new name is not available.
    """
    async with open_query_connection(engine) as connection:
        await connection.run_sync(_require_not_entered_in_event, name)
        await connection.run_sync(_read_renamable_token_row, name, new_name)


async def list_servers_with_event_entry(engine: Engine, bot_name: str) -> list[str]:
    """Return the sorted names of the servers that will play an event (tournament) that names a bot.

    Only events that have not begun are searched. An event names a bot that has entered, was invited, or was withdrawn
    by its owner or the host.
    """
    matching_events = [
        event
        for event in await list_unfinished_events(engine)
        if bot_name in (*event.entered_bots, *event.excluded_bots, *event.plan.invited_bots)
    ]
    return sorted({event.server for event in matching_events if event.phase == "open"})


def _make_player_condition(bot_name: str) -> sa.ColumnElement[bool]:
    return (matches.c.maxie == bot_name) | (matches.c.minnie == bot_name)


def _select_match_of_player(bot_name: str) -> sa.Select[str]:
    return sa.select(matches.c.match).where(_make_player_condition(bot_name)).limit(1)


def _rename_in_match_batch(connection: sa.Connection, name: str, new_name: str, *, is_deletion: bool) -> int:
    """Rename a player in up to RENAMED_MATCHES_PER_TRANSACTION matches.

    Return the number of changed matches; 0 once none is left.

    is_deletion: True to also delete the events of these matches, and the texts that the player sent
    """
    lock_store_exclusively(connection)
    columns = (matches.c.number, matches.c.maxie, matches.c.minnie, matches.c.terms, matches.c.detail)
    query = sa.select(*columns, records.c.packed, records.c.whole).join(records, isouter=True)
    rows = connection.execute(
        query.where(_make_player_condition(name)).limit(RENAMED_MATCHES_PER_TRANSACTION)
    ).all()
    for row in rows:
        players = Players(*(new_name if player == name else player for player in (row.maxie, row.minnie)))
        seats: set[Seat] = {
            seat for seat in ("maxie", "minnie") if is_deletion and getattr(row, seat) == name
        }
        terms, detail = _replace_names_in_terms(row.terms, players, seats), row.detail
        if row.packed is not None:
            record = _replace_names_in_record(parse_record_line(unpack_record(row.packed)), players, seats)
            # The referee's details contain names in parentheses, as in "maxie (NAME) …".
            record = replace(
                record,
                result=replace(
                    record.result, detail=_replace_name_in_text(record.result.detail, name, new_name)
                ),
            )
            detail = record.result.detail and _replace_name_in_text(row.detail or "", name, new_name)
            packed_terms = (
                _replace_names_in_terms(unpack_terms(row.packed), players, seats) if row.whole else ""
            )
            line = format_record_line(record)
            journal = unpack_match(row.packed).event_rows if row.whole and not is_deletion else []
            packed = (
                pack_match(PackableMatch(line, packed_terms, journal)) if row.whole else pack_record(line)
            )
            connection.execute(sa.update(records).where(records.c.number == row.number).values(packed=packed))
        if is_deletion:
            connection.execute(sa.delete(events).where(events.c.number == row.number))
        change = sa.update(matches).where(matches.c.number == row.number)
        connection.execute(change.values(**asdict(players), terms=terms, detail=detail))
    return len(rows)


def _replace_name_in_text(detail: str, name: str, new_name: str) -> str:
    return detail.replace(f" ({name})", f" ({new_name})")


def _replace_names_in_record(record: Record, new_players: Players, forgotten_seats: set[Seat]) -> Record:
    """Return a copy of a record with the names `new_players`, without the texts that players in `forgotten_seats` sent."""
    result, engines = record.result, record.engines
    if (
        forgotten_seats
        and result.reason in END_REASONS_WITH_TEXT_WRITTEN_BY_LOSER
        and result.winner not in forgotten_seats
    ):
        result = replace(result, detail="")
    if engines is not None:
        engines = replace(engines, **dict.fromkeys(forgotten_seats, None))
    return replace(
        record, players=new_players, result=result, engines=None if engines == EnginesBySeat() else engines
    )


def _replace_names_in_terms(terms: str, new_players: Players, forgotten_seats: set[Seat]) -> str:
    """Return a match's terms, as JSON, with the names `new_players`, without the engines of players in `forgotten_seats`.

    Return an empty text for empty terms.
    """
    if not terms:
        return ""
    fields = msgspec.json.decode(terms)
    if "players" in fields:
        fields["players"] = asdict(new_players)
    if fields.get("engines"):
        fields["engines"] |= dict.fromkeys(forgotten_seats)
    return msgspec.json.encode(fields).decode()


def _delete_bot_data_outside_matches(connection: sa.Connection, name: str, new_name: str) -> None:
    """Rename a bot in the tables of results and tournaments, and delete its token, sessions, bans and hashed addresses.

    If the bot's owner has no other bot, the owner's invitations and bans are deleted too.
    """
    lock_store_exclusively(connection)
    _rename_outside_matches(connection, name, new_name)
    owner = connection.execute(sa.select(tokens.c.owner).where(tokens.c.name == name)).scalar()
    connection.execute(sa.delete(tokens).where(tokens.c.name == name))
    for person in {name, owner or name}:
        _delete_owner_without_bots(connection, person)
    for table in (sessions, addresses):
        connection.execute(sa.delete(table).where(table.c.name == name))
    connection.execute(sa.delete(directives).where(directives.c.kind == "name", directives.c.subject == name))


def _delete_owner_without_bots(connection: sa.Connection, owner_name: str) -> None:
    """Delete the invitations for an owner and the owner's bans, unless the owner still has a bot."""
    has_bots = sa.select(tokens.c.name).where(tokens.c.owner == owner_name).limit(1)
    if connection.execute(has_bots).scalar() is None:
        connection.execute(sa.delete(invitations).where(invitations.c.owner == owner_name))
        of_owner = directives.c.kind == "owner"
        connection.execute(sa.delete(directives).where(of_owner, directives.c.subject == owner_name))


def remove_expired_data(connection: sa.Connection) -> None:
    """Delete expired bans, notices and invitations, and old hashes of addresses, because they are personal data."""
    remove_expired_bot_addresses(connection)
    connection.execute(sa.delete(directives).where(directives.c.until.between("0", format_current_time())))
    connection.execute(sa.delete(invitations).where(invitations.c.expires < format_current_time()))


def _rename_outside_matches(connection: sa.Connection, name: str, new_name: str) -> None:
    """Rename a player in the tables of ratings and results, and in the stored plans of ladders and events that have begun.

    Answered requests to a server (table `requests`) that mention the old name are deleted.
    """
    for table, columns in BOT_NAME_COLUMNS_BY_TABLE.items():
        for column in columns:
            has_old_name = table.c[column] == name
            connection.execute(sa.update(table).where(has_old_name).values({column: new_name}))
    for row in connection.execute(sa.select(ladders.c.event, ladders.c.plan)).all():
        plan = msgspec.json.decode(row.plan)
        renamed_plan = msgspec.json.encode(_replace_name_in_json(plan, name, new_name)).decode()
        if renamed_plan != row.plan and not _is_plan_of_future_event(plan):
            connection.execute(
                sa.update(ladders).where(ladders.c.event == row.event).values(plan=renamed_plan)
            )
    mentions_name = sa.or_(
        *(requests.c[column].contains(name, autoescape=True) for column in ("request", "answer"))
    )
    connection.execute(sa.delete(requests).where(requests.c.done.is_not(None), mentions_name))


def _replace_name_in_json(data: Any, name: str, new_name: str) -> Any:
    """Return JSON data in which each text or key that equals `name` is replaced by `new_name`."""
    if isinstance(data, dict):
        return {
            _replace_name_in_json(key, name, new_name): _replace_name_in_json(value, name, new_name)
            for key, value in data.items()
        }
    if isinstance(data, list):
        return [_replace_name_in_json(item, name, new_name) for item in data]
    return new_name if data == name else data

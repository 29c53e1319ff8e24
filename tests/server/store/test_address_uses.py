from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import combinations

import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.server.store import address_uses, tokens
from arena.server.store.address_uses import (
    ADDRESS_RETENTION_DAYS,
    MAX_OWNERS_AT_SHARED_ADDRESS,
    AddressUse,
    find_days_with_shared_address,
    store_address_uses,
)
from arena.server.store.database import format_store_timestamp, run_in_transaction
from arena.server.store.personal_data import remove_expired_data
from arena.server.store.schema import addresses as table

OWNERS = {f"{owner}{number}": owner for owner in "abcde" for number in (1, 2)}
"""Owner of each bot."""


def format_day_ago(days: int) -> str:
    return format_store_timestamp(datetime.now(UTC) - timedelta(days=days))[:10]


async def test_uses_by_bots_with_a_token_are_kept_until_they_expire(engine: AsyncEngine) -> None:
    for name in ("anna", "bert", "carl"):
        await tokens.create_token(engine, name, "bot", "ada" if name == "carl" else "")
    await tokens.revoke_token(engine, "bert")
    # Computed once: midnight may pass during the test.
    days = [format_day_ago(each) for each in (ADDRESS_RETENTION_DAYS + 1, ADDRESS_RETENTION_DAYS - 1, 0)]
    rows = [AddressUse(name, day, "x") for name in ("anna", "bert", "carl", "nobody") for day in days]
    for _ in range(2):
        await run_in_transaction(engine, partial(store_address_uses, address_uses=rows))
    assert await find_days_with_shared_address(engine) == {("anna", "carl"): days}
    await run_in_transaction(engine, remove_expired_data)
    assert await find_days_with_shared_address(engine) == {("anna", "carl"): days[1:]}
    async with engine.connect() as connection:
        names = await connection.scalars(sa.select(table.c.name).distinct().order_by(table.c.name))
        assert names.all() == ["anna", "carl"]


@given(st.sets(st.tuples(st.sampled_from("123"), st.sampled_from("xy"), st.sampled_from(sorted(OWNERS)))))
def test_shared_days_are_found_for_addresses_with_few_owners(rows: set[tuple[str, str, str]]) -> None:
    found = address_uses._group_days_by_bot_pair((*row, OWNERS[row[2]]) for row in rows)
    for one, other in combinations(sorted(OWNERS), 2):
        days = {
            day
            for day in "123"
            for address in "xy"
            if {(day, address, one), (day, address, other)} <= rows
            and len({OWNERS[name] for *where, name in rows if where == [day, address]})
            <= MAX_OWNERS_AT_SHARED_ADDRESS
        }
        wanted = sorted(days) if OWNERS[one] != OWNERS[other] else []
        assert found.get((one, other), []) == wanted

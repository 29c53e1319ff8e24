"""server.arena.sharing: what an address asks of one server counts on all of them."""

from __future__ import annotations

from collections import Counter
from time import monotonic

import pytest
from websockets.exceptions import InvalidMessage

from arena.protocol.codes import Code
from arena.server.arena.messages import Spent
from arena.server.arena.sharing import Sharing
from arena.server.lobby.accounts import Accounts, Refused
from arena.server.net.admission import Admission
from arena.server.net.by_address.misdeeds import Misdeeds
from arena.server.net.by_address.work import WorkBudget
from arena.server.net.limits import HostLimits
from tests.server.arena.arenas import arena, until
from tests.server.peer import dial

ADDRESS = "192.0.2.7"


class Server:
    """The limits of one server of an arena."""

    def __init__(self) -> None:
        self.misdeeds = Misdeeds(shared=True)
        self.work = WorkBudget(1.0, self.misdeeds.worked)
        self.accounts = Accounts(anyone=False, misdeeds=self.misdeeds)
        self.admission = Admission(
            HostLimits(connections_per_address=3, cut_offs=2), (), misdeeds=self.misdeeds
        )
        self.sharing = Sharing(self.misdeeds, self.work, self.accounts, self.admission)


def test_work_that_is_asked_of_one_server_is_taken_from_the_budget_on_all() -> None:
    one, other = Server(), Server()
    assert one.work.ask(ADDRESS, 20_000, monotonic()) == 0
    assert other.work.ask(ADDRESS, 10_000, monotonic()) == 0
    other.sharing.asked("one", one.sharing.spent())
    assert other.work.ask(ADDRESS, 10_000, monotonic()) > 0
    assert one.sharing.spent().work == {}  # it is told once


def test_connections_to_all_servers_count_together_until_one_of_them_ends() -> None:
    one, other = Server(), Server()
    assert [one.admission.let_in(ADDRESS) for _ in range(2)] == [True, True]
    other.sharing.asked("one", one.sharing.spent())
    assert [other.admission.let_in(ADDRESS) for _ in range(2)] == [True, False]
    other.sharing.forget("one")
    assert other.admission.let_in(ADDRESS)


async def test_wrong_tokens_and_connections_that_were_cut_off_close_an_address_everywhere() -> None:
    one, other = Server(), Server()
    for _ in range(10):
        with pytest.raises(Refused) as refused:
            await one.accounts.check("anna", "wrong", ADDRESS)
        assert refused.value.code is Code.BAD_TOKEN
    for _ in range(2):
        one.admission.cut_off(ADDRESS)
    other.sharing.asked("one", one.sharing.spent())
    with pytest.raises(Refused) as refused:
        await other.accounts.check("anna", "wrong", ADDRESS)
    assert refused.value.code is Code.RATE_LIMITED
    assert not other.admission.let_in(ADDRESS)


def test_what_is_told_without_end_costs_no_more_than_what_closes_an_address() -> None:
    one = Server()
    one.sharing.asked("other", Spent({}, {ADDRESS: 2**40}, {ADDRESS: 2**40}, {}))
    assert one.misdeeds.take(Counter()).wrong == {}


async def test_a_server_alone_counts_nothing_for_others() -> None:
    misdeeds = Misdeeds(shared=False)
    misdeeds.worked(ADDRESS, 1)
    misdeeds.wrong(ADDRESS)
    misdeeds.cut_off(ADDRESS)
    assert misdeeds.take(Counter()) == ({}, {}, {}, {})


async def test_an_address_has_its_connections_in_the_whole_arena(postgresql_database: str) -> None:
    limits = HostLimits(connections_per_address=4)
    async with (
        arena(postgresql_database, 2, limits=limits) as (one, other),
        dial(one.url),
        dial(one.url),
        dial(one.url),
    ):
        await until(lambda: other.misdeeds.connections("127.0.0.1") == 3)
        async with dial(other.url):
            with pytest.raises(InvalidMessage):
                async with dial(other.url):
                    pass

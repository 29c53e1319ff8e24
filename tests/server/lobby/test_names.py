"""server.lobby.names: a bot is told of its session only once that is kept."""

from __future__ import annotations

import anyio
import pytest

from arena.protocol.codes import Code
from arena.protocol.messages import Hello
from arena.server.lobby.accounts import Refused
from arena.server.lobby.names import OwnNames
from arena.server.rooms.member import secret_hash
from arena.server.store.database import open_store
from arena.server.store.journal.journal import Journal
from arena.server.store.journal.recovery import kept_sessions


async def test_a_new_session_is_in_the_store_when_its_name_is_claimed(database: str) -> None:
    async with open_store(database) as engine, anyio.create_task_group() as tasks:
        journal = Journal(engine)
        await tasks.start(journal.run)
        names = OwnNames(journal)
        assert await names.recall("anna") == b""
        assert await names.claim(Hello("anna"), "secret") == (0, 0)
        assert await kept_sessions(engine, ["anna"]) == {"anna": secret_hash("secret")}
        assert await names.claim(Hello("anna", session="secret"), None) == (0, 0)
        names.release("anna", 0)
        assert await kept_sessions(engine, ["anna"]) == {"anna": secret_hash("secret")}
        tasks.cancel_scope.cancel()


async def test_a_session_that_is_not_kept_is_not_given_and_the_log_says_why(
    database: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_store(database) as engine, anyio.create_task_group() as tasks:
        journal = Journal(engine)
        await tasks.start(journal.run)
        tasks.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            with pytest.raises(Refused) as refused:
                await OwnNames(journal).claim(Hello("anna"), "secret")
            assert await kept_sessions(engine, ["anna"]) == {}
    assert refused.value.code is Code.SERVER_FULL
    (told,) = caplog.records
    assert told.getMessage().startswith("no session: ")

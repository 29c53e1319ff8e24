"""Permissions to read the log of a match over HTTP."""

from __future__ import annotations

import base64
from http import HTTPStatus

from arena.server.core.bot import hash_secret
from arena.server.core.effects import SaveSession
from arena.server.host import ArenaServer
from arena.server.store import tokens
from arena.server.store.database import open_store
from arena.server.store.journal.journal import open_journal
from arena.server.web.match_log import MatchLogHandler
from arena.server.web.routes import NotFound
from tests.server.journals import make_close_match, make_open_match
from tests.server.matches import record
from tests.server.web.test_web_app import get

EARLIER_MATCH, CURRENT_MATCH = "before" + 26 * "0", "since" + 27 * "0"


def basic(name: str, secret: str) -> str:
    return "Basic " + base64.b64encode(f"{name}:{secret}".encode()).decode()


async def test_a_session_secret_gives_access_to_its_matches_and_a_token_to_all(database: str) -> None:
    async with open_store(database) as engine, open_journal(engine) as journal:
        for session, match in (("first", EARLIER_MATCH), ("second", CURRENT_MATCH)):
            await journal.commit([SaveSession("anna", hash_secret(session)), make_open_match(match)])
            await journal.commit([make_close_match(record(match))])
        token = await tokens.create_token(engine, "bert", "bot")
        logs = MatchLogHandler(engine, admits_anyone=False)

        async def status(match: str, name: str, secret: str) -> HTTPStatus:
            try:
                return (await logs.handle_request(match, basic(name, secret))).status
            except NotFound:
                return HTTPStatus.NOT_FOUND

        assert await status(CURRENT_MATCH, "anna", "second") is HTTPStatus.OK
        assert await status(EARLIER_MATCH, "anna", "second") is HTTPStatus.UNAUTHORIZED
        assert await status(EARLIER_MATCH, "anna", "first") is HTTPStatus.UNAUTHORIZED
        assert await status(CURRENT_MATCH, "bert", "second") is HTTPStatus.UNAUTHORIZED
        assert await status(EARLIER_MATCH, "bert", token) is HTTPStatus.OK
        for owner, found in {"bert": HTTPStatus.OK, "carl": HTTPStatus.NOT_FOUND}.items():
            name = f"another of {owner}"
            other = await tokens.create_token(engine, name, "bot", owner)
            assert await status(EARLIER_MATCH, name, other) is found


async def test_an_address_that_sends_many_wrong_tokens_is_refused(host: ArenaServer) -> None:
    wrong = {"Authorization": basic("anna", "a guess")}
    codes = [(await get(host, "/api/log/none", **wrong))[0] for _ in range(11)]
    assert codes == [401] * 10 + [429]
    assert (await get(host, "/api/table"))[0] == 200, "requests that need no token are still answered"

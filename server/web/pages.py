"""The answers to plain GETs on the server's own port: health, metrics, the page, and what the page asks for.

/healthz /readyz /metrics
/                          the page; its files lie under /web/
/api/about                 the program, the digest of the page's files, whether names need tokens, the games and the shipped maps
/api/game/NAME?setup=&moves=  a match of a game that somebody has written, position by position
/api/advice/MAP?position=  what an engine of the house thinks of a position on a shipped map
/api/map/NAME              what a picture of a shipped map needs beside the setup
/api/records?before=&limit=&bot=&game=     finished matches, the newest first
/api/record/MATCH          one record; ?download gives it as a file
/api/truth/MATCH           on a solved map, what each move truly was; null elsewhere
/api/table                 ratings, cross-tables, events;  ?event=NAME: the table of an event
/api/bot?name=NAME         what is known of a bot; /api/bot/NAME where the name may stand in a path
/api/log/MATCH             a match move by move, for its players: HTTP Basic with name and token

What a question costs is taken from the budget of its address, and whoever has none left is answered 429.
Each answer that needs the store is kept for a second, or longer where it took long; only a few are made at the same time, with a rest after each, and
one question has one form: however often people press reload, matches do not notice.
"""

from __future__ import annotations

import gzip
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache, partial
from http import HTTPStatus
from time import monotonic
from urllib.parse import parse_qsl, unquote, urlsplit

import anyio
import anyio.to_thread

from games.catalogue import KNOWN
from maps.cells import shipped_cells
from maps.loader import load_file, map_names
from maps.setup import DEFAULT_MAP
from server.net import answers
from server.net.answers import Answer
from server.net.metrics import Metrics
from server.net.request import Request
from server.net.turns import Turns
from server.net.work import WorkBudget
from server.store import database
from server.store.queries import MOST_LISTED, Queries
from server.web import boards
from server.web.advice import Advisor
from server.web.costs import cost_of
from server.web.match_log import MatchLogs
from server.web.static import FOREVER, StaticFiles, takes_gzip
from server.web.truth import truth_of

log = logging.getLogger("arena.pages")

PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
KEPT_SECONDS = 1.0
"""For how long an answer from the store is given again, at the least."""
KEPT_TIMES = 200.0
"""For how many times as long as it took it is given again: the ratings of 20 bots are fitted in some milliseconds, those of
140 in a third of a second, and whatever the event loop does meanwhile takes longer."""
KEPT_MOST = 60.0
"""For how many seconds an answer is given again, at the most."""
KEPT = 64
"""How many answers from the store are kept."""
KEPT_BYTES = 2 * 1024 * 1024
"""How many bytes the answers that are kept have together."""
STORE_QUESTIONS = 6
"""How many questions go to the store at the same time."""
PATIENCE_SECONDS = 10.0
"""From a question to its being given up."""
PARAMETERS = {
    "records": {"before", "limit", "bot", "game"},
    "record": {"download"},
    "truth": set[str](),
    "table": {"event"},
    "bot": {"name"},
}
"""The parameters that may follow the `?` of each question."""
LONGEST = 2048
"""The most characters that a path and its query may have together."""

_WORD = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_TIME = re.compile(r"[0-9TZ:.+-]{1,32}")


GONE = answers.text("nobody waits for this answer", HTTPStatus.REQUEST_TIMEOUT)
"""What is made for a client that has gone before its turn came; it is sent to nobody."""


@dataclass(frozen=True)
class _Asker:
    """Whoever asks for something, and what that costs at the most in µs."""

    request: Request
    address: str
    cost: int


class _Wrong(Exception):
    """A parameter that cannot be what somebody meant; the text says why."""


class Pages:
    """The plain pages of one server."""

    def __init__(
        self,
        metrics: Metrics,
        queries: Queries,
        files: StaticFiles,
        logs: MatchLogs,
        work: WorkBudget,
        *,
        program: str,
        anyone: bool,
        guests: bool,
        draining: Callable[[], bool],
        trouble: Callable[[], str],
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        """Answer from these sources.

        program   the server's name and version
        anyone    whether names need no token
        guests    whether people without a token may play the house bots
        draining  says whether the server is about to stop
        trouble   says why nothing becomes durable now; empty where all is well
        patience  seconds from a question to the store to its being given up, there and here
        """
        self._metrics = metrics
        self._queries = queries
        self._files = files
        self._logs = logs
        self._work = work
        self._about = {
            "program": program,
            "anyone": anyone,
            "guests": guests,
            "games": sorted(KNOWN.names()),
            "maps": map_names(),
            "map": DEFAULT_MAP,
            "page": files.digest,
        }
        self._boards = boards.Boards()
        self._advisor = Advisor(on=guests)
        self._kept: dict[tuple[object, ...], tuple[float, Answer]] = {}
        self._making: dict[tuple[object, ...], anyio.Lock] = {}
        """The questions to which an answer is being made."""
        self._turns = Turns(STORE_QUESTIONS)
        self._draining = draining
        self._trouble = trouble
        self._patience = patience

    async def __call__(self, request: Request, address: str) -> Answer | None:
        """The answer to a GET from an address; None where there is no such page."""
        if len(request.path) > (boards.LONGEST if request.path.startswith("/api/game/") else LONGEST):
            return answers.bad_request(f"the path is longer than {LONGEST} characters")
        if not unquote(request.path).isprintable():
            # No name has such a character, and PostgreSQL takes no NUL at all.
            return answers.bad_request("the path has a character that cannot be printed")
        try:
            path = urlsplit(request.path).path
        except ValueError:
            return None
        cost = cost_of(path)
        if cost is None:
            return None
        wait = self._work.ask(address, cost, monotonic())
        if wait > 0:
            return answers.too_much(wait)
        asker = _Asker(request, address, cost)
        accepts = ", ".join(request.headers.get_all("Accept-Encoding"))
        if path == "/":
            return self._files.page(accepts, ", ".join(request.headers.get_all("If-None-Match")))
        if path.startswith("/web/"):
            return self._files.file(path.removeprefix("/web/"), accepts)
        if path.startswith("/api/log/"):
            match = unquote(path.removeprefix("/api/log/"))
            # The answer is never kept, for only whoever shows the token may have it.
            return await self._timed(path, asker, lambda: self._logs.answer(match, request, address))
        if path.startswith("/api/game/"):
            name, query = unquote(path.removeprefix("/api/game/")), urlsplit(request.path).query
            return await self._timed(path, asker, lambda: self._boards.answer(name, query))
        if path.startswith("/api/advice/"):
            name, query = unquote(path.removeprefix("/api/advice/")), urlsplit(request.path).query
            return await self._advisor.answer(name, query)
        if path.startswith("/api/"):
            return await self._api(path.removeprefix("/api/"), asker)
        return self._plain(path)

    def _plain(self, path: str) -> Answer | None:
        match path:
            case "/healthz":
                return answers.text("ok")
            case "/readyz" if self._draining():
                return answers.text("draining", HTTPStatus.SERVICE_UNAVAILABLE)
            case "/readyz" if why := self._trouble():
                return answers.text(f"not ready: {why}", HTTPStatus.SERVICE_UNAVAILABLE)
            case "/readyz":
                return answers.text("ready")
            case "/metrics":
                return Answer(HTTPStatus.OK, PROMETHEUS, self._metrics.page())
        return None

    async def _api(self, path: str, asker: _Asker) -> Answer | None:
        async def ask(make: Callable[[], Awaitable[Answer]], *form: object) -> Answer:
            return await self._ask(path, given, asker, make, *form)

        what, _, rest = path.partition("/")
        name = unquote(rest)
        try:
            given = _parameters(urlsplit(asker.request.path).query)
            match what, bool(rest):
                case "about", False:
                    return answers.json(self._about)
                case "map", True:
                    return _map(name, takes_gzip(", ".join(asker.request.headers.get_all("Accept-Encoding"))))
                case "records", False:
                    return await ask(lambda: self._records(given))
                case "record", True:
                    packs = takes_gzip(", ".join(asker.request.headers.get_all("Accept-Encoding")))
                    return await ask(lambda: self._record(name, packs, download="download" in given), packs)
                case "truth", True:
                    return await ask(lambda: self._truth(name))
                case "table", False:
                    return await ask(lambda: self._table(given.get("event", "")))
                case "bot", _ if bool(rest) != ("name" in given):
                    return await ask(lambda: self._bot(name or given["name"]))
        except _Wrong as wrong:
            return answers.bad_request(str(wrong))
        return None

    async def _ask(
        self,
        path: str,
        given: dict[str, str],
        asker: _Asker,
        make: Callable[[], Awaitable[Answer]],
        *form: object,
    ) -> Answer:
        """The answer of the last second where there is one, or a new one; `form` tells forms of one answer apart."""
        known = PARAMETERS[path.partition("/")[0]]
        for name in given:
            if name not in known:
                # A parameter without a meaning would make one question into as many as somebody likes.
                raise _Wrong(f"there is no parameter {name!r:.40} here")
        question = (unquote(path), *form, *sorted(given.items()))

        async def answer() -> Answer:
            # The same question may have been answered while this one waited.
            async with self._alone(question):
                made = self._kept_answer(question)
                if made is None:
                    began = monotonic()
                    made = await make()
                    self._keep(question, made, monotonic() - began)
                return made

        return self._kept_answer(question) or await self._timed(f"/api/{path}", asker, answer)

    @asynccontextmanager
    async def _alone(self, question: tuple[object, ...]) -> AsyncIterator[None]:
        """Wait until nobody else makes an answer to the same question."""
        lock = self._making.setdefault(question, anyio.Lock())
        try:
            async with lock:
                yield
        finally:
            if not lock.statistics().tasks_waiting:
                self._making.pop(question, None)

    def _kept_answer(self, question: tuple[object, ...]) -> Answer | None:
        kept = self._kept.get(question)
        return kept[1] if kept is not None and monotonic() < kept[0] else None

    def _keep(self, question: tuple[object, ...], made: Answer, took: float) -> None:
        """Keep an answer for a moment; the oldest ones go where they are too many or too long together."""
        self._kept.pop(question, None)
        seconds = min(KEPT_MOST, max(KEPT_SECONDS, KEPT_TIMES * took))
        self._kept[question] = (monotonic() + seconds, made)
        while len(self._kept) > KEPT or sum(len(each.body) for _, each in self._kept.values()) > KEPT_BYTES:
            del self._kept[next(iter(self._kept))]

    async def _timed(self, asked: str, asker: _Asker, make: Callable[[], Awaitable[Answer]]) -> Answer:
        """An answer from the store, or that the store is busy or away where it takes too long or fails."""
        try:
            with anyio.fail_after(self._patience):
                async with self._turns.turn(asker.address, asker.cost):
                    return GONE if asker.request.abandoned() else await make()
        except TimeoutError:
            return answers.text("the store is busy: try again", HTTPStatus.SERVICE_UNAVAILABLE)
        except Exception as error:
            why = database.complaint(error)
            if why is None:
                raise
            log.error("the store does not answer %s: %s", asked, why)  # noqa: TRY400  one line, for the host
            return answers.text("the store does not answer", HTTPStatus.SERVICE_UNAVAILABLE)

    async def _records(self, given: dict[str, str]) -> Answer:
        limit = given.get("limit", "20")
        if not limit.isascii() or not limit.isdecimal() or not 1 <= int(limit[:6]) <= MOST_LISTED:
            raise _Wrong(f"limit must be 1 to {MOST_LISTED}")
        game = given.get("game", "")
        if game and not KNOWN.knows(game):
            raise _Wrong(f"there is no game {game!r:.40}")
        before = None
        if given.get("before"):
            time, _, match = given["before"].partition("|")
            if not _TIME.fullmatch(time) or not _WORD.fullmatch(match):
                raise _Wrong("before must be the `next` of an earlier answer")
            before = (time, match)
        return answers.json(await self._queries.match_list(before, int(limit), given.get("bot", ""), game))

    async def _record(self, match: str, packs: bool, *, download: bool) -> Answer:  # noqa: FBT001  what the asker takes
        line = await self._queries.record(match) if _WORD.fullmatch(match) else None
        if line is None:
            return answers.not_found(f"no finished match is called {match!r:.80}")
        # A record never changes: whoever has it need not ask again.
        headers = {"Cache-Control": FOREVER, "Vary": "Accept-Encoding"}
        if download:
            headers["Content-Disposition"] = f'attachment; filename="{match.replace(":", "-")}.jsonl"'
        body = f"{line}\n".encode()
        if packs:
            headers["Content-Encoding"] = "gzip"
            body = await anyio.to_thread.run_sync(partial(gzip.compress, body, 6, mtime=0))
        return answers.raw_json(body, headers)

    async def _truth(self, match: str) -> Answer:
        line = await self._queries.record(match) if _WORD.fullmatch(match) else None
        if line is None:
            return answers.not_found(f"no finished match is called {match!r:.80}")
        return answers.json(await anyio.to_thread.run_sync(truth_of, line))

    async def _table(self, event: str) -> Answer:
        if not event:
            return answers.json(await self._queries.rated())
        found = await self._queries.event(event)
        return answers.json(found) if found else answers.not_found(f"no event is called {event!r:.80}")

    async def _bot(self, name: str) -> Answer:
        found = await self._queries.bot(name) if len(name) <= 64 else None
        return answers.json(found) if found else answers.not_found(f"no match of {name!r:.80} is finished")


def _parameters(query: str) -> dict[str, str]:
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=8, errors="strict")
    except ValueError:
        raise _Wrong("the query cannot be read") from None
    if any(len(value) > 128 for _, value in pairs):
        raise _Wrong("a parameter is longer than 128 characters")
    return dict(pairs)


def _map(name: str, packs: bool) -> Answer:  # noqa: FBT001  what the asker takes
    if name not in map_names():
        return answers.not_found(f"no shipped map is called {name!r:.80}")
    return _kept_map(name, packs)


@cache
def _kept_map(name: str, packs: bool) -> Answer:  # noqa: FBT001
    file = load_file(name)
    whole = {
        "map": name,
        "description": file.description,
        "continents": file.continents,
        "wraps": file.wraps,
        "cells": shipped_cells(name),
        "setup": file.map.to_data(),
    }
    plain = answers.json(whole, {"Vary": "Accept-Encoding"})
    if not packs:
        return plain
    headers = {**plain.headers, "Content-Encoding": "gzip"}
    return answers.raw_json(gzip.compress(plain.body, 9, mtime=0), headers)

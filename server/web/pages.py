"""The answers to plain GETs on the server's own port: health, metrics, the page, and what the page asks for.

/healthz /readyz /metrics
/ /match/ID /bot/NAME …    the page, which shows a view at each of its addresses; its files lie under /web/
/embed/ID                  a match, to be shown within any page
/picture/…  /film/…        pictures of what an address is about (server.web.pictures.previews)
/api/about                 the program, the digest of the page's files, whether names need tokens, the games and the shipped maps
/api/game/NAME?setup=&moves=  a match of a game that somebody has written, position by position
/api/advice/MAP?position=  what an engine of the house thinks of a position on a shipped map
/api/map/NAME              what a picture of a shipped map needs beside the setup
/api/records?before=&limit=&bot=&game=     finished matches, the newest first
/api/record/MATCH          one record; ?download gives it as a file
/api/truth/MATCH           on a solved map, what each move truly was; null elsewhere
/api/table                 ratings, cross-tables, events;  ?event=NAME: the table of an event
/api/search?bot=&opponent=&map=&game=&event=&result=&like=&before=&limit=    finished matches that fit
/api/versus?bot=A&opponent=B  what one has scored against the other, by game
/api/maps                  the shipped maps, with what was measured on them and what is known of them
/api/event?name=NAME       how an event goes: its plan, what is due, its sequential test
/api/bot?name=NAME         what is known of a bot; /api/bot/NAME where the name may stand in a path
/api/log/MATCH             a match move by move, for its players: HTTP Basic with name and token

What a question costs is taken from the budget of its address, and whoever has none left is answered 429. An answer that needs the
store is kept for a second or longer, few are made at a time, and each is followed by a rest: matches do not notice who reloads.
"""

from __future__ import annotations

import gzip
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from time import monotonic
from urllib.parse import unquote, urlsplit

import anyio
import anyio.to_thread

from arena.games.catalogue import KNOWN
from arena.maps.loader import map_names
from arena.maps.setup import DEFAULT_MAP
from arena.protocol.messages import LiveMatch, View
from arena.server.net import answers
from arena.server.net.answers import Answer
from arena.server.net.by_address.work import WorkBudget
from arena.server.net.metrics import Metrics
from arena.server.net.request import Request
from arena.server.net.turns import Turns
from arena.server.store import database
from arena.server.store.queries import Queries
from arena.server.web import boards, heads
from arena.server.web.advice import Advisor
from arena.server.web.costs import cost_of
from arena.server.web.events import Events
from arena.server.web.first import PLAIN, FirstView
from arena.server.web.heads import view_of
from arena.server.web.maps import map_shown, maps_known
from arena.server.web.match_lists import WORD, MatchLists, Wrong, parameters
from arena.server.web.match_log import MatchLogs
from arena.server.web.pictures.previews import Previews
from arena.server.web.progress import Progress, nobody_plays
from arena.server.web.static import FOREVER, StaticFiles, takes_gzip
from arena.server.web.truth import truth_of

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
HEAD_SECONDS = 1.5
"""How long the page waits for what it is called at an address: it is shown without that, too."""
PATIENCE_SECONDS = 10.0
"""From a question to its being given up."""
PARAMETERS = {
    "records": {"before", "limit", "bot", "game", "event"},
    "record": {"download"},
    "truth": set[str](),
    "table": {"event"},
    "bot": {"name"},
    "event": {"name"},
    "search": {"bot", "opponent", "map", "game", "event", "result", "like", "before", "limit"},
    "versus": {"bot", "opponent"},
}
"""The parameters that may follow the `?` of each question."""
LONGEST = 2048
"""The most characters that a path and its query may have together."""


GONE = answers.text("nobody waits for this answer", HTTPStatus.REQUEST_TIMEOUT)
"""What is made for a client that has gone before its turn came; it is sent to nobody."""


@dataclass(frozen=True)
class _Asker:
    """Whoever asks for something, and what that costs at the most in µs."""

    request: Request
    address: str
    cost: int


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
        live: Callable[[str], View | None],
        listed: Callable[[], list[LiveMatch]],
        progress: Progress = nobody_plays,
        secure: Callable[[], bool] = lambda: False,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        """Answer from these sources.

        program   the server's name and version
        anyone    whether names need no token
        guests    whether people without a token may play the house bots
        draining  says whether the server is about to stop
        trouble   says why nothing becomes durable now; empty where all is well
        live      gives a match in progress as a spectator sees it; None for any other
        listed    gives the matches in progress
        progress  tells how an event goes that is played here
        secure    says whether the server itself speaks TLS
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
        self._secure = secure
        self._lists = MatchLists(queries)
        self._events = Events(queries, progress, listed)
        self._patience = patience
        self._heads = heads.Heads(queries, live)
        self._previews = Previews(queries, live)
        self._first = FirstView(listed, live)

    async def __call__(self, request: Request, address: str) -> Answer | None:
        """The answer to a GET from an address; None where there is no such page."""
        if len(request.path) > (boards.LONGEST if request.path.startswith("/api/game/") else LONGEST):
            return answers.bad_request(f"the path is longer than {LONGEST} characters")
        if not unquote(request.path).isprintable():
            # No name has such a character, and PostgreSQL takes no NUL at all.
            return answers.bad_request("the path has a character that cannot be printed")
        try:
            target = urlsplit(request.path)
        except ValueError:
            return None
        path = target.path
        cost = cost_of(path)
        if cost is None:
            return None
        wait = self._work.ask(address, cost, monotonic())
        if wait > 0:
            return answers.too_much(wait)
        asker = _Asker(request, address, cost)
        accepts = ", ".join(request.headers.get_all("Accept-Encoding"))
        if (view := view_of(path)) is not None:
            return await self._view(asker, accepts, view)
        if path.startswith(("/picture/", "/film/")):
            return await self._picture(path, asker)
        if path.startswith("/web/"):
            return self._files.file(path.removeprefix("/web/"), accepts)
        if path.startswith("/api/log/"):
            match = unquote(path.removeprefix("/api/log/"))
            # The answer is never kept, for only whoever shows the token may have it.
            return await self._timed(path, asker, lambda: self._logs.answer(match, request, address))
        if path.startswith("/api/game/"):
            name = unquote(path.removeprefix("/api/game/"))
            return await self._timed(path, asker, lambda: self._boards.answer(name, target.query))
        if path.startswith("/api/advice/"):
            return await self._advisor.answer(unquote(path.removeprefix("/api/advice/")), target.query)
        if path.startswith("/api/"):
            return await self._api(path.removeprefix("/api/"), asker)
        return self._plain(path)

    async def _view(self, asker: _Asker, accepts: str, view: str) -> Answer:
        """The page at an address of a view. Where the store has no time to say what is there, it is called as in general."""
        first, found = PLAIN if view else await self._first.shown(), heads.GENERAL
        with anyio.move_on_after(min(HEAD_SECONDS, self._patience)):
            try:
                async with self._turns.turn(asker.address, asker.cost):
                    found = await self._heads.of(asker.request.path)
            except Exception as error:
                if database.complaint(error) is None and not isinstance(error, TimeoutError):
                    raise
        known = ", ".join(asker.request.headers.get_all("If-None-Match"))
        head = heads.html(found, asker.request, secure=self._secure())
        embedded = view == "embed"
        make = partial(self._files.page, accepts, known, head, first, start=not view, embedded=embedded)
        return await anyio.to_thread.run_sync(make)  # a page that is not as before is compressed anew

    async def _picture(self, path: str, asker: _Asker) -> Answer | None:
        """A picture. One at a time is drawn, so they need no turn among the questions to the store."""
        try:
            return await self._previews.answer(path, asker.address, asker.cost)
        except Exception as error:
            answer = self._complaint(path, error)
            if answer is None:
                raise
            return answer

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
        packs = takes_gzip(", ".join(asker.request.headers.get_all("Accept-Encoding")))
        try:
            given = parameters(urlsplit(asker.request.path).query)
            match what, bool(rest):
                case "about", False:
                    return answers.json(self._about)
                case "map", True:
                    return map_shown(name, packs)
                case "records", False:
                    return await ask(lambda: self._lists.records(given))
                case "record", True:
                    return await ask(lambda: self._record(name, packs, download="download" in given), packs)
                case "truth", True:
                    return await ask(lambda: self._truth(name))
                case "table", False:
                    return await ask(lambda: self._table(given.get("event", "")))
                case "search", False:
                    return await ask(lambda: self._lists.search(given))
                case "versus", False if given.keys() >= {"bot", "opponent"}:
                    return await ask(lambda: self._lists.versus(given["bot"], given["opponent"]))
                case "maps", False:
                    return await anyio.to_thread.run_sync(maps_known)
                case "event", False if "name" in given:
                    return await ask(lambda: self._event(given["name"]))
                case "bot", _ if bool(rest) != ("name" in given):
                    return await ask(lambda: self._bot(name or given["name"]))
        except Wrong as wrong:
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
                raise Wrong(f"there is no parameter {name!r:.40} here")
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
            answer = self._complaint(asked, error)
            if answer is None:
                raise
            return answer

    def _complaint(self, asked: str, error: Exception) -> Answer | None:
        """The answer where the store fails, which the log tells as well; None for any other error."""
        why = database.complaint(error)
        if why is None:
            return None
        log.error("the store does not answer %s: %s", asked, why)
        return answers.text("the store does not answer", HTTPStatus.SERVICE_UNAVAILABLE)

    async def _record(self, match: str, packs: bool, *, download: bool) -> Answer:  # noqa: FBT001  what the asker takes
        line = await self._queries.record(match) if WORD.fullmatch(match) else None
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
        line = await self._queries.record(match) if WORD.fullmatch(match) else None
        if line is None:
            return answers.not_found(f"no finished match is called {match!r:.80}")
        return answers.json(await anyio.to_thread.run_sync(truth_of, line))

    async def _table(self, event: str) -> Answer:
        if not event:
            return answers.json(await self._queries.rated())
        found = await self._queries.event(event, self._events.bots_of(event))
        return answers.json(found) if found else answers.not_found(f"no event is called {event!r:.80}")

    async def _event(self, event: str) -> Answer:
        found = await self._events.told(event)
        return answers.json(found) if found else answers.not_found(f"no event is called {event!r:.80}")

    async def _bot(self, name: str) -> Answer:
        found = await self._queries.bot(name) if len(name) <= 64 else None
        return answers.json(found) if found else answers.not_found(f"no match of {name!r:.80} is finished")

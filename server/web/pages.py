"""The answers to plain GETs on the server's own port: health, metrics, the page, and what the page asks for.

`ROUTES` has all of them, each with its price. What a question costs is taken from the budget of its address, and whoever
has none left is answered 429.
"""

from __future__ import annotations

import gzip
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from http import HTTPStatus
from time import monotonic
from typing import NamedTuple
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
from arena.server.store import database
from arena.server.store.queries import Queries
from arena.server.web import boards, heads
from arena.server.web.advice import Advisor
from arena.server.web.events import Events
from arena.server.web.first import PLAIN, FirstView
from arena.server.web.maps import map_shown, maps_known
from arena.server.web.match_lists import WORD, MatchLists
from arena.server.web.match_log import MatchLogs
from arena.server.web.pictures.previews import Previews
from arena.server.web.progress import Progress, nobody_plays
from arena.server.web.question import BadParameter, Question
from arena.server.web.static import FOREVER, StaticFiles
from arena.server.web.store_answers import StoreAnswers, complaint
from arena.server.web.truth import truth_of

PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
HEAD_SECONDS = 1.5
"""How long the page waits for what it is called at an address: it is shown without that, too."""
PATIENCE_SECONDS = 10.0
"""From a question to its being given up."""
LONGEST = 2048
"""The most characters that a path and its query may have together."""


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
        self._store = StoreAnswers(patience)
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
            path = urlsplit(request.path).path
        except ValueError:
            return None
        beginning = route_of(path)
        if beginning is None:
            return None
        route = ROUTES[beginning]
        wait = self._work.ask(address, route.cost, monotonic())
        if wait > 0:
            return answers.too_much(wait)
        question = Question(request, address, path, path.removeprefix(beginning), route.cost)
        if isinstance(route, Route):
            return await route.answer(self, question)
        try:
            if not route.takes(question.given):
                return None
            return await self._store.kept(question, partial(route.answer, self, question))
        except BadParameter as wrong:
            return answers.bad_request(str(wrong))

    async def start(self, question: Question) -> Answer:
        """The start page."""
        return await self._page(question, await self._first.shown(), start=True)

    async def view(self, question: Question) -> Answer:
        """The page at the address of another view."""
        return await self._page(question, PLAIN)

    async def embedded(self, question: Question) -> Answer:
        """The page of a match that is shown within others."""
        return await self._page(question, PLAIN, embedded=True)

    async def _page(
        self, question: Question, first: bytes, *, start: bool = False, embedded: bool = False
    ) -> Answer:
        """The page. Where the store has no time to say what is at its address, it is called as in general."""
        found = heads.GENERAL
        with anyio.move_on_after(min(HEAD_SECONDS, self._patience)):
            try:
                async with self._store.turn(question):
                    found = await self._heads.of(question.request.path)
            except Exception as error:
                if database.complaint(error) is None and not isinstance(error, TimeoutError):
                    raise
        known = ", ".join(question.request.headers.get_all("If-None-Match"))
        head = heads.html(found, question.request, secure=self._secure())
        make = partial(
            self._files.page,
            question.accepted_encodings,
            known,
            head,
            first,
            start=start,
            embedded=embedded,
        )
        return await anyio.to_thread.run_sync(make)  # a page that is not as before is compressed anew

    async def file(self, question: Question) -> Answer | None:
        """A file of the page, below /web/."""
        return self._files.file(question.rest, question.accepted_encodings)

    async def picture(self, question: Question) -> Answer | None:
        """A picture. One at a time is drawn, so they need no turn among the questions to the store."""
        try:
            return await self._previews.answer(question.path, question.address, question.cost)
        except Exception as error:
            answer = complaint(question.path, error)
            if answer is None:
                raise
            return answer

    async def health(self, _question: Question) -> Answer:
        """Whether the process is alive."""
        return answers.text("ok")

    async def readiness(self, _question: Question) -> Answer:
        """Whether matches can begin here."""
        if self._draining():
            return answers.text("draining", HTTPStatus.SERVICE_UNAVAILABLE)
        if why := self._trouble():
            return answers.text(f"not ready: {why}", HTTPStatus.SERVICE_UNAVAILABLE)
        return answers.text("ready")

    async def metrics(self, _question: Question) -> Answer:
        """The metrics, as Prometheus scrapes them."""
        return Answer(HTTPStatus.OK, PROMETHEUS, self._metrics.page())

    async def about(self, _question: Question) -> Answer:
        """The program, the digest of the page's files, whether names need tokens, the games and the shipped maps."""
        return answers.json(self._about)

    async def log(self, question: Question) -> Answer:
        """A match move by move, for its players. It is never kept, for only whoever shows the token may have it."""
        make = partial(self._logs.answer, question.name, question.request, question.address)
        return await self._store.fresh(question, make)

    async def board(self, question: Question) -> Answer:
        """A match of a game that somebody has written, position by position (server.web.boards)."""
        return await self._store.fresh(question, partial(self._boards.answer, question.name, question.query))

    async def advice(self, question: Question) -> Answer:
        """An engine's opinion of a position on a shipped map (server.web.advice)."""
        return await self._advisor.answer(question.name, question.query)

    async def map(self, question: Question) -> Answer:
        """The parts of a shipped map's picture that a setup lacks."""
        return map_shown(question.name, question.takes_gzip)

    async def maps(self, _question: Question) -> Answer:
        """All shipped maps, with what was measured on them and what is known of them."""
        return await anyio.to_thread.run_sync(maps_known)

    async def records(self, question: Question) -> Answer:
        """Finished matches, the newest first."""
        return await self._lists.records(question.given)

    async def search(self, question: Question) -> Answer:
        """The finished matches that fit."""
        return await self._lists.search(question.given)

    async def versus(self, question: Question) -> Answer:
        """The scores of a bot against another."""
        return await self._lists.versus(question.given["bot"], question.given["opponent"])

    async def record(self, question: Question) -> Answer:
        """The record of a finished match; ?download gives it as a file."""
        match = question.name
        line = await self._line(match)
        if line is None:
            return _no_match(match)
        # A record never changes: whoever has it need not ask again.
        headers = {"Cache-Control": FOREVER, "Vary": "Accept-Encoding"}
        if "download" in question.given:
            headers["Content-Disposition"] = f'attachment; filename="{match.replace(":", "-")}.jsonl"'
        body = f"{line}\n".encode()
        if question.takes_gzip:
            headers["Content-Encoding"] = "gzip"
            body = await anyio.to_thread.run_sync(partial(gzip.compress, body, 6, mtime=0))
        return answers.raw_json(body, headers)

    async def truth(self, question: Question) -> Answer:
        """The true worth of each move of a match on a solved map; null elsewhere."""
        line = await self._line(question.name)
        if line is None:
            return _no_match(question.name)
        return answers.json(await anyio.to_thread.run_sync(truth_of, line))

    async def _line(self, match: str) -> str | None:
        return await self._queries.record(match) if WORD.fullmatch(match) else None

    async def table(self, question: Question) -> Answer:
        """Ratings, cross-tables and events, or the table of one event."""
        event = question.given.get("event", "")
        if not event:
            return answers.json(await self._queries.rated())
        found = await self._queries.event(event, self._events.bots_of(event))
        return answers.json(found) if found else _no_event(event)

    async def event(self, question: Question) -> Answer:
        """The progress of an event: its plan, what is due, its sequential test."""
        event = question.given["name"]
        found = await self._events.told(event)
        return answers.json(found) if found else _no_event(event)

    async def bot(self, question: Question) -> Answer:
        """A bot, by the path or by a parameter."""
        name = question.name or question.given.get("name", "")
        found = await self._queries.bot(name) if len(name) <= 64 else None
        return answers.json(found) if found else answers.not_found(f"no match of {name!r:.80} is finished")


def _no_match(match: str) -> Answer:
    return answers.not_found(f"no finished match is called {match!r:.80}")


def _no_event(event: str) -> Answer:
    return answers.not_found(f"no event is called {event!r:.80}")


class Route(NamedTuple):
    """A path, or the beginning of one, and the page that answers there."""

    cost: int
    """Price for the asking address, in µs of `WorkBudget`.

    0: who looks after the server must always be answered, and only newcomers' turns bound how often.
    """
    answer: Callable[[Pages, Question], Awaitable[Answer | None]]


class StoreRoute(NamedTuple):
    """A question to the store, whose answer is kept for a while."""

    cost: int
    """As of a `Route`."""
    answer: Callable[[Pages, Question], Awaitable[Answer]]
    parameters: str
    """The parameters that may be given, those that must be with a `!`."""

    def takes(self, given: Mapping[str, str]) -> bool:
        """Return True if all parameters that must be given are. Raises BadParameter for an unknown one."""
        words = self.parameters.split()
        for name in given:
            if name not in words and f"{name}!" not in words:
                # A parameter without a meaning would make one question into as many as somebody likes.
                raise BadParameter(f"there is no parameter {name!r:.40} here")
        return all(word.removesuffix("!") in given for word in words if word.endswith("!"))


ROUTES: dict[str, Route | StoreRoute] = {
    "/": Route(200, Pages.start),
    "/match/": Route(3_500, Pages.view),
    "/embed/": Route(3_500, Pages.embedded),
    "/bot/": Route(3_500, Pages.view),
    "/event/": Route(3_500, Pages.view),
    "/table/": Route(3_500, Pages.view),
    "/play/": Route(2_000, Pages.view),
    "/file/": Route(200, Pages.view),
    "/maps/": Route(200, Pages.view),
    "/versus/": Route(2_000, Pages.view),
    "/search/": Route(200, Pages.view),
    "/picture/": Route(20_000, Pages.picture),
    "/film/": Route(200_000, Pages.picture),
    "/web/": Route(200, Pages.file),
    "/healthz": Route(0, Pages.health),
    "/readyz": Route(0, Pages.readiness),
    "/metrics": Route(2_000, Pages.metrics),
    "/api/about": Route(200, Pages.about),
    "/api/game/": Route(10_000, Pages.board),
    "/api/map/": Route(200, Pages.map),
    "/api/advice/": Route(250_000, Pages.advice),
    "/api/records": StoreRoute(5_000, Pages.records, "before limit bot game event"),
    "/api/record/": StoreRoute(2_000, Pages.record, "download"),
    "/api/truth/": StoreRoute(20_000, Pages.truth, ""),
    "/api/table": StoreRoute(5_000, Pages.table, "event"),
    "/api/maps": Route(2_000, Pages.maps),
    "/api/search": StoreRoute(20_000, Pages.search, "bot opponent map game event result like before limit"),
    "/api/versus": StoreRoute(5_000, Pages.versus, "bot! opponent!"),
    "/api/event": StoreRoute(5_000, Pages.event, "name!"),
    "/api/bot": StoreRoute(5_000, Pages.bot, "name!"),
    "/api/bot/": StoreRoute(5_000, Pages.bot, ""),
    "/api/log/": Route(20_000, Pages.log),
}
"""All pages, by path, or by the beginning of a path that ends in a slash. A view is also served without the slash."""


def route_of(path: str) -> str | None:
    """Return the key of a path in `ROUTES`; None where there is no such page."""
    if path in ROUTES and (path == "/" or not path.endswith("/")):
        return path
    parts = path.split("/")
    for depth in (3, 2):
        beginning = "/".join(parts[:depth]) + "/"
        if beginning in ROUTES and len(beginning) > 1:
            shown = ROUTES[beginning].answer in (Pages.view, Pages.embedded)
            if path.startswith(beginning) or shown:
                return beginning
    return None

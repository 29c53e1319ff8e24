"""Answers `GET /picture/…` and `GET /film/…`: each picture is drawn in a process of its own, one at a time, and kept.

/picture/arena.png            the page in general
/picture/match/ID.png         a match as it stands; /picture/match/ID/PLY.png after so many plies
/picture/map/NAME.png         a shipped map
/picture/bot/NAME.png         the ratings of a bot
/picture/event/NAME.png       the table of an event
/film/ID.gif                  a finished match, ply by ply

Each is drawn in a process that ends with it, or when it takes too long. It lets all others go first; there is a rest between
two of them, and addresses take turns.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable
from http import HTTPStatus
from math import inf
from urllib.parse import unquote

import anyio

from arena.maps.loader import map_names
from arena.maps.setup import DEFAULT_MAP
from arena.protocol.messages import View
from arena.server.net import answers
from arena.server.net.answers import Answer
from arena.server.net.turns import Turns
from arena.server.store.queries import Queries
from arena.server.web import wording
from arena.server.web.answer_cache import AnswerCache
from arena.server.web.pictures import jobs
from arena.server.web.pictures.jobs import DrawFilm, DrawLive, DrawMap, DrawRecord, DrawTable, Job, MatchWords

log = logging.getLogger("arena.pictures")

PATIENCE_SECONDS = 40.0
"""From a question to its being given up; the process that draws for it is then ended."""
KEPT_BYTES = 16 * 1024 * 1024
"""How many bytes the pictures that are kept have together."""
KEPT = 4096
"""How many pictures are kept at the most."""
KEPT_SECONDS = 30.0
"""For how long a picture of something that changes is given again."""
DAY = "public, max-age=86400"
"""For pictures of what never changes; a later version of the server may draw them better."""

COMMAND = (sys.executable, "-P", "-m", "arena.server.web.pictures")

_MATCH = re.compile(r"match/([A-Za-z0-9_.:-]{1,64})(?:/([0-9]{1,6}))?\.png")
_FILM = re.compile(r"([A-Za-z0-9_.:-]{1,64})\.gif")
_NAMED = re.compile(r"(map|bot|event)/(.{1,128})\.png")


class Previews:
    """The pictures of one server."""

    def __init__(
        self, queries: Queries, live: Callable[[str], View | None], *, patience: float = PATIENCE_SECONDS
    ) -> None:
        """`live` gives a match in progress as a spectator sees it; None for any other."""
        self._queries = queries
        self._live = live
        self._patience = patience
        self._turns = Turns(1)
        self._kept = AnswerCache(entries=KEPT, size_bytes=KEPT_BYTES)

    async def answer(self, path: str, address: str, cost: int) -> Answer | None:
        """The picture of a path, for an address that pays so many µs for it; None where there is no such picture."""
        path = unquote(path)
        kept = self._kept.get(path)
        if kept is not None:
            return kept
        try:
            with anyio.fail_after(self._patience):
                async with self._turns.turn(address, cost):
                    # The same may have been asked for while this one waited.
                    return self._kept.get(path) or await self._drawn(path)
        except TimeoutError:
            return answers.text("too many pictures are asked for: try again", HTTPStatus.SERVICE_UNAVAILABLE)

    async def _drawn(self, path: str) -> Answer | None:
        if path == "/picture/arena.png":
            return await self._draw(path, DrawMap(DEFAULT_MAP), lasts=True)
        if found := _FILM.fullmatch(path.removeprefix("/film/")):
            return await self._film(path, found[1])
        if found := _MATCH.fullmatch(path.removeprefix("/picture/")):
            return await self._match(path, found[1], found[2])
        if found := _NAMED.fullmatch(path.removeprefix("/picture/")):
            return await self._named(path, found[1], found[2])
        return None

    async def _film(self, path: str, match: str) -> Answer:
        line = await self._queries.record(match)
        if line is None:
            return answers.not_found(f"no finished match is called {match!r:.80}")
        return await self._draw(path, DrawFilm(line), lasts=True, kind="image/gif")

    async def _match(self, path: str, match: str, ply: str | None) -> Answer:
        at = None if ply is None else int(ply)
        view = self._live(match)
        if view is not None:
            return await self._draw(path, _live(view, at), lasts=False)
        line = await self._queries.record(match)
        if line is None:
            return answers.not_found(f"no match is called {match!r:.80}")
        return await self._draw(path, DrawRecord(line, at), lasts=True)

    async def _named(self, path: str, kind: str, name: str) -> Answer:
        if kind == "map":
            if name not in map_names():
                return answers.not_found(f"no shipped map is called {name!r:.80}")
            return await self._draw(path, DrawMap(name), lasts=True)
        table = await (self._bot(name) if kind == "bot" else self._event(name))
        if table is None:
            return answers.not_found(f"nothing is known of {name!r:.80}")
        return await self._draw(path, table, lasts=False)

    async def _bot(self, name: str) -> DrawTable | None:
        found = await self._queries.standings_of(name)
        if not found:
            return None
        best = max(each.rating for each in found)
        rows = [
            (
                wording.GAMES.get(each.game, each.game),
                f"{each.rating:.0f} ± {2 * each.deviation:.0f}",
                each.rating / max(best, 1.0),
            )
            for each in found
        ]
        return DrawTable(name, f"{sum(each.matches for each in found)} rated matches", rows)

    async def _event(self, event: str) -> DrawTable | None:
        found = await self._queries.event(event)
        if found is None:
            return None
        top = max((abs(row.elo) for row in found.rows), default=1.0) or 1.0
        rows = [
            (row.bot, f"{row.elo:+.0f} ± {row.elo_error:.0f}", (row.elo + top) / (2 * top))
            for row in found.rows
        ]
        return DrawTable(event, f"The table after {found.counted} matches", rows[: jobs.MOST_ROWS])

    async def _draw(self, path: str, job: Job, *, lasts: bool, kind: str = "image/png") -> Answer:
        """The picture of a job, drawn now and kept. `lasts`: whether what it shows never changes."""
        done = await anyio.run_process(COMMAND, input=jobs.encode(job), check=False)
        said = done.stderr.decode(errors="replace").strip()
        if done.returncode == jobs.CANNOT_DRAW:
            return answers.not_found(said)
        if done.returncode != 0:
            log.error("%s could not be drawn (exit code %d): %s", path, done.returncode, said)
            return answers.text("the picture could not be drawn", HTTPStatus.INTERNAL_SERVER_ERROR)
        headers = {"Cache-Control": DAY if lasts else "no-cache", "X-Content-Type-Options": "nosniff"}
        answer = Answer(HTTPStatus.OK, kind, done.stdout, headers)
        self._kept.put(path, answer, inf if lasts else KEPT_SECONDS)
        return answer


def _live(view: View, ply: int | None) -> DrawLive:
    about = wording.played(view.game, str(view.setup.get("map", "")), str(view.time_control))
    match = MatchWords(view.players.maxie, view.players.minnie, about, "")
    return DrawLive(match, view.game, view.setup, [each.move for each in view.moves], ply)

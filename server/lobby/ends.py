"""The ends of matches told again, from the store, to bots that were away when they were told."""

from __future__ import annotations

import logging
from collections.abc import Callable

import anyio
import anyio.abc

from arena.protocol.codes import Code
from arena.protocol.messages import End, Error
from arena.protocol.record import Record, from_line
from arena.protocol.values import Clocks
from arena.server.lobby.lobby import Lobby
from arena.server.net.metrics import Metrics
from arena.server.rooms.member import BotConnection
from arena.server.store.database import complaint
from arena.server.store.queries import Queries

log = logging.getLogger("arena.ends")

AGAIN_SECONDS = 0.5
"""From one look for the record of a match in progress to the next."""
SECONDS = 10.0
"""How long the end of a match may take to get into the store, and out of it."""


class Ends:
    """Tells bots of the ends that they missed, in tasks of its own."""

    def __init__(
        self,
        lobby: Lobby,
        queries: Queries,
        is_in_progress: Callable[[str], bool],
        metrics: Metrics,
        tasks: anyio.abc.TaskGroup,
    ) -> None:
        """`is_in_progress`: says whether a match is in progress, or its record not in the store yet."""
        self._lobby = lobby
        self._queries = queries
        self._is_in_progress = is_in_progress
        self._metrics = metrics
        self._tasks = tasks
        self._newest: dict[tuple[BotConnection, str], object] = {}
        """The newest question of a bot after each match, while it is to be answered."""

    def tell(self, connection: BotConnection, name: str, match: str) -> None:
        """Tell a bot the end of a match as soon as the store has it; `no_such_match` where it is none of its own."""
        self._tasks.start_soon(self._tell, connection, name, match)

    async def _tell(self, connection: BotConnection, name: str, match: str) -> None:
        asked, question, record = (connection, match), object(), None
        self._newest[asked] = question
        try:
            line = await self._line(name, match)
            while line is None and await self._plays(name, match):
                # On a server of an arena that does not know of it yet, or that waits for another to take it over.
                if self._newest.get(asked) is not question or self._is_told(connection, name, match):
                    return
                await anyio.sleep(AGAIN_SECONDS)
                line = await self._line(name, match)
            if line is None:
                line = await self._line(name, match)  # it may have ended between the two questions
            record = None if line is None else from_line(line)
        except TimeoutError:
            log.warning("the store took too long for the end of match %s", match, extra={"bot": name})
        except Exception as error:
            why = complaint(error)
            if why is None:
                raise
            log.warning("no end of match %s: %s", match, why, extra={"bot": name})
        finally:
            if self._newest.get(asked) is question:
                del self._newest[asked]
        if record is None or name not in (record.players.maxie, record.players.minnie):
            detail = f"{match!r:.70} is over, or not yours, or does not exist"
            self._metrics.rejections.labels(Code.NO_SUCH_MATCH.value).inc()
            connection.tell(Error(Code.NO_SUCH_MATCH, detail, match))
        else:
            connection.tell(end_of(record))

    async def _line(self, name: str, match: str) -> str | None:
        """The record of a match that is over, as soon as the store has it; None for one that the bot is in, or that is none."""
        with anyio.fail_after(SECONDS):
            while self._is_in_progress(match) and not self._is_in(name, match):
                await self._lobby.wait_change()
            return await self._queries.record(match)

    def _is_in(self, name: str, match: str) -> bool:
        member = self._lobby.find(name)
        return member is not None and match in member.matches

    async def _plays(self, name: str, match: str) -> bool:
        """Whether a match is not over, as far as the store knows, and the bot plays it."""
        with anyio.fail_after(SECONDS):
            players = await self._queries.playing(match)
        return players is not None and name in (players.maxie, players.minnie)

    def _is_told(self, connection: BotConnection, name: str, match: str) -> bool:
        """Whether whoever has the room has told the bot of its match, and tells of its end too; or it has gone."""
        member = self._lobby.find(name)
        if member is None or member.connection is not connection:
            return True
        place = member.matches.get(match)
        return place is not None and place[0].introduced(place[1])


def end_of(record: Record) -> End:
    """The end of a match as its record tells it. What both clocks had left is not kept, and told as 0."""
    result = record.result
    return End(
        match=record.match,
        winner=result.winner,
        reason=result.reason,
        detail=result.detail,
        moves=[each.move for each in record.moves],
        clocks=Clocks(0, 0),
    )

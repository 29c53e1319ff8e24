"""Lists of finished matches that are asked for by parameters: `/api/records`, `/api/search` and `/api/versus`.

What cannot be what somebody meant is refused in one line.
"""

from __future__ import annotations

import re

from arena.games.catalogue import KNOWN
from arena.protocol.codes import EndReason
from arena.server.net import answers
from arena.server.net.answers import Answer
from arena.server.store.finished import Place
from arena.server.store.queries import MOST_LISTED, Queries
from arena.server.store.search.searching import DRAWN, LOST, WON, Wanted
from arena.server.web.question import BadParameter

SEEN_BY_NOBODY = ("maxie", "minnie", DRAWN)
SEEN_BY_BOT = (WON, LOST, *SEEN_BY_NOBODY)
"""Results that may be searched for, beside reasons, without a bot and with one."""
_REASONS = {each.value for each in EndReason}

WORD = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
"""What the id of a match is made of."""
_TIME = re.compile(r"[0-9TZ:.+-]{1,32}")


class MatchLists:
    """Answers with finished matches of one store."""

    def __init__(self, queries: Queries) -> None:
        self._queries = queries

    async def records(self, given: dict[str, str]) -> Answer:
        """The newest matches: of a bot, of a game, or of an event. Raises BadParameter."""
        limit, before = _limit(given), _before(given)
        game = given.get("game", "")
        if game and not KNOWN.knows(game):
            raise BadParameter(f"there is no game {game!r:.40}")
        event = given.get("event", "")
        if event:
            if given.get("bot") or game:
                raise BadParameter("event goes with no bot and no game: /api/search takes them together")
            return answers.json(await self._queries.matches_of(event, before, limit))
        return answers.json(await self._queries.match_list(before, limit, given.get("bot", ""), game))

    async def search(self, given: dict[str, str]) -> Answer:
        """The newest matches that fit all that is given. Raises BadParameter."""
        limit, before, result = _limit(given), _before(given), given.get("result", "")
        if given.get("opponent") and not given.get("bot"):
            raise BadParameter("an opponent is that of a bot: say bot, too")
        results = SEEN_BY_BOT if given.get("bot") else SEEN_BY_NOBODY
        if result and result not in results and result not in _REASONS:
            raise BadParameter(f"result must be {', '.join(results)} or a reason, not {result!r:.40}")
        opening = ""
        if given.get("like"):
            found = await self._queries.opening_of(given["like"]) if WORD.fullmatch(given["like"]) else None
            if found is None:
                return answers.not_found(f"no finished match {given['like']!r:.80} has an opening")
            opening = found
        words = {name: given.get(name, "") for name in ("bot", "opponent", "map", "game", "event")}
        wanted = Wanted(opening=opening, result=result, **words)
        return answers.json(await self._queries.search(wanted, before, limit))

    async def versus(self, bot: str, opponent: str) -> Answer:
        """What a bot has scored against another, by game."""
        return answers.json(await self._queries.scores(bot, opponent))


def _limit(given: dict[str, str]) -> int:
    limit = given.get("limit", "20")
    if not limit.isascii() or not limit.isdecimal() or not 1 <= int(limit[:6]) <= MOST_LISTED:
        raise BadParameter(f"limit must be 1 to {MOST_LISTED}")
    return int(limit)


def _before(given: dict[str, str]) -> Place | None:
    if not given.get("before"):
        return None
    time, _, match = given["before"].partition("|")
    if not _TIME.fullmatch(time) or not WORD.fullmatch(match):
        raise BadParameter("before must be the `next` of an earlier answer")
    return time, match

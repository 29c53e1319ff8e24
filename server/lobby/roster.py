"""The house bots as the lobby and the arranger see them: who they are, and what is asked of them.

What the roster is told waits here until `server.lobby.house` takes it, so that the lobby and the arranger
need not know of the processes in which house bots run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

import anyio
from msgspec.structs import replace

from arena.protocol.messages import Present
from arena.server.lobby.matchmaking.outcome import Outcome
from arena.server.store.tokens import is_name

PREFIX = "house-"
"""Stands before the engine's name in the name of a house bot: `arena bot greedy` must find its own name free."""
DEFAULT = "greedy,alphabeta:depth=6"
"""An engine that beginners beat, and one that they do not; both answer at once and leave the cores to others."""
NONE = "none"
"""The list of engines of a server without house bots."""
MATCHES = 4
"""Matches that one house bot plays at once."""


class BadHouse(ValueError):
    """A list of house bots that cannot be understood, or a house bot that cannot be started; one line."""


@dataclass(frozen=True)
class HouseBot:
    """A house bot: its name, and the engine that it runs."""

    name: str
    engine: str


def house_bots(text: str) -> list[HouseBot]:
    """The house bots of a list of engines, as in `greedy,alphabeta:depth=6,exact=yes`. Raises BadHouse."""
    if text.strip() == NONE:
        return []
    engines: list[str] = []
    for part in text.split(","):
        # Commas divide the engines, and also the options of one engine.
        if engines and ":" in engines[-1] and "=" in part and ":" not in part:
            engines[-1] += f",{part.strip()}"
        else:
            engines.append(part.strip())
    bots: list[HouseBot] = []
    for engine in engines:
        name = PREFIX + PurePath(engine.partition(":")[0]).stem
        twins = sum(each.name == name or each.name.startswith(f"{name}-") for each in bots)
        name = f"{name}-{twins + 1}" if twins else name
        if not engine or not is_name(name):
            raise BadHouse(f"{text!r:.80} is no list of engines: write greedy,alphabeta:depth=6, or {NONE}")
        bots.append(HouseBot(name, engine))
    return bots


class HouseRoster:
    """The house bots that can be challenged, what is asked of them, and how their matches ended."""

    def __init__(self, bots: Sequence[HouseBot] = ()) -> None:
        self._listed = {bot.name: Present(bot.name, bot.engine, 0, MATCHES, house=True) for bot in bots}
        self._asked: list[str] = []
        self._finished: list[Outcome] = []
        self._news: anyio.Event | None = None
        """Set when something is asked or finished; None while nobody waits for it."""

    def __contains__(self, name: object) -> bool:
        return name in self._listed

    @property
    def names(self) -> list[str]:
        """The names of the house bots that can be challenged, in the order in which the host gave them."""
        return list(self._listed)

    def present(self, connected: Mapping[str, Present]) -> list[Present]:
        """The house bots as a listing shows them; `connected` says more of those that are connected."""
        return [replace(connected.get(name, idle), house=True) for name, idle in self._listed.items()]

    def ask(self, name: str) -> None:
        """Ask that a house bot be started, because it was challenged; nothing happens where it runs already."""
        self._asked.append(name)
        self._tell()

    def finished(self, outcome: Outcome) -> None:
        """Take note of a match that is over, if a house bot played in it."""
        if outcome.players.maxie in self or outcome.players.minnie in self:
            self._finished.append(outcome)
            self._tell()

    def remove(self, name: str) -> bool:
        """List a house bot no more, because it cannot be started; False where it was not listed."""
        return self._listed.pop(name, None) is not None

    async def news(self) -> tuple[list[str], list[Outcome]]:
        """Wait for the house bots that are asked to start, or for finished matches; each is given once."""
        while not self._asked and not self._finished:
            self._news = anyio.Event()
            await self._news.wait()
        asked, self._asked = self._asked, []
        finished, self._finished = self._finished, []
        return asked, finished

    def _tell(self) -> None:
        if self._news is not None:
            self._news.set()

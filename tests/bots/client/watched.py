"""A client that plays against scripts, and what it told."""

from collections.abc import Callable
from typing import Any

import anyio

from arena.bots.api.bot import Bot, Clock
from arena.bots.client.client import Client
from arena.bots.client.settings import ClientSettings
from arena.bots.client.status import format_result
from arena.protocol.codes import Code
from arena.protocol.messages import Error
from tests.bots.scripted import Script, scripted

STOP = Error(Code.EVENT_OVER, "the event is over", fatal=True)


class First(Bot):
    """The leftmost move."""

    def choose(self, position: Any, clock: Clock) -> Any:
        return self.game.moves(position)[0]


class Watched:
    """A client and what it told."""

    def __init__(self, make: type[Bot], url: str, **options: Any) -> None:
        self.finished: list[str] = []
        self.complaints: list[str] = []
        self.told: list[str] = []
        self.client = Client(
            make,
            ClientSettings(url, "me", **options),
            on_status=self.told.append,
            on_finished=lambda match, ending: self.finished.append(format_result(match, ending)),
            on_problem=self._complain,
        )
        self.on_complaint: Callable[[], None] = lambda: None

    def _complain(self, text: str) -> None:
        self.complaints.append(text)
        self.on_complaint()


async def run_client(make: type[Bot], *scripts: Script, **options: Any) -> Watched:
    """Run a client against the scripts until the last one stops it."""
    async with scripted(*scripts) as stage:
        watched = Watched(make, stage.url, **options)
        with anyio.fail_after(500):
            await watched.client.run()
    return watched

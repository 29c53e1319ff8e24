"""Client under test, with everything that it has reported to its owner."""

from collections.abc import Callable
from typing import Any

import anyio

from arena.bots.api.bot import Bot, Clock
from arena.bots.client.client import Client
from arena.bots.client.settings import ClientSettings
from arena.bots.client.status import format_match_result
from arena.protocol.codes import ErrorCode
from arena.protocol.messages import Error
from tests.bots.scripted_server import Script, serve_scripts

STOP = Error(ErrorCode.EVENT_OVER, "the event is over", fatal=True)


class First(Bot):
    """Bot that plays the leftmost move."""

    def choose(self, position: Any, clock: Clock) -> Any:
        return self.game.moves(position)[0]


class ObservedClient:
    """Client with its reports: finished matches, problems and status lines."""

    def __init__(self, make: type[Bot], url: str, **options: Any) -> None:
        self.finished: list[str] = []
        self.problems: list[str] = []
        self.status_lines: list[str] = []
        self.client = Client(
            make,
            ClientSettings(url, "me", **options),
            on_status=self.status_lines.append,
            on_finished=lambda match, ending: self.finished.append(format_match_result(match, ending)),
            on_problem=self._add_problem,
        )
        self.on_new_problem: Callable[[], None] = lambda: None

    def _add_problem(self, text: str) -> None:
        self.problems.append(text)
        self.on_new_problem()


async def run_client(make: type[Bot], *scripts: Script, **options: Any) -> ObservedClient:
    """Run a client against a server with these scripts, until the last script stops the client."""
    async with serve_scripts(*scripts) as server:
        observed = ObservedClient(make, server.url, **options)
        with anyio.fail_after(500):
            await observed.client.run()
    return observed

"""What the runner asks of the bots of an event, whether they are started here or dial in."""

from __future__ import annotations

from typing import Protocol


class BotRefused(Exception):
    """A bot was started wrongly (an unknown engine, no such file): its own line says how."""


class Bots(Protocol):
    """The bots of an event: `ladder.fleet.Fleet` starts them here, `ladder.dial_in.DialInBots` dial in."""

    def take(self, bot: str) -> str | None:
        """The name under which the bot is connected and free, now taken; None if it is not."""

    def release(self, name: str) -> None:
        """Give back a name that was taken and not used."""

    def give_back(self, bot: str, name: str, *, answered: bool | None, gave_up: str = "") -> None:
        """The match is over. `answered`: whether it made a move; None where that says nothing of it. `gave_up`: `resigned` or `crashed`."""

    def asks(self, bot: str) -> int:
        """How many threads the bot says that it searches with in a match; 0 where it has not said."""

    def lost(self, bot: str) -> bool:
        """Whether the bot will never play again."""

    async def changed(self) -> None:
        """Wait until a bot has become free, come up, come back, or been lost."""

    def check(self) -> None:
        """Raises BotRefused when a bot was started wrongly: then a ladder makes no sense."""

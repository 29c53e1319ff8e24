"""Interface of an event's bots for the runner, whether they are started on this machine or connect by themselves."""

from __future__ import annotations

from typing import Protocol


class BotRefused(Exception):
    """Raised when a bot cannot be started, as with an unknown engine or a missing file; the message is the bot's own."""


class Bots(Protocol):
    """The bots of an event. `ladder.bot_processes.BotProcesses` starts them here; `ladder.external_bots.ExternalBots`
    connect by themselves.
    """

    def reserve(self, bot: str) -> str | None:
        """Reserve the bot and return the name of its connection, or None if it is not connected and free."""

    def release(self, name: str) -> None:
        """Release a reserved connection that was not used."""

    def finish_match(self, bot: str, name: str, *, answered: bool | None, gave_up: str = "") -> None:
        """Release the connection after a match.

        answered  True if the bot made a move; None if it had no chance to
        gave_up   `resigned` or `crashed`, or empty
        """

    def announced_threads(self, bot: str) -> int:
        """Return the number of search threads that the bot announced for a match; 0 if none."""

    def is_lost(self, bot: str) -> bool:
        """Return True if the bot will never play again."""

    async def wait_changed(self) -> None:
        """Wait until a bot becomes free, connects, returns, or is lost."""

    def check(self) -> None:
        """Raise BotRefused if a bot could not be started, so that the event ends."""

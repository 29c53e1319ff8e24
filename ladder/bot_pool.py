"""Interface through which the runner of an event (tournament) gets free bots for its matches."""

from __future__ import annotations

from typing import Protocol


class BotNotStarted(Exception):
    """Raised when a bot cannot be started, for example because its engine is unknown. The message is one line."""


class BotConnectionPool(Protocol):
    """Bots of an event (tournament), as the runner of the event uses them.

    The bots are processes on this machine (`ladder.bot_processes.BotProcesses`), or connect by themselves
    (`ladder.external_bots.ExternalBots`).
    """

    def reserve_connection(self, bot: str) -> str | None:
        """Reserve a free connection of the bot, and return the connection's name, such as `greedy#2`; None if none is free."""

    def release_connection(self, connection_name: str) -> None:
        """Release a reserved connection without a match. `connection_name` is the name that `reserve_connection` returned."""

    def finish_match(
        self, bot: str, connection_name: str, *, made_move: bool | None, loss_cause: str = ""
    ) -> None:
        """Release the bot's connection after a match.

        connection_name  name that `reserve_connection` returned
        made_move        True if the bot made a move after the opening. False if the bot made no move, and lost on time or by
                         not getting ready. None if the match ended in another way before the bot's first move.
        loss_cause        `resigned` or `crashed` if the bot lost the match in this way; otherwise empty
        """

    def get_reported_thread_count(self, bot: str) -> int:
        """Return the number of search threads that the bot reported to the server; 0 if it reported none."""

    def has_dropped_out(self, bot: str) -> bool:
        """Return True if the bot plays no more matches in this event."""

    async def wait_for_bot_change(self) -> None:
        """Wait until a bot becomes free, connects, reconnects, or drops out."""

    def raise_if_bot_not_started(self) -> None:
        """Raise BotNotStarted if a bot cannot be started. The error ends the event."""

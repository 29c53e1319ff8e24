"""What a bot is: a class with one method, `choose(position, clock) -> move`.

    from arena.bots.api.bot import Bot

    class First(Bot):
        def choose(self, position, clock):
            return self.game.moves(position)[0]

Positions are immutable values; `self.game` knows what can be done with them:

    self.game.moves(position)          the legal moves in move order
    self.game.play(position, move)     the position after a move
    self.game.outcome(position)        how it is over, or None
    self.game.estimate(position)       a plain estimate, high when good for Maxie
    self.game.picture(position)        a drawing in lines of text

One instance plays one match. All its methods run in one thread of their own, one after another, so
a bot may take its time: the connection goes on answering meanwhile.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from threading import Event
from typing import Any, ClassVar

from arena.bots.api.clock import Clock
from arena.bots.api.match import Ending, Match
from arena.bots.api.thinking import Thinking
from arena.games.core import Game, Player

__all__ = ["Bot", "Clock", "Crash", "Ending", "Match", "Resign", "Thinking"]


class Resign(Exception):
    """Raise this in any method to give the match up; its text tells the bot's owner why, in one line."""


class Crash(Exception):
    """Raise this where what chooses the moves has failed, as a program that a bot runs: one line for its owner.

    The match is lost as by any other exception, but without a traceback.
    """


class Bot(ABC):
    """A player of one match. Write `choose`; the other methods are hooks that may be left alone.

    An exception from any method ends the match: `Resign` resigns it, with a line; any other is a crash, told with its
    traceback, and counted as one.
    """

    match: Match
    """The match, set before `prepare`."""
    thinking: Thinking | None = None
    """Set this in `choose` to have it kept with the move; it is cleared before each turn."""
    program: ClassVar[str] = ""
    """What runs behind the name, for people, as in `my-bot 1.2`."""

    _stop: Event | None = None

    @property
    def game(self) -> Game[Any, Any]:
        """The rules on this match's setup."""
        return self.match.game

    @property
    def seat(self) -> Player:
        """Which player this bot is: Maxie likes high values, Minnie low ones."""
        return self.match.seat

    @property
    def threads(self) -> int:
        """How many threads it may search with."""
        return self.match.threads

    @property
    def stopped(self) -> bool:
        """True when nobody waits for the move any more: a long search should look at this and return."""
        return self._stop is not None and self._stop.is_set()

    def prepare(self) -> None:  # noqa: B027 - a hook that may be left alone
        """Load and compile what the match needs. No clock runs before this has returned."""

    @abstractmethod
    def choose(self, position: Any, clock: Clock) -> Any:
        """The move to play in `position`, one of `self.game.moves(position)`."""

    def opponent_moved(self, move: Any, position: Any) -> None:  # noqa: B027
        """The opponent has played `move`, which led to `position`; `choose` comes next, on the clock."""

    def ended(self, ending: Ending) -> None:  # noqa: B027
        """The match is over. Only `close` is called after this."""

    def close(self) -> None:  # noqa: B027
        """The last call in any case, also after an exception and without an end: let go of what is open."""


def begin(bot: Bot, match: Match, stop: Event | None = None) -> None:
    """Seat a bot at a match, as whoever runs it does before `prepare`; `stop` is as for `ask`."""
    bot.match = match
    bot._stop = stop  # noqa: SLF001 - the other half of Bot.stopped, kept out of an author's sight


def ask(bot: Bot, position: Any, clock: Clock, stop: Event) -> Any:
    """Have a bot choose: clears its thinking, and lets `stop` tell it that nobody waits any more."""
    bot.thinking = None
    bot._stop = stop  # noqa: SLF001 - the other half of Bot.stopped
    return bot.choose(position, clock)

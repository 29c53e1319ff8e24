"""A match as spectators see it.

A player's opponent may watch the match on a second connection. So what a player said of a move is hidden from
spectators until the opponent has answered that move: before, it would tell the opponent which answer is expected.
"""

from __future__ import annotations

from collections.abc import Iterator

from arena.match.referee import SEATS, Referee
from arena.match.terms import Terms
from arena.protocol.messages import LiveMatch, Played, Thought, Update, View
from arena.server.core.settings import AnalysisVisibility


def first_hidden(visibility: AnalysisVisibility, ply: int, *, over: bool) -> int:
    """Return the first ply whose analysis is hidden, in a match whose next ply is `ply`."""
    if over:
        return ply
    return max(0, ply - 1) if visibility == "reply" else 0


class PublicView:
    """The public view of one match."""

    def __init__(self, terms: Terms, referee: Referee, visibility: AnalysisVisibility) -> None:
        self._terms = terms
        self._referee = referee
        self._visibility = visibility
        self._map = str(terms.game.setup().get("map", ""))

    def moved(self, now: int) -> Iterator[Update | Thought]:
        """Yield the messages that tell of the last move."""
        ply = self._referee.ply - 1
        move = self._referee.moves[ply]
        yield Update(self._terms.match, ply, Played(move.move, move.ms), self._referee.clocks(now))
        yield from self._thoughts(self._hidden(ply), self._hidden(ply + 1))

    def ended(self) -> Iterator[Thought]:
        """Yield the analysis that was hidden until the match was over."""
        ply = self._referee.ply
        yield from self._thoughts(self._hidden(ply), ply)

    def _hidden(self, ply: int) -> int:
        return first_hidden(self._visibility, ply, over=False)

    def _thoughts(self, first: int, until: int) -> Iterator[Thought]:
        for ply in range(first, until):
            thinking = self._referee.moves[ply].thinking
            if thinking is not None:
                yield Thought(self._terms.match, ply, thinking)

    def listed(self) -> LiveMatch:
        """Return the match as a listing shows it."""
        terms = self._terms
        return LiveMatch(
            terms.match,
            terms.event,
            terms.game.name,
            terms.players,
            terms.time_control,
            self._referee.ply,
            terms.rated,
            self._map,
        )

    def view(self, now: int) -> View:
        """Return the whole match so far."""
        terms, mover = self._terms, self._referee.mover_now
        hidden = first_hidden(self._visibility, self._referee.ply, over=self._referee.over)
        return View(
            match=terms.match,
            event=terms.event,
            game=terms.game.name,
            setup=terms.game.setup(),
            players=terms.players,
            time_control=terms.time_control,
            moves=[
                Played(each.move, each.ms, each.thinking if ply < hidden else None)
                for ply, each in enumerate(self._referee.moves)
            ],
            clocks=self._referee.clocks(now),
            mover=SEATS[mover] if mover else None,
            engines=terms.engines,
            time_odds=terms.told_odds,
        )

"""What of a match is shown to whoever does not play it: to spectators, in listings, and as a record."""

from __future__ import annotations

import asyncio
from time import monotonic_ns

from arena.match.referee import SEATS, Referee
from arena.match.terms import Terms
from arena.protocol.codes import EndReason
from arena.protocol.messages import Accepted, End, LiveMatch, Played, Thought, Update, View
from arena.protocol.record import Record, Result
from arena.server.rooms.disclosure import Disclosure, first_secret
from arena.server.rooms.spectators import Spectators


class Shown:
    """One match, as others see it."""

    def __init__(self, terms: Terms, referee: Referee, started: str, disclosure: Disclosure) -> None:
        """`disclosure`: when spectators are told what the players said of their moves."""
        self._terms = terms
        self._map = str(terms.game.setup().get("map", ""))
        self._referee = referee
        self._started = started
        self._disclosure = disclosure
        self.spectators = Spectators(self.view, asyncio.get_running_loop().call_later)

    def accepted(self, accepted: Accepted) -> None:
        """Show a move to the spectators that is acknowledged for the first time, and what may be known since."""
        ply = accepted.ply
        if not self.spectators or ply != self._referee.ply - 1:
            return
        move, clocks = self._referee.moves[ply], self._referee.clocks(monotonic_ns())
        self.spectators.show(Update(self._terms.match, ply, Played(move.move, move.ms), clocks))
        self._show_thoughts(self._first_secret(ply), self._first_secret(ply + 1))

    def last(self) -> None:
        """Show what may be known now that the match is over, and its end."""
        self._show_thoughts(self._first_secret(self._referee.ply), self._first_secret())
        self.spectators.close(self.end)

    def _show_thoughts(self, first: int, until: int) -> None:
        """Show the spectators what the players said of their moves from one ply to before another."""
        for ply in range(first, until):
            thinking = self._referee.moves[ply].thinking
            if thinking is not None:
                self.spectators.show(Thought(self._terms.match, ply, thinking))

    def _first_secret(self, ply: int | None = None) -> int:
        """The ply from which on thinking is not told now; or was not, when this ply was to be played next."""
        if ply is not None:
            return first_secret(self._disclosure, ply, over=False)
        return first_secret(self._disclosure, self._referee.ply, over=self._referee.over)

    def listed(self) -> LiveMatch:
        """The match as a listing shows it."""
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

    def view(self) -> View:
        """The whole match so far, for a spectator."""
        terms, mover, secret = self._terms, self._referee.mover_now, self._first_secret()
        return View(
            match=terms.match,
            event=terms.event,
            game=terms.game.name,
            setup=terms.game.setup(),
            players=terms.players,
            time_control=terms.time_control,
            moves=[
                Played(each.move, each.ms, each.thinking if ply < secret else None)
                for ply, each in enumerate(self._referee.moves)
            ],
            clocks=self._referee.clocks(monotonic_ns()),
            mover=SEATS[mover] if mover else None,
            engines=terms.engines,
            time_odds=terms.told_odds,
        )

    def end(self) -> End:
        """The end of the match as it is told; of a match that is not over, that the server stopped."""
        record = self.record()
        return End(
            match=record.match,
            winner=record.result.winner,
            reason=record.result.reason,
            detail=record.result.detail,
            moves=[each.move for each in record.moves],
            clocks=self._referee.clocks(monotonic_ns()),
        )

    def record(self) -> Record:
        """The match as it stands; its result is a server fault when it is not over."""
        ended = self._referee.result
        result = Result(None, EndReason.SERVER_FAULT, "the server stopped")
        if ended is not None:
            result = Result(SEATS[ended.winner] if ended.winner else None, ended.reason, ended.detail)
        return self._terms.record(self._started, self._referee.moves, result)

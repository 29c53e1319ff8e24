"""A match as spectators see it.

A player's opponent may watch the match on a second connection. A player's analysis of a move is therefore hidden from
spectators until the opponent has replied: before that, it would reveal the expected reply.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import UNSET

from arena.match.clock import NS_PER_MS
from arena.match.referee import SEAT_BY_PLAYER, Referee
from arena.match.terms import MatchTerms
from arena.protocol.messages import ConnectionStatus, LiveMatch, Played, Thought, Update, View
from arena.protocol.values import Seat
from arena.server.core.settings import AnalysisVisibility


def find_first_hidden_ply(visibility: AnalysisVisibility, ply: int) -> int:
    """Return the first ply whose analysis is hidden from spectators while the match goes on.

    visibility  time at which spectators get the analysis of a move: after the reply, or after the match
    ply         next ply of the match, which is the number of moves so far
    """
    return max(0, ply - 1) if visibility == "reply" else 0


class PublicMatchView:
    """Spectators' view of one match. It hides the analysis of a move until the reply, or until the end of the match."""

    def __init__(self, terms: MatchTerms, referee: Referee, visibility: AnalysisVisibility) -> None:
        self._terms = terms
        self._referee = referee
        self._visibility = visibility
        self._map = str(terms.game.setup().get("map", ""))

    def make_messages_after_move(self, now_ns: int) -> Iterator[Update | Thought]:
        """Yield an `update` with the latest move, and a `thought` for each analysis that this move makes public."""
        ply = self._referee.ply - 1
        move = self._referee.moves[ply]
        yield Update(self._terms.match, ply, Played(move.move, move.ms), self._referee.get_clocks(now_ns))
        first_hidden_before, first_hidden = (
            find_first_hidden_ply(self._visibility, number) for number in (ply, ply + 1)
        )
        yield from self._list_thoughts(first_hidden_before, first_hidden)

    def make_connection_status(self, now_ns: int) -> ConnectionStatus:
        """Return the message that says which players are absent, and for how many ms the match still waits for each."""
        return ConnectionStatus(self._terms.match, self._compute_wait_left_ms_by_seat(now_ns))

    def _compute_wait_left_ms_by_seat(self, now_ns: int) -> dict[Seat, int]:
        grace_ms = self._terms.grace_ms
        return {
            SEAT_BY_PLAYER[player]: max(0, grace_ms - (now_ns - disconnected_at) // NS_PER_MS)
            for player, disconnected_at in self._referee.disconnection_times_ns.items()
        }

    def reveal_hidden_thoughts(self) -> Iterator[Thought]:
        """Yield a `thought` message for each analysis that was hidden until the match ended."""
        ply = self._referee.ply
        yield from self._list_thoughts(find_first_hidden_ply(self._visibility, ply), ply)

    def _list_thoughts(self, first_ply: int, end_ply: int) -> Iterator[Thought]:
        for ply in range(first_ply, end_ply):
            thinking = self._referee.moves[ply].thinking
            if thinking is not None:
                yield Thought(self._terms.match, ply, thinking)

    def make_lobby_listing_entry(self) -> LiveMatch:
        """Return the match's entry in the `listing` message, the overview for clients that browse."""
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

    def make_view_message(self, now_ns: int) -> View:
        """Return the whole match so far, as a `view` message for spectators."""
        terms, mover, ply = self._terms, self._referee.mover_if_playing, self._referee.ply
        first_hidden = ply if self._referee.is_over else find_first_hidden_ply(self._visibility, ply)
        return View(
            match=terms.match,
            event=terms.event,
            game=terms.game.name,
            setup=terms.game.setup(),
            players=terms.players,
            time_control=terms.time_control,
            moves=[
                Played(move.move, move.ms, move.thinking if ply < first_hidden else None)
                for ply, move in enumerate(self._referee.moves)
            ],
            clocks=self._referee.get_clocks(now_ns),
            mover=SEAT_BY_PLAYER[mover] if mover else None,
            engines=terms.engines,
            time_odds=terms.time_odds_or_unset,
            absent=self._compute_wait_left_ms_by_seat(now_ns) or UNSET,
        )

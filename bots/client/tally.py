"""What came of a client's matches, in figures and in lines."""

from __future__ import annotations

from dataclasses import dataclass

from arena.bots.api.match import Ending, Match, Standing


@dataclass
class Tally:
    """The matches of this client so far. `void` ones count for nobody."""

    won: int = 0
    drawn: int = 0
    lost: int = 0
    void: int = 0

    def add(self, standing: Standing) -> None:
        """Count one match more."""
        setattr(self, standing, getattr(self, standing) + 1)

    def __str__(self) -> str:
        void = f", {self.void} void" if self.void else ""
        return f"{self.won} won, {self.drawn} drawn, {self.lost} lost{void}"

    @property
    def matches(self) -> int:
        """How many matches are over."""
        return self.won + self.drawn + self.lost + self.void


def finished_line(match: Match, ending: Ending) -> str:
    """What is told of a finished match, as one line."""
    game = f"{match.game.name} as {match.seat} against {match.opponent}"
    return f"match {match.id:.8}: {game}: {ending.standing(match.seat)} ({ending})"

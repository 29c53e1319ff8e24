"""Progress of an event (tournament or ladder) that this server plays, for the web page.

All other data on events come from the store."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct, field

from arena.rating.pairing import Pairing


class SprtProgress(Struct, frozen=True):
    """State of a sequential test (SPRT) of two hypotheses about the strength of a bot against another."""

    elo0: float
    """Elo difference according to the hypothesis H0."""
    elo1: float
    """Elo difference according to the hypothesis H1."""
    elo_model: str = field(name="model")
    """Scale of the two Elo differences: `logistic` or `normalized`."""
    llr: float
    """Log-likelihood ratio of H1 to H0 so far."""
    lower_llr_bound: float = field(name="lower")
    """Bound of `llr` at which the test accepts H0."""
    upper_llr_bound: float = field(name="upper")
    """Bound of `llr` at which the test accepts H1."""
    test_state: str = field(name="verdict")
    """Accepted hypothesis, `H0` or `H1`; `open` while the test goes on."""
    pair_count: int = field(name="pairs")
    """Number of complete pairs of matches that the test has counted."""


class UnplayedMatch(Struct, frozen=True):
    """Match of a tournament or ladder that is still to be played."""

    maxie: str
    minnie: str
    map: str
    """Name of the map; empty if the game has no maps."""
    round_number: int = field(name="round")
    """Number of the round, from 1."""

    @classmethod
    def from_pairing(cls, pairing: Pairing, maps: Sequence[str]) -> UnplayedMatch:
        """Return the match of a pairing. `maps` are the event's maps; empty if the game has none."""
        map = maps[pairing.pair.start_position_index] if maps else ""
        return cls(pairing.maxie, pairing.minnie, map, pairing.pair.round + 1)


class EventProgress(Struct, frozen=True):
    """Event (tournament or ladder) in progress: its settings, its next matches, and any sequential test (SPRT)."""

    event: str
    event_kind: str = field(name="kind")
    """Command that plays the event, `ladder` or `match`; `event` for an event (tournament) that a server plays."""
    game: str
    map_names: list[str] = field(name="maps")
    format_name: str = field(name="format")
    round_count: int | None = field(name="rounds")
    """Number of rounds; None for an endless event."""
    time_control: str
    program_by_bot: dict[str, str] = field(name="bots")
    """Description of each bot's program, by the bot's name; empty for a bot that connects by itself."""
    played_match_count: int = field(name="played")
    """Number of matches played so far."""
    total_match_count: int | None = field(name="matches")
    """Total number of matches; None for an endless event, or if the number is not known."""
    unplayed_matches: list[UnplayedMatch] = field(name="due")
    """Next match of each pair of bots, in the order of the schedule. In a large event, only the first of these are listed.

    For an event that was announced on a server (`arena event`), the list includes matches in progress.
    """
    sprt: SprtProgress | None = None


FindEventProgress = Callable[[str], EventProgress | None]
"""Function that returns the progress of a tournament or ladder, given its name; None if this server does not play it."""

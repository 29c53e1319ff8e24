"""Stored state of an event (a tournament): its plan, its entries and its progress. Plain data."""

from __future__ import annotations

from msgspec import Struct, field

from arena.protocol.messages import EventPhase
from arena.rating.formats import ARENA_FORMAT, KNOCKOUT_FORMAT, RosterChange
from arena.rating.rater import FinishedMatch
from arena.server.core.settings import GameAtTimeControl


class Recurrence(Struct, frozen=True):
    """Rule by which an event (a tournament) repeats: local time of each start, time zone, and interval between two starts."""

    local_start_time: str = field(name="at")
    """Local start time as the server's operator wrote it, such as `Fri 20:00`."""
    local_closing_time: str = field(name="closes")
    """Local time at which entry closes, such as `19:55`; empty if entry closes at the start.

    From then to the start, bots cannot enter or leave by themselves.
    """
    zone_name: str = field(name="zone")
    """Name of the time zone, such as `Europe/Berlin`."""
    interval_days: int = field(name="days")
    """Interval between two starts, in days."""


class EventPlan(Struct, frozen=True, kw_only=True):
    """Plan of an event (a tournament): start, format, rounds, games and clocks. It is fixed before the event starts."""

    event_name: str = field(name="event")
    """Name of the event (tournament), which is also stored with each of its matches."""
    event_uid: str = field(name="uid")
    """Unique id of the event (tournament), from which the ids of its matches are derived."""
    series_name: str = field(name="series", default="")
    """Name of the series that a repeated event belongs to; empty for a single event."""
    start_unix_s: int = field(name="begins")
    """Start of the event, as Unix time in seconds."""
    closing_unix_s: int = field(name="closes")
    """Unix time at which entry closes, in seconds.

    From then to the start, bots cannot enter or leave the event by themselves.
    """
    format_name: str = field(name="format")
    """Name of the format: one of `rating.formats.FORMATS`, or `arena`, which pairs free bots for `duration_minutes`."""
    round_count: int = field(name="rounds", default=1)
    """Number of rounds; in a knockout, number of pairs of matches that two bots play per game. Unused by the format `arena`."""
    duration_minutes: int = field(name="minutes", default=0)
    """Duration of an event of the format `arena` (continuous pairing), in minutes; unused by other formats."""
    games: tuple[GameAtTimeControl, ...] = field(name="starts")
    """Games with maps and openings. Bots that meet play two matches of each game, with swapped seats; in the
    format `arena`, one match of one game."""
    margin_ms: int = 100
    """Extra time allowed on each move for network delay, in ms."""
    ready_timeout_ms: int = field(name="ready_ms", default=30_000)
    """Time for a bot to confirm the start of a match with a `ready` message, in ms."""
    is_rated: bool = field(name="rated", default=True)
    reserves_entered_bots: bool = field(name="hold_pool", default=False)
    """True to keep entered bots from the matchmaker once entry to the event has closed, at `closing_unix_s`.

    Otherwise an entered bot may still be in another match when the event starts.
    """
    invited_bots: tuple[str, ...] = field(name="invited", default=())
    """Bots that may enter; empty if all bots may."""
    rating_bounds: tuple[int, int] = field(name="ratings", default=(0, 0))
    """Lowest and highest rating of a bot that may enter; 0 for no bound."""
    seed: int = 1
    """Seed that determines the order of the pairings."""
    recurrence: Recurrence | None = field(name="again", default=None)
    """Rule by which the event repeats; None if it does not repeat."""

    @property
    def has_arena_format(self) -> bool:
        return self.format_name == ARENA_FORMAT

    @property
    def end_unix_s(self) -> int:
        """End of an event of the format `arena` (continuous pairing for a fixed time), as Unix time in seconds."""
        return self.start_unix_s + 60 * self.duration_minutes

    @property
    def game(self) -> str:
        return self.games[0].game.name


class EventState(Struct, frozen=True):
    """Current state of an event (a tournament): its plan, bots and progress, without the results of its matches."""

    plan: EventPlan
    phase: EventPhase = "open"
    """Phase of the event: `open` (not begun), `running`, `paused`, `over` or `cancelled`."""
    entered_bots: tuple[str, ...] = field(name="bots", default=())
    """Entered bots. After the start: the players in the order of their seeds, then late entries."""
    withdrawn_bots: tuple[str, ...] = field(name="withdrawn", default=())
    """Bots that are listed in `entered_bots`, but take no further part, because they left or were removed."""
    excluded_bots: tuple[str, ...] = field(name="excluded", default=())
    """Bots that the server's operator or their owner has withdrawn, and that only these two can enter again."""
    roster_changes: tuple[RosterChange, ...] = field(name="changes", default=())
    """Late entries and withdrawals in a Swiss event: each adds or removes a bot, from a certain round on."""
    cancel_reason: str = ""
    """Reason why the event was cancelled; empty if it was not, or if an older version of the server cancelled it."""

    @property
    def round_count(self) -> int:
        """Number of rounds; 0 for the format `arena`, which has none.

        For a knockout, computed from the number of entered bots.
        """
        if self.plan.format_name == KNOCKOUT_FORMAT:
            return max(1, (len(self.entered_bots) - 1).bit_length())
        return 0 if self.plan.has_arena_format else self.plan.round_count

    def has_entered(self, bot_name: str) -> bool:
        """Return True if a bot has entered and is not withdrawn."""
        return bot_name in self.entered_bots and bot_name not in self.withdrawn_bots

    @property
    def has_begun(self) -> bool:
        return self.phase in ("running", "paused")

    @property
    def has_ended(self) -> bool:
        return self.phase in ("over", "cancelled")


class StoredEvent(Struct, frozen=True):
    """Event (a tournament) loaded from the store, with its results."""

    state: EventState
    finished_matches: dict[str, FinishedMatch]
    """Results of the finished matches by match id, in order of finishing."""

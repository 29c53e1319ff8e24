"""One event (a tournament) of a server: a pure state machine over its entries, its schedule and its results.

Pairings follow from the event's state and results alone, so a restarted server continues with the same pairings.
`server.core.events` tracks the connected bots. It asks an event for the matches that may begin, and reports their starts
and results to the event.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from arena.protocol.codes import ErrorCode
from arena.protocol.record import Result
from arena.protocol.values import Players
from arena.rating.formats import (
    ArenaFormat,
    EventFormat,
    KnockoutFormat,
    RosterChange,
    SwissFormat,
    make_format,
)
from arena.rating.pairing import MatchPair, Pairing
from arena.rating.rater import FinishedMatch
from arena.rating.schedule import Schedule, compute_points_by_bot, make_match_id
from arena.server.core.event_state import EventPlan, StoredEvent
from arena.server.core.lobby import RequestRefused
from arena.server.core.matchmaker import choose_pairs
from arena.server.core.pairing import PairingHistory
from arena.server.core.service_order import ServiceOrder

MAX_ENTRIES_PER_EVENT = 1000
"""Maximum number of bots that can enter one event (a tournament)."""


class EventRequestRefused(RequestRefused):
    """Raised when an event (a tournament) refuses an entry or another request; the message is a one-line reason."""

    def __init__(self, detail: str) -> None:
        super().__init__(ErrorCode.NO_SUCH_EVENT, detail)


class EventPlace(NamedTuple):
    """Place of a bot in an event. Bots with equal results share a rank."""

    rank: int
    """Rank of the bot in the event, from 1 for the winner; bots with equal results have the same rank."""
    points: float


class TournamentEvent:
    """One event (a tournament), from its announcement to its end."""

    def __init__(self, stored_event: StoredEvent) -> None:
        self.state = stored_event.state
        self.matches_in_progress: dict[str, Pairing] = {}
        """Pairing (the two bots by seat) of each match in progress, by match id."""
        self.schedule: Schedule | None = None
        """Matches still to be played; None before the start, and for the format `arena`, which pairs free bots instead."""
        self._points: Counter[str] = Counter()
        """Points that each bot has scored in matches, by name, without points for byes (rounds in which it had no opponent)."""
        self._match_count = 0
        """Number of finished matches of the event."""
        self._history = PairingHistory(self.plan.event_uid)
        self._service_order = ServiceOrder[str]()
        if self.state.has_begun:
            self._set_up_schedule()
            self._restore_results(stored_event)

    @property
    def plan(self) -> EventPlan:
        return self.state.plan

    @property
    def name(self) -> str:
        return self.state.plan.event_name

    @property
    def current_round(self) -> int:
        """Current round, from 1; 0 if no round is being played."""
        open_pairs = self._current_match_pairs
        if open_pairs and (rounds := self._known_knockout_rounds):
            return len(rounds)
        return max((pair.round + 1 for pair in open_pairs), default=0)

    @property
    def _current_match_pairs(self) -> list[MatchPair]:
        """Match pairs (two matches of the same two bots) with a match that is in progress or may begin now."""
        return [pairing.pair for pairing in (*self.matches_in_progress.values(), *self.list_due_matches())]

    @property
    def _known_knockout_rounds(self) -> list[list[tuple[str, str]]]:
        """Pairs of bots in each round of a knockout, up to the last round for which all pairs are known.

        The list is empty in formats other than knockout.
        """
        format = self.schedule.format if self.schedule is not None else None
        rounds: list[list[tuple[str, str]]] = []
        for encounters in format.make_bracket() if isinstance(format, KnockoutFormat) else []:
            pairs = [
                (encounter.first_bot, encounter.second_bot)
                for encounter in encounters
                if encounter.first_bot and encounter.second_bot
            ]
            if len(pairs) < len(encounters):
                break
            rounds.append(pairs)
        return rounds

    @property
    def pairs_of_current_round(self) -> tuple[tuple[str, str], ...]:
        """Names of the two bots of each pair in the current round, each pair once; empty if no round is being played."""
        if rounds := self._known_knockout_rounds:
            return tuple(rounds[-1])
        round = self.current_round
        return tuple(
            dict.fromkeys(
                (pair.first_bot, pair.second_bot)
                for pair in self._current_match_pairs
                if pair.round + 1 == round
            )
        )

    @property
    def is_finished(self) -> bool:
        """True once all matches are played.

        Always False for the format `arena` (continuous pairing), which ends at a fixed time.
        """
        return self.schedule is not None and not self.schedule and not self.matches_in_progress

    def compute_place(self, bot_name: str) -> EventPlace | None:
        """Return a bot's rank and points so far, with points for byes (rounds without opponent); None if it has not entered."""
        format: EventFormat = ArenaFormat() if self.schedule is None else self.schedule.format
        ranks = {
            entrant: format.compute_rank(entrant, self._points[entrant])
            for entrant in self.state.entered_bots
        }
        if bot_name not in ranks:
            return None
        rank = 1 + sum(other.sort_key < ranks[bot_name].sort_key for other in ranks.values())
        return EventPlace(rank, self._points[bot_name] + ranks[bot_name].bye_points)

    # entries

    def enter_bot(self, bot_name: str, rating: float, *, by_host_or_owner: bool = False) -> None:
        """Enter a bot in the event, also after it was withdrawn. Do nothing if the bot has already entered.

        rating            rating of the bot in the game of the event
        by_host_or_owner  True if the server's operator or the bot's owner enters the bot, False if the bot enters
                          itself

        Raises EventRequestRefused if the event does not accept the bot.
        """
        state, plan = self.state, self.plan
        if state.has_entered(bot_name):
            return
        if state.has_ended:
            raise EventRequestRefused(f"{self.name} accepts no more entries: it is {state.phase}")
        if bot_name in state.excluded_bots:
            if not by_host_or_owner:
                raise EventRequestRefused(
                    f"{bot_name!r:.70} was withdrawn from {self.name}: only the host or the bot's owner can enter it again"
                )
            state = self.state = replace(state, excluded_bots=_remove_bot(state.excluded_bots, bot_name))
        if plan.invited_bots and bot_name not in plan.invited_bots:
            raise EventRequestRefused(
                f"{self.name} is open only to invited bots, and {bot_name!r:.70} is not invited"
            )
        lowest, highest = plan.rating_bounds
        if rating < lowest or (highest and rating > highest):
            bounds_text = f"{lowest} to {highest}" if highest else f"{lowest} and more"
            raise EventRequestRefused(
                f"{self.name} is open to ratings of {bounds_text}, but {bot_name!r:.70} is rated {rating:.0f}"
            )
        if bot_name in state.withdrawn_bots:
            self.state = replace(state, withdrawn_bots=_remove_bot(state.withdrawn_bots, bot_name))
            self._schedule_roster_change(bot_name, joins=True)
            return
        if len(state.entered_bots) >= MAX_ENTRIES_PER_EVENT:
            raise EventRequestRefused(f"{self.name} already has {MAX_ENTRIES_PER_EVENT} entries, the maximum")
        if not state.has_begun:
            self.state = replace(state, entered_bots=(*state.entered_bots, bot_name))
        elif plan.has_arena_format or self._swiss_format is not None:
            self._add_late_bot(bot_name)
        else:
            raise EventRequestRefused(
                f"{self.name} has begun, and a {plan.format_name} accepts no late entries"
            )

    def withdraw_entered_bot(self, bot_name: str, *, by_host_or_owner: bool = False) -> None:
        """Withdraw a bot. Raises EventRequestRefused if the bot has not entered.

        by_host_or_owner  True if the server's operator or the bot's owner withdraws the bot, which then cannot return
                          by itself
        """
        state = self.state
        if bot_name not in state.entered_bots or state.has_ended:
            raise EventRequestRefused(
                f"{bot_name!r:.70} cannot leave {self.name}: it has not entered, or the event is over"
            )
        if by_host_or_owner and bot_name not in state.excluded_bots:
            state = self.state = replace(state, excluded_bots=(*state.excluded_bots, bot_name))
        if not state.has_begun:
            self.state = replace(state, entered_bots=_remove_bot(state.entered_bots, bot_name))
        else:
            self._withdraw_bot(bot_name)

    def _withdraw_bot(self, bot_name: str) -> None:
        if bot_name not in self.state.withdrawn_bots:
            self.state = replace(self.state, withdrawn_bots=(*self.state.withdrawn_bots, bot_name))
            self._schedule_roster_change(bot_name, joins=False)

    @property
    def _swiss_format(self) -> SwissFormat | None:
        format = self.schedule.format if self.schedule is not None else None
        return format if isinstance(format, SwissFormat) else None

    def _add_late_bot(self, bot_name: str) -> None:
        self.state = replace(self.state, entered_bots=(*self.state.entered_bots, bot_name))
        if self._swiss_format is not None:
            # After a restart, the schedule is rebuilt with all bots; this change keeps the bot out of earlier rounds.
            self.state = replace(
                self.state,
                roster_changes=(*self.state.roster_changes, RosterChange(bot_name, 0, is_joining=False)),
            )
            self._schedule_roster_change(bot_name, joins=True)

    def _schedule_roster_change(self, bot_name: str, *, joins: bool) -> None:
        """Include a bot in the pairings of a Swiss event from the next round on, or exclude it if `joins` is False."""
        swiss = self._swiss_format
        if swiss is not None:
            change = RosterChange(bot_name, swiss.rounds_started, joins)
            swiss.change_roster(change)
            self.state = replace(self.state, roster_changes=(*self.state.roster_changes, change))

    def rename_bot(self, bot_name: str, new_name: str) -> None:
        """Rename an entered bot before the event begins. An empty `new_name` removes the bot."""

        def replace_bot_name(names: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(
                new_name if name == bot_name else name for name in names if new_name or name != bot_name
            )

        state = self.state
        self.state = replace(
            state,
            plan=replace(state.plan, invited_bots=replace_bot_name(state.plan.invited_bots)),
            entered_bots=replace_bot_name(state.entered_bots),
            excluded_bots=replace_bot_name(state.excluded_bots),
        )

    # progress

    def begin_with_bots(self, bot_names: Sequence[str]) -> None:
        """Begin the event with these bots, which the caller has sorted, highest rating first."""
        self.state = replace(self.state, phase="running", entered_bots=tuple(bot_names))
        self._set_up_schedule()

    def mark_finished(self) -> None:
        self.state = replace(self.state, phase="over")

    def change_phase(self, phase_action: str, cancel_reason: str = "the host has cancelled it") -> None:
        """Carry out `phase_action`: `pause`, `resume` or `cancel`. Raises EventRequestRefused if the event's phase does not allow it.

        cancel_reason  reason for the action `cancel`
        """
        phase = self.state.phase
        allowed_phases, new_phase = {
            "pause": (("running",), "paused"),
            "resume": (("paused",), "running"),
            "cancel": (("open", "running", "paused"), "cancelled"),
        }[phase_action]
        if phase not in allowed_phases:
            raise EventRequestRefused(f"cannot {phase_action} {self.name}: it is {phase}")
        cancel_reason = cancel_reason if new_phase == "cancelled" else ""
        self.state = replace(self.state, phase=new_phase, cancel_reason=cancel_reason)

    def _set_up_schedule(self) -> None:
        plan = self.plan
        if not plan.has_arena_format:
            rounds, starts = plan.round_count, len(plan.games)
            format = make_format(
                plan.format_name,
                self.state.entered_bots,
                rounds,
                starts,
                plan.seed,
                self.state.roster_changes,
            )
            self.schedule = Schedule(plan.event_uid, format)

    def _restore_results(self, stored_event: StoredEvent) -> None:
        matches = stored_event.finished_matches
        self._match_count = len(matches)
        for finished_match in matches.values():
            players = finished_match.players
            self._points.update(compute_points_by_bot(players, finished_match.result))
            if self.schedule is None:
                self._record_arena_pairing(players.maxie, players.minnie)
        if self.schedule is not None:
            self.schedule.restore_results(matches)

    # matches

    def list_due_matches(self) -> list[Pairing]:
        """Return the matches that may begin, in schedule order: for each pair of bots with matches left, their next match.

        The list is empty for the format `arena` (continuous pairing), and before the start of the event.
        """
        return self.schedule.list_startable_pairings() if self.schedule is not None else []

    def pair_free_bots(
        self,
        free_bot_names: Iterable[str],
        *,
        get_rating: Callable[[str], float],
        may_meet: Callable[[str, str], bool],
    ) -> list[Pairing]:
        """Pair free bots of an event of the format `arena` (continuous pairing), longest-waiting first, and return the matches.

        free_bot_names  names of bots that can begin a match now; those that are not in the event are ignored
        get_rating      function that returns the rating of a bot, by its name
        may_meet        function that returns True if the bots of two names may play each other
        """
        names = [bot for bot in free_bot_names if self.state.has_entered(bot)]
        max_pairs = len(names) // 2
        chosen_pairs = choose_pairs(
            names,
            self._history,
            self._service_order,
            get_owner=str,
            get_rating=get_rating,
            may_meet=may_meet,
            max_pairs=max_pairs,
        )
        started_count = self._match_count + len(self.matches_in_progress)
        start_position_count = len(self.plan.games)
        chosen_matches = []
        for number, (maxie, minnie) in enumerate(chosen_pairs, started_count):
            self._record_arena_pairing(maxie, minnie)
            pair = MatchPair(number, 0, number % start_position_count, maxie, minnie)
            chosen_matches.append(Pairing(pair, 0, maxie, minnie))
        return chosen_matches

    def record_match_start(self, pairing: Pairing) -> str:
        """Record that a match begins, and return its id."""
        if self.schedule is None:
            match = make_match_id(self.plan.event_uid, pairing, 0)
        else:
            match = self.schedule.make_next_match_id(pairing)
            self.schedule.mark_started(pairing)
        self.matches_in_progress[match] = pairing
        return match

    def restore_matches_in_progress(self, players_by_match: dict[str, Players]) -> None:
        """Record the matches that were in progress when the server stopped. A restarted server calls this to resume the event.

        players_by_match  players of each match, by match id
        """
        while self.schedule is not None:
            due_matches = [
                pairing
                for pairing in self.list_due_matches()
                if self.schedule.make_next_match_id(pairing) in players_by_match
            ]
            for pairing in due_matches:
                self.record_match_start(pairing)
            if not due_matches:
                return
        for match, players in players_by_match.items():
            pair = MatchPair(
                self._match_count + len(self.matches_in_progress), 0, 0, players.maxie, players.minnie
            )
            self.matches_in_progress[match] = Pairing(pair, 0, players.maxie, players.minnie)
            self._record_arena_pairing(players.maxie, players.minnie)

    def _record_arena_pairing(self, maxie_name: str, minnie_name: str) -> None:
        """Record that two bots begin a match, because later pairings in the format `arena` depend on earlier matches."""
        self._service_order.record_service(maxie_name, minnie_name)
        self._history.record_match_start(maxie_name, minnie_name)

    def record_match_result(self, match_id: str, result: Result) -> None:
        """Record the result of a finished match. Ignore a match that is not in progress."""
        pairing = self.matches_in_progress.pop(match_id, None)
        if pairing is None:
            return
        self._match_count += 1
        self._points.update(compute_points_by_bot(pairing, result))
        if self.schedule is None:
            return
        withdrawn_before = self.schedule.format.withdrawn_bots
        players = Players(pairing.maxie, pairing.minnie)
        self.schedule.record_result(pairing, FinishedMatch(match_id, "", players, result))
        for bot in sorted(self.schedule.format.withdrawn_bots - withdrawn_before):
            self._withdraw_bot(bot)


def _remove_bot(bots: tuple[str, ...], bot_name: str) -> tuple[str, ...]:
    return tuple(other for other in bots if other != bot_name)

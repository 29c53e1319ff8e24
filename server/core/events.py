"""Events (tournaments) of an arena: their entries, their start times, and the matches of events in progress.

`server.core.event` holds the rules of a single event. This module adds the connected bots. A match is due when the rules
allow it to begin. It begins as soon as both bots are free, before the matchmaker can pair them. A bot that stays away
from a due match for `MAX_WAIT_FOR_ABSENT_BOT_NS` forfeits the match.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from arena.games.name_hints import format_similar_name_hint
from arena.match.clock import NS_PER_MS
from arena.match.terms import MatchTerms
from arena.protocol.codes import EndReason
from arena.protocol.messages import EventStatus, ListedEvent
from arena.protocol.record import Record, Result
from arena.protocol.values import Players
from arena.rating.pairing import Pairing
from arena.server.core.bot import RATING_OF_UNRATED_BOT, LobbyBot
from arena.server.core.calendar import format_unix_time_as_utc, plan_next_event
from arena.server.core.effects import (
    EventFinished,
    EventMatchFinished,
    EventNews,
    EventStarted,
    FinalEventRank,
    LogLine,
    RoundPaired,
    SaveEvent,
    StoredRequestAnswered,
)
from arena.server.core.event import EventRequestRefused, TournamentEvent
from arena.server.core.event_state import EventState, StoredEvent
from arena.server.core.house_engines import HouseEngines
from arena.server.core.inputs import (
    AnnounceTournament,
    ChangeTournament,
    FindConnectedClient,
    NumberedStoredRequest,
    RenameTournamentEntry,
    TournamentAction,
)
from arena.server.core.lobby import NS_PER_SECOND, Lobby
from arena.server.core.matches import CurrentMatches
from arena.server.core.settings import HOUSE_ENGINE_NAME_PREFIX

MAX_WAIT_FOR_ABSENT_BOT_NS = 45_000_000_000
"""Time that a match of an event (a tournament) waits for a disconnected bot, before the bot forfeits it, in ns."""
RECONNECT_TIME_AFTER_RESTART_NS = 45_000_000_000
"""Time after a restart of the server in which no event begins, in ns, so that bots can reconnect first."""
DUE_MATCH_CHECK_DELAY_NS = 5_000_000
"""Delay from a change, such as a bot that becomes free, to the check for matches of events that can begin, in ns.

The delay is shorter than `matchmaker.PAIRING_DELAY_AFTER_CHANGE_NS`, so that events get free bots before the matchmaker.
"""
MAX_LISTED_EVENTS = 100
"""Maximum number of events (tournaments) in a `listing` message, the overview for clients that browse."""


class HostedEvent(TournamentEvent):
    """Event (a tournament) that the server runs, with data that are not stored, such as the names of the waiting bots."""

    def __init__(self, stored_event: StoredEvent) -> None:
        super().__init__(stored_event)
        self.are_entries_closed = False
        """True once `EventPlan.closing_unix_s` has passed, and the event's bots are marked for a new check by the matchmaker.

        From that time on, the event may keep its bots from other matches (`EventPlan.reserves_entered_bots`).
        """
        self.waiting_bot_names: frozenset[str] = frozenset()
        """Names of the bots with a match in this event that may begin by the schedule, but has to wait."""
        self.due_since_ns: dict[tuple[int, frozenset[str]], int] = {}
        """Time (monotonic ns) since which each due match waits for an absent bot, by the round number and the two bots' names.

        A match is due when it may begin by the schedule. Its entry is removed when both bots are available.
        """
        self.last_notified_status: tuple[str, int] | None = None
        """Phase and round number that the event's bots know of; None before the first check for news to them.

        `HostedEvents.advance_events` does the check.
        """
        self.last_reported_round = 0
        """Number of the latest round whose pairs were reported to the operator's webhook; 0 before the first."""


class HostedEvents:
    """Events (tournaments) of one server that are open or in progress."""

    def __init__(self, lobby: Lobby, matches: CurrentMatches, house: HouseEngines) -> None:
        self._lobby = lobby
        self._matches = matches
        self._house = house
        self._events: dict[str, HostedEvent] = {}
        self._earliest_start_ns = 0
        """Earliest time at which an event may begin, in ns of the core's clock; 0 if the server has restored no events.

        After a restart, bots need time to reconnect.
        """
        matches.set_event_match_end_handler(self.record_match_result)

    # for the shell, the matchmaker and listings

    @property
    def event_states(self) -> list[EventState]:
        """Current state of each event (plan, phase and entered bots), in the order of announcement."""
        return [event.state for event in self._events.values()]

    def is_bot_reserved_for_event(self, bot_name: str) -> bool:
        """Return True if an event (a tournament) keeps a bot for its matches, so that the matchmaker must not pair the bot."""
        now = self._lobby.now_unix_s()
        return any(
            bot_name in event.waiting_bot_names
            or (
                event.plan.reserves_entered_bots
                and event.state.has_entered(bot_name)
                and now >= event.plan.closing_unix_s
            )
            for event in self._events.values()
        )

    def describe_event_entry_of_bot(self, bot_name: str) -> str:
        """Return a phrase about the first event that a bot has entered and not left, such as `in the event NAME: …`.

        Return an empty string if the bot is in no event.
        """
        for event in self._events.values():
            if event.state.has_entered(bot_name):
                return f"in the event {event.name}: {self._describe_event_status(event)}"
        return ""

    def make_lobby_listing_entries(self) -> list[ListedEvent]:
        """Return an entry of the `listing` message (for clients that browse) for each event, at most `MAX_LISTED_EVENTS`."""
        return [
            ListedEvent(
                event.name,
                event.state.phase,
                event.plan.format_name,
                event.plan.game,
                len(event.state.entered_bots),
                self._compute_ms_to_start(event),
                event.current_round,
                event.state.round_count,
            )
            for event in list(self._events.values())[:MAX_LISTED_EVENTS]
        ]

    # from the store

    def restore_events(self, stored_events: Iterable[StoredEvent]) -> None:
        """Load the stored events after a restart.

        The caller must then restore the events' matches, and call `assign_restored_matches_to_events`.
        """
        for stored_event in stored_events:
            self._earliest_start_ns = self._lobby.now_ns + RECONNECT_TIME_AFTER_RESTART_NS
            self._events[stored_event.state.plan.event_name] = HostedEvent(stored_event)

    def assign_restored_matches_to_events(self) -> None:
        """Assign the matches in progress to the events that they belong to, after a restart has restored both."""
        for event in self._events.values():
            players_by_match = {
                match: room.terms.players
                for match, room in self._matches.rooms.items()
                if room.terms.event == event.name
            }
            event.restore_matches_in_progress(players_by_match)

    # requests

    def handle_stored_request(self, numbered_request: NumberedStoredRequest) -> None:
        """Carry out a request of the server's operator or of a bot's owner, and answer by `StoredRequestAnswered`."""
        try:
            match request := numbered_request.request:
                case AnnounceTournament():
                    answer = self._announce_tournament(request)
                case ChangeTournament():
                    answer = self._execute_tournament_action(request)
                case RenameTournamentEntry():
                    answer = self._rename_tournament_entry(request)
                case FindConnectedClient():
                    answer = self._confirm_client_is_connected(request.client_name)
        except EventRequestRefused as refused:
            self._lobby.effects.append(
                StoredRequestAnswered(numbered_request.request_number, str(refused), succeeded=False)
            )
        else:
            self._lobby.effects.append(
                StoredRequestAnswered(numbered_request.request_number, answer, succeeded=True)
            )

    def _announce_tournament(self, command: AnnounceTournament) -> str:
        plan = command.plan
        if plan.event_name in self._events:
            raise EventRequestRefused(
                f"an event called {plan.event_name} already exists: choose another name, or cancel that event first"
            )
        self._add_and_save_event(EventState(plan))
        return f"{plan.event_name} is announced"

    def _add_and_save_event(self, state: EventState) -> None:
        event = self._events[state.plan.event_name] = HostedEvent(StoredEvent(state, {}))
        self._save_event(event)

    def _execute_tournament_action(self, command: ChangeTournament) -> str:
        event = self._find_event(command.event_name, command.action, command.bot_name, by_host_or_owner=True)
        match command.action:
            case "enter":
                self._require_house_engine(command.bot_name)
                rating = self._find_rating_for_event(
                    event, command.bot_name, command.ratings.get(event.plan.game, RATING_OF_UNRATED_BOT)
                )
                event.enter_bot(command.bot_name, rating, by_host_or_owner=True)
                confirmation = f"{command.bot_name} is in {event.name}"
            case "withdraw":
                event.withdraw_entered_bot(command.bot_name, by_host_or_owner=True)
                confirmation = f"{command.bot_name} is withdrawn from {event.name}"
            case "stop":
                event.change_phase("cancel")
                confirmation = (
                    f"{event.name} is cancelled, and {event.plan.series_name or event.name} is not repeated"
                )
            case _:
                has_begun = event.state.has_begun
                event.change_phase(command.action)
                # If the event had begun, the next one of its series was announced then.
                if event.state.has_ended and not has_begun:
                    self._announce_next_event_of_series(event)
                confirmation = f"{event.name} is {event.state.phase}"
        self._save_event(event)
        return confirmation

    def _require_house_engine(self, bot_name: str) -> None:
        """Raise EventRequestRefused if a name begins with `house-`, but no engine of this server has this name.

        The prefix is reserved for the engines that the server itself runs.
        """
        if bot_name.startswith(HOUSE_ENGINE_NAME_PREFIX) and bot_name not in self._house:
            names = [entry.name for entry in self._house.make_lobby_listing_entries()]
            raise EventRequestRefused(
                f"this server has no engine called {bot_name!r:.70}{format_similar_name_hint(bot_name, names)}"
            )

    def enter_bot(self, bot: LobbyBot, event_name: str) -> None:
        """Enter a bot in an event, and send the bot the event's status. `event_name`: name of the event or of its series.

        Raises EventRequestRefused if there is no such event, or if the event does not accept the bot.
        """
        event = self._find_event_for_bot(event_name, "enter", bot)
        state_before = event.state
        if bot.is_guest:
            raise EventRequestRefused("a guest cannot enter events; ask the host for a token")
        event.enter_bot(bot.name, self._find_rating_for_event(event, bot.name))
        if event.state != state_before:
            self._save_event(event)
        self._send_event_status(event, bot)

    def withdraw_bot(self, bot: LobbyBot, event_name: str) -> None:
        """Withdraw a bot from an event, and send the bot the event's status. `event_name`: name of the event or of its series.

        Raises EventRequestRefused if there is no such event, or if the bot is not in the event.
        """
        event = self._find_event_for_bot(event_name, "withdraw", bot)
        event.withdraw_entered_bot(bot.name)
        self._save_event(event)
        self._send_event_status(event, bot)

    def _find_event_for_bot(
        self, event_name: str, action: TournamentAction, bot: LobbyBot
    ) -> TournamentEvent:
        event = self._find_event(event_name, action, bot.name)
        if event.state.phase == "open" and self._lobby.now_unix_s() >= event.plan.closing_unix_s:
            raise EventRequestRefused(f"the entries of {event.name} are closed: it is about to begin")
        return event

    def _find_event(
        self, event_name: str, action: TournamentAction, bot_name: str, *, by_host_or_owner: bool = False
    ) -> TournamentEvent:
        """Return the event called `event_name`. If that is the name of a series, return the event that the action concerns.

        This is usually the next event of the series. It is the event in progress if a bot returns to that event or is withdrawn
        from it, or if the action is to pause, resume or cancel.

        event_name        name of the event or of its series
        action            action to carry out on the event
        bot_name          bot to enter or withdraw; empty for other actions
        by_host_or_owner  True if the server's operator or the bot's owner acts, False if the bot itself does

        Raises EventRequestRefused if there is no such event.
        """

        def accepts_requested_action(event: TournamentEvent) -> bool:
            state = event.state
            may_return = bot_name in state.withdrawn_bots and (
                by_host_or_owner or bot_name not in state.excluded_bots
            )
            is_possible = {"enter": may_return, "withdraw": state.has_entered(bot_name), "stop": False}
            return state.has_begun and is_possible.get(action, True)

        matching_events = [
            event for event in self._events.values() if event_name in (event.name, event.plan.series_name)
        ]
        if not matching_events:
            raise EventRequestRefused(f"no event {event_name!r:.70} is open or in progress")
        return min(
            matching_events,
            key=lambda event: (
                not accepts_requested_action(event),
                event.state.has_begun,
                event.plan.start_unix_s,
            ),
        )

    def _rename_tournament_entry(self, request: RenameTournamentEntry) -> str:
        for event in self._events.values():
            state_before = event.state
            if state_before.phase == "open":
                event.rename_bot(request.old_name, request.new_name)
            if event.state != state_before:
                self._save_event(event)
        return (
            f"{request.old_name} is renamed to {request.new_name}"
            if request.new_name
            else f"{request.old_name} is removed"
        )

    def _confirm_client_is_connected(self, client_name: str) -> str:
        """Answer the query `FindConnectedClient`: return the line `NAME is connected`.

        Raises EventRequestRefused if no client of this name is connected.
        """
        if any(client.name == client_name for client in self._lobby.clients.values()):
            return f"{client_name} is connected"
        raise EventRequestRefused(f"{client_name} is not connected")

    def _find_rating_for_event(
        self, event: TournamentEvent, bot_name: str, fallback: float = RATING_OF_UNRATED_BOT
    ) -> float:
        """Return a bot's rating in the game of an event; `fallback` if the bot is away (not in `Lobby.bots`)."""
        bot = self._lobby.bots.get(bot_name)
        return fallback if bot is None else bot.get_rating(event.plan.game)

    def _save_event(self, event: TournamentEvent) -> None:
        """Store the state of an event. Mark its bots as changed too, so that the next check looks for their due matches."""
        self._lobby.effects.append(SaveEvent(event.state))
        self._mark_entered_bots_changed(event)

    def _mark_entered_bots_changed(self, event: TournamentEvent) -> None:
        for name in event.state.entered_bots:
            self._lobby.record_lobby_change(self._lobby.bots.get(name))
        self._lobby.record_lobby_change()

    def _send_event_status(self, event: TournamentEvent, bot: LobbyBot) -> None:
        """Send a bot the status of an event (`event_state` message), with the bot's rank and points once the event is over."""
        state = event.state
        place = event.compute_place(bot.name) if state.phase == "over" else None
        status = EventStatus(
            event.name,
            state.phase,
            state.has_entered(bot.name),
            self._describe_event_status(event),
            self._compute_ms_to_start(event),
            event.current_round,
        )
        if place is not None:
            status = add_final_rank(
                status, *place, len(state.entered_bots), f"/event/{quote(event.name, safe='')}"
            )
        self._lobby.send_to_bot(bot, status)

    def _compute_ms_to_start(self, event: TournamentEvent) -> int:
        return (
            max(0, event.plan.start_unix_s * 1000 - self._lobby.now_unix_ns() // NS_PER_MS)
            if event.state.phase == "open"
            else 0
        )

    def _describe_event_status(self, event: TournamentEvent) -> str:
        state, plan = event.state, event.plan
        match state.phase:
            case "open":
                return f"begins at {format_unix_time_as_utc(plan.start_unix_s)}"
            case "running" if plan.has_arena_format:
                return f"{len(state.entered_bots)} bots, {plan.duration_minutes} minutes in all"
            case "running":
                return f"round {event.current_round} of {event.state.round_count}, {len(state.entered_bots)} bots"
        reason_text = f": {state.cancel_reason}" if state.cancel_reason else ""
        return f"the event is {state.phase}{reason_text}"

    # progress

    def advance_events(self) -> None:
        """Begin the events and matches that are due, end finished events, and notify the bots of each new phase or round."""
        for event in list(self._events.values()):
            if event.state.phase == "open":
                self._begin_event_if_due(event)
            due: list[Pairing] = []
            if event.state.phase == "running" and not self._lobby.is_draining:
                due = self._begin_due_matches_and_list_waiting(event)
                self._end_event_if_finished(event)
            self._reserve_waiting_bots(event, due)
            self._notify_bots_of_new_phase(event)
            if event.state.has_ended and not event.matches_in_progress:
                del self._events[event.name]

    def _reserve_waiting_bots(self, event: HostedEvent, pairings: list[Pairing]) -> None:
        """Reserve the bots of an event's waiting matches (`pairings`), so that the matchmaker gives them no other match."""
        waiting_before = event.waiting_bot_names
        event.waiting_bot_names = frozenset(
            name for pairing in pairings for name in (pairing.maxie, pairing.minnie)
        )
        for name in waiting_before ^ event.waiting_bot_names:
            if (bot := self._lobby.bots.get(name)) is not None:
                self._lobby.record_lobby_change(bot)

    def schedule_next_check(self) -> None:
        """Schedule a check for due events and due matches, because something has changed.

        The check comes before the matchmaker's next check.
        """
        if self._events:
            self._schedule_check_at(self._lobby.now_ns + DUE_MATCH_CHECK_DELAY_NS)

    def _schedule_check_at(self, check_time_ns: int) -> None:
        self._lobby.deadlines.schedule_check(
            ("event", ""), max(check_time_ns, self._lobby.now_ns + NS_PER_MS)
        )

    def _schedule_check_at_unix_s(self, unix_seconds: int) -> None:
        self._schedule_check_at(unix_seconds * NS_PER_SECOND - self._lobby.settings.unix_ns_at_clock_zero)

    def _begin_event_if_due(self, event: HostedEvent) -> None:
        lobby, plan = self._lobby, event.plan
        now = lobby.now_unix_s()
        if now >= plan.closing_unix_s and not event.are_entries_closed:
            event.are_entries_closed = True
            self._mark_entered_bots_changed(event)
        if now < plan.start_unix_s:
            self._schedule_check_at_unix_s(
                plan.closing_unix_s if now < plan.closing_unix_s else plan.start_unix_s
            )
            return
        if lobby.now_ns < self._earliest_start_ns:
            self._schedule_check_at(self._earliest_start_ns)
            return
        available_bots = [
            name for name in event.state.entered_bots if name in self._house or self._is_bot_available(name)
        ]
        if len(available_bots) < 2:
            event.change_phase("cancel", "fewer than two of its bots were connected at its start")
            self._announce_next_event_of_series(event)
            lobby.effects.append(
                LogLine("warning", f"event {event.name} is cancelled: {event.state.cancel_reason}")
            )
        else:
            self._announce_next_event_of_series(event)
            event.begin_with_bots(
                sorted(available_bots, key=lambda name: (-self._find_rating_for_event(event, name), name))
            )
            lobby.effects.append(
                LogLine("info", f"event {event.name} begins with {len(available_bots)} bots")
            )
        self._save_event(event)

    def _announce_next_event_of_series(self, event: TournamentEvent) -> None:
        """Announce the next event of the series, with the same entries; do nothing if the event does not repeat."""
        plan = plan_next_event(event.plan, self._lobby.now_unix_s())
        if plan is not None and plan.event_name not in self._events:
            self._add_and_save_event(EventState(plan, entered_bots=event.state.entered_bots))
            self._schedule_check_at_unix_s(plan.closing_unix_s)

    def _is_bot_available(self, bot_name: str) -> bool:
        bot = self._lobby.bots.get(bot_name)
        return bot is not None and bot.client_number is not None and bot.match_quota != 0

    def _begin_due_matches_and_list_waiting(self, event: HostedEvent) -> list[Pairing]:
        """Begin the due matches whose bots are free, and return the due matches that have to wait.

        In an event of the format `arena`, free bots are paired at once, so no match has to wait.
        """
        if event.plan.has_arena_format:
            if self._lobby.now_unix_s() < event.plan.end_unix_s:
                self._schedule_check_at_unix_s(event.plan.end_unix_s)
                free_bots = [
                    bot.name
                    for bot in self._lobby.list_connected_bots()
                    if bot.can_accept_match and bot.name not in self._house
                ]
                rated = event.plan.is_rated
                for pairing in event.pair_free_bots(
                    free_bots,
                    get_rating=lambda name: self._find_rating_for_event(event, name),
                    may_meet=lambda a, b: not (rated and self._have_same_owner(a, b)),
                ):
                    self._begin_match(event, pairing)
            return []
        due_pairings, has_changed = event.list_due_matches(), True
        while has_changed:  # a forfeit may make further matches due
            has_changed = False
            for pairing in due_pairings:
                has_changed = self._start_or_forfeit_match(event, pairing) or has_changed
            if has_changed:
                due_pairings = event.list_due_matches()
        return due_pairings

    def _start_or_forfeit_match(self, event: HostedEvent, pairing: Pairing) -> bool:
        """Begin a due match, or decide it by forfeit if a bot stays away or takes no more matches.

        Return False if the match has to wait.
        """
        lobby = self._lobby
        names = (pairing.maxie, pairing.minnie)
        for name in names:
            if name in self._house and not self._is_bot_available(name):
                self._house.request_engine_start(name)
        absent_bots = [
            name for name in names if name in event.state.withdrawn_bots or not self._is_bot_available(name)
        ]
        key = pairing.pair.round, frozenset(names)
        if not absent_bots:
            event.due_since_ns.pop(key, None)
            bots = [lobby.bots[name] for name in names]
            load = lobby.compute_match_load(*bots)
            if not (
                all(bot.can_accept_match for bot in bots)
                and lobby.has_capacity_for_load(load, self._matches.total_load)
            ):
                return False
            self._begin_match(event, pairing)
            return True
        due_since = event.due_since_ns.setdefault(key, lobby.now_ns)
        forfeit_times = {name: self._compute_forfeit_time_ns(event, name, due_since) for name in absent_bots}
        forfeiting_bots = [name for name in absent_bots if lobby.now_ns >= forfeit_times[name]]
        if not forfeiting_bots:
            self._schedule_check_at(min(forfeit_times.values()))
            return False
        winner = None
        if len(forfeiting_bots) == 1:
            winner = "minnie" if forfeiting_bots[0] == pairing.maxie else "maxie"
        terms = self._make_match_terms(event, pairing, event.record_match_start(pairing))
        detail = ", and ".join(self._describe_forfeit_reason(event, name) for name in forfeiting_bots)
        self._matches.record_forfeited_match(terms, Result(winner, EndReason.NO_SHOW, detail))  # type: ignore[arg-type]
        return True

    def _describe_forfeit_reason(self, event: TournamentEvent, bot_name: str) -> str:
        """Return why a bot forfeits a match, such as `NAME did not connect in time`."""
        if bot_name in event.state.withdrawn_bots:
            return f"{bot_name} was withdrawn from the event"
        bot = self._lobby.bots.get(bot_name)
        is_connected = bot is not None and bot.client_number is not None
        return f"{bot_name} {'took no more matches' if is_connected else 'did not connect in time'}"

    def _compute_forfeit_time_ns(self, event: TournamentEvent, bot_name: str, due_time_ns: int) -> int:
        """Return the time at which an absent bot forfeits a match that became due at `due_time_ns`, in ns of the core's clock.

        The bot has `MAX_WAIT_FOR_ABSENT_BOT_NS` from the due time or, if later, from its disconnection. Return 0 for a
        bot that is withdrawn from the event.
        """
        if bot_name in event.state.withdrawn_bots:
            return 0
        bot = self._lobby.bots.get(bot_name)
        return MAX_WAIT_FOR_ABSENT_BOT_NS + (
            due_time_ns
            if bot is None or bot.client_number is not None
            else max(due_time_ns, bot.disconnect_time_ns)
        )

    def _begin_match(self, event: TournamentEvent, pairing: Pairing) -> None:
        terms = self._make_match_terms(event, pairing, event.record_match_start(pairing))
        self._matches.begin_match(terms)

    def _make_match_terms(self, event: TournamentEvent, pairing: Pairing, match_id: str) -> MatchTerms:
        plan, pair = event.plan, pairing.pair
        start = plan.games[pair.start_position_index]
        return MatchTerms(
            match=match_id,
            event=event.name,
            game=start.game,
            opening=start.openings[pair.round % len(start.openings)],
            players=Players(pairing.maxie, pairing.minnie),
            time_control=start.time_control,
            margin_ms=plan.margin_ms,
            ready_ms=plan.ready_timeout_ms,
            adjudication=self._lobby.settings.adjudication,
            rated=plan.is_rated and not self._have_same_owner(pairing.maxie, pairing.minnie),
        )

    def _have_same_owner(self, bot_name_a: str, bot_name_b: str) -> bool:
        bot_a, bot_b = self._lobby.bots.get(bot_name_a), self._lobby.bots.get(bot_name_b)
        return bot_a is not None and bot_b is not None and bot_a.has_same_owner_as(bot_b)

    def record_match_result(self, record: Record) -> None:
        """Record the result of a finished match in its event (a tournament). Ignore a match that belongs to no event."""
        event = self._events.get(record.event)
        if event is None or record.match not in event.matches_in_progress:
            return
        state_before = event.state
        event.record_match_result(record.match, record.result)
        news = EventMatchFinished(record.match, record.players, record.result)
        self._lobby.effects.append(EventNews(event.name, news))
        if event.state != state_before:
            self._save_event(event)
        self._lobby.record_lobby_change()

    def _end_event_if_finished(self, event: TournamentEvent) -> None:
        is_time_over = event.plan.has_arena_format and self._lobby.now_unix_s() >= event.plan.end_unix_s
        if event.is_finished or (is_time_over and not event.matches_in_progress):
            event.mark_finished()
            self._lobby.effects.append(LogLine("info", f"event {event.name} is over"))
            self._save_event(event)

    def _notify_bots_of_new_phase(self, event: HostedEvent) -> None:
        """Notify the bots of an event when it enters another phase or round."""
        status = event.state.phase, event.current_round
        last_notified_status = event.last_notified_status
        is_same_phase = last_notified_status is not None and last_notified_status[0] == event.state.phase
        if status == last_notified_status or (
            is_same_phase and (event.state.has_ended or not event.current_round)
        ):
            return
        if last_notified_status is not None or event.state.has_begun:
            for name in event.state.entered_bots:
                if (bot := self._lobby.bots.get(name)) is not None:
                    self._send_event_status(event, bot)
        self._send_news_to_webhook(event)
        event.last_notified_status = status

    def _send_news_to_webhook(self, event: HostedEvent) -> None:
        """Queue the news of an event's new phase or round for the webhook (URL) that the server's operator has set."""
        news: list[EventStarted | RoundPaired | EventFinished] = []
        state, plan, last_notified_status = event.state, event.plan, event.last_notified_status
        if (
            last_notified_status is not None
            and last_notified_status[0] == "open"
            and (state.has_begun or state.phase == "over")
        ):
            news.append(EventStarted(plan.format_name, plan.game, state.entered_bots))
        if event.current_round > event.last_reported_round:
            event.last_reported_round = event.current_round
            # At its first check, a new core continues a round that an earlier core has reported.
            if last_notified_status is not None and not plan.has_arena_format:
                news.append(
                    RoundPaired(event.current_round, event.state.round_count, event.pairs_of_current_round)
                )
        if state.has_ended:
            places = [
                FinalEventRank(bot, *place)
                for bot in state.entered_bots
                if (place := event.compute_place(bot)) is not None
            ]
            news.append(EventFinished(state.phase, tuple(sorted(places, key=lambda place: place.rank))))
        self._lobby.effects.extend(EventNews(event.name, content) for content in news)


def add_final_rank(
    event_status: EventStatus, rank: int, points: float, bot_count: int, table_path: str | UnsetType = UNSET
) -> EventStatus:
    """Return `event_status`, the status message of a finished event, with the final rank and points of one bot added.

    rank        rank of the bot, from 1
    points      points of the bot
    bot_count   number of bots in the event
    table_path  path of the final table on the server's web page; UNSET if there is none
    """
    detail = f"the event is over: place {rank} of {bot_count}, {points:g} point{'' if points == 1 else 's'}"
    return replace(event_status, detail=detail, rank=rank, points=points, table=table_path)

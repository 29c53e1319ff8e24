"""Invariants of a simulated arena, checked after every step that could break one.

A monitor keeps its own account of all commits and messages, and compares the servers' behaviour with that account.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from arena.match.referee import MAX_IGNORED_SERVER_STALL_NS
from arena.match.referee_events import DeadlinePassed, MoveReceived, decode_journal_row
from arena.match.terms import MatchTerms, decode_terms
from arena.protocol.codes import FORFEIT_REASONS, EndReason, ErrorCode
from arena.protocol.messages import (
    Accepted,
    End,
    Error,
    Hello,
    Move,
    Resign,
    Standing,
    Start,
    Status,
    Turn,
    Welcome,
)
from arena.protocol.record import Record, parse_record_line
from arena.server.core.core import Core
from arena.server.core.effects import Effect, SaveFinishedMatch, SaveNewMatch, SaveSession, SendToClient
from arena.server.core.inputs import Input, MessageReceived, TurnSent
from arena.server.edge.edge import Edge
from arena.server.ports import CorePort, MessageToCore, MessageToEdge
from arena.server.store.journal.changes import JournalChanges
from arena.server.store.lease import Lease
from arena.server.store.packing import unpack_record
from testkit.simulation.bots import HONEST_HABITS
from testkit.simulation.models import PairingModel, RatingTableModel, SuspensionModel
from testkit.simulation.world import NS_PER_MS, NS_PER_SECOND, InvariantViolated, OrderedSet, SimulatedProcess

if TYPE_CHECKING:
    from testkit.simulation.arena import SimulatedArena

FORFEIT_REASONS_BY_HABIT: dict[str, frozenset[EndReason]] = {
    # If a bot's time runs out while it is disconnected, the end reason is a disconnect.
    "late": frozenset({EndReason.TIMEOUT, EndReason.DISCONNECT}),
    "never": frozenset({EndReason.TIMEOUT, EndReason.DISCONNECT}),
    "brink": frozenset({EndReason.TIMEOUT, EndReason.DISCONNECT}),
    "twice": frozenset({EndReason.PROTOCOL_ERROR}),
    "illegal": frozenset({EndReason.ILLEGAL_MOVE}),
    "leaver": FORFEIT_REASONS - {EndReason.ILLEGAL_MOVE, EndReason.PROTOCOL_ERROR},
    "flood": frozenset({EndReason.PROTOCOL_ERROR}),
    "slow": frozenset({EndReason.TIMEOUT, EndReason.DISCONNECT, EndReason.NO_SHOW}),
    "resigner": frozenset(),
}
"""End reasons by which a bot may forfeit a match, by the bot's habit (`SCRIPTED_HABITS` in `bots.py`). Other bots must never
forfeit.
"""
MAX_UNDETECTED_STALL_NS = 300 * NS_PER_MS
"""Longest freeze of an edge (process that holds connections), in ns, that may count as thinking time of a bot.

The edge detects only longer freezes.
"""
EXPECTED_ERROR_CODES = frozenset(
    {
        ErrorCode.NO_SUCH_MATCH,
        ErrorCode.SHUTTING_DOWN,
        ErrorCode.NAME_TAKEN,
        ErrorCode.REPLACED,
        ErrorCode.SERVER_FULL,
    }
)
"""Error codes that even a bot that never misbehaves may receive, because faults of the servers cause them."""


@dataclass
class RecordedMatch:
    """Facts about one match, as the monitor has recorded them.

    opened_at_ns, closed_at_ns: virtual time of the match's start and of its end, in ns; an end of 0 means not yet
    """

    terms: MatchTerms
    opened_at_ns: int
    events: dict[int, str] = field(default_factory=dict)
    """Rows of the match's journal, by sequence number."""
    moves: dict[int, Any] = field(default_factory=dict)
    """Moves that are durable in the journal, by ply."""
    stall_ns: int = 0
    """Time, in ns, for which the server stood still during the turn whose time ran out last.

    The time is taken from the match's journal.
    """
    record: Record | None = None
    closed_at_ns: int = 0


class InvariantMonitor:
    """Observer of one arena, which records its matches, bots and messages, and checks the invariants.

    Each method raises InvariantViolated if an invariant is violated.
    """

    def __init__(self, arena: SimulatedArena) -> None:
        self.arena = arena
        self.match_by_id: dict[str, RecordedMatch] = {}
        self.finished_matches: list[RecordedMatch] = []
        """Finished matches, in the order in which their results were committed to the store."""
        self.end_reasons: Counter[str] = Counter()
        self.quota_counted_matches: dict[str, set[str]] = {}
        self.client_problem_counts: Counter[str] = Counter()
        self.acknowledged_move_count = 0
        self._remaining_quotas: dict[str, int] = {}
        """Quota of each bot: number of matches that it still accepts. Bots without a limit are absent."""
        self._hello_quotas: dict[str, int | None] = {}
        """Quota in the last hello of each bot; None if the hello set no limit."""
        self._welcome_time_ns: dict[str, int] = {}
        """Virtual time in ns of the last `welcome` (the server's answer to a hello) of each bot.

        Matches that were opened before this time do not count against the quota in the bot's last hello.
        """
        self._sent_moves: dict[tuple[str, str, int], list[Any]] = {}
        """Moves that a bot has sent, by (bot, match, ply): several if the bot sent different moves for the same ply."""
        self._accepted_moves: dict[tuple[str, str, int], Any] = {}
        self._matches_in_progress: dict[str, dict[str, None]] = {}
        """Ids of the matches whose start, but not whose end, a bot has received, by the bot's name.

        The ids of a bot are in the order of the starts.
        """
        self._received_ends: dict[tuple[str, str], tuple[Any, ...]] = {}
        self._answers_in_time: dict[tuple[str, int], tuple[SimulatedProcess, int, int]] = {}
        """First answer that came in time, for each turn, by (match, ply).

        Each value is (process of the edge that received the answer, client id, virtual time in ns).
        """
        self._sent_turns: dict[tuple[int, str], tuple[int, int, int, int]] = {}
        """Last turn (request for a move) that an edge sent, by (client id, match), to check the thinking time of the answer.

        Each value is (ply, virtual time of sending, total time for which the edge's process had been frozen until then,
        thinking time that had passed before the core sent the turn), with times in ns.
        """
        self._sent_resignations: set[tuple[str, str]] = set()
        self._rating_tables = RatingTableModel(self, arena.store.raw_connection)

    def raise_failure(self, reason: str) -> None:
        """Raise InvariantViolated with `reason`, which ends the run.

        If no failure of the run is recorded yet, record `reason` as its failure.
        """
        world = self.arena.world
        world.failure = world.failure or reason
        raise InvariantViolated(reason)

    def require(self, is_satisfied: bool, failure_reason: str) -> None:
        """Raise InvariantViolated with `failure_reason` unless `is_satisfied` is true."""
        if not is_satisfied:
            self.raise_failure(failure_reason)

    # the store

    def record_commit(self, process: SimulatedProcess, changes: JournalChanges, lease: Lease) -> None:
        """Record and check the changes to matches that a server process has committed to the store under `lease`."""
        self._check_fencing_token(
            process, lease.fencing_token - self.arena.journal_by_process[process].lease.fencing_token
        )
        for row in changes.opened_match_rows:
            if row["match"] not in self.match_by_id:
                self.match_by_id[row["match"]] = RecordedMatch(
                    decode_terms(row["terms"]), self.arena.world.now_ns
                )
        for match, seq, text in changes.match_event_rows:
            self._check_appended_event(match, seq, text)
        for row in changes.closed_match_rows:
            self._check_closed_match(row)

    def check_other_transaction(self, process: SimulatedProcess, fencing_token_increase: int) -> None:
        """Check a transaction that does not store events of matches.

        Check that the process holds the lease, and that the ratings of newly rated matches are right.

        fencing_token_increase: 1 if the transaction has taken the lease again, which raises the fencing token by 1;
            otherwise 0
        """
        self._check_fencing_token(process, fencing_token_increase)
        self._rating_tables.compare_new_matches()

    def _check_fencing_token(self, process: SimulatedProcess, fencing_token_increase: int) -> None:
        """Check that a process that writes holds the lease: its fencing token equals the fencing token in the store.

        fencing_token_increase: 1 if the process has just taken the lease again, but knows only its previous token; otherwise 0
        """
        journal = self.arena.journal_by_process.get(process)
        if journal is None:
            return  # the process has not acquired the name yet
        current_token = self.arena.store.load_fencing_token(journal.lease.server_name)
        held_token = journal.lease.fencing_token + fencing_token_increase
        self.require(
            current_token == held_token,
            f"{process} wrote with fencing token {held_token}, although the store has {current_token}",
        )

    def _check_appended_event(self, match_id: str, event_number: int, event_text: str) -> None:
        match = self.match_by_id.get(match_id)
        if match is None:
            self.raise_failure(f"an event of match {match_id:.8} was stored before the match began")
            return
        stored_text = match.events.get(event_number)
        if stored_text is not None:
            self.require(
                stored_text == event_text,
                f"event {event_number} of match {match_id:.8} was written twice, with different texts",
            )
            return
        self.require(
            match.record is None,
            f"event {event_number} of match {match_id:.8} was stored after the end of the match",
        )
        match.events[event_number] = event_text
        for _, event in decode_journal_row(event_text):
            if isinstance(event, MoveReceived):
                self._record_legal_move(match, event)
            elif isinstance(event, DeadlinePassed):
                match.stall_ns = event.server_stall_ns

    def _record_legal_move(self, match: RecordedMatch, event: MoveReceived) -> None:
        if event.ply == len(match.moves) and event.move in range(9):
            position = match.terms.game.start()
            for ply in range(event.ply):
                position = match.terms.game.play(position, match.moves[ply])
            if event.move in match.terms.game.moves(position):
                match.moves[event.ply] = event.move

    def _check_closed_match(self, row: dict[str, Any]) -> None:
        """Check the stored record of a finished match: the moves and end reason agree with the journal, and never change.

        row: row of the match that the server writes when the match ends, with the columns `match` (id) and `packed` (record)
        """
        match = self.match_by_id[row["match"]]
        record = parse_record_line(unpack_record(row["packed"]))
        if match.record is not None:
            self.require(
                match.record == record, f"match {record.match:.8} ended twice, with different records"
            )
            return
        match.record, match.closed_at_ns = record, self.arena.world.now_ns
        self.finished_matches.append(match)
        self.end_reasons[record.result.reason.value] += 1
        moves = [move.move for move in record.moves]
        late = record.result.reason is EndReason.TIMEOUT
        self.require(
            moves == [match.moves.get(ply) for ply in range(len(moves))]
            and len(match.moves) - len(moves) in (0, int(late)),
            f"match {record.match:.8} has other moves in its record than in its journal",
        )
        self._check_match_end(match, record)

    def _check_match_end(self, match: RecordedMatch, record: Record) -> None:
        """Check that the end reason of a match is possible: by its final position, or by the habit of the bot that lost."""
        game, reason = match.terms.game, record.result.reason
        position = game.start()
        for move in record.moves:
            position = game.play(position, move.move)
        outcome = game.outcome(position)
        label, reason_text = f"match {record.match:.8}", f"as {reason.value}: {record.result.detail}"
        if outcome is not None:
            winner = None if outcome.winner is None else str(outcome.winner)
            is_expected = reason.value == outcome.reason_code and (record.result.winner or None) == winner
            self.require(is_expected, f"{label} is over by {outcome.reason_code}, but ended {reason_text}")
            return
        if reason is EndReason.SERVER_FAULT:
            was_frozen = self.arena.fault_counts["server freeze"] > 0
            self.require(
                was_frozen and match.stall_ns > MAX_IGNORED_SERVER_STALL_NS, f"{label} ended {reason_text}"
            )
            return
        players = {"maxie": record.players.maxie, "minnie": record.players.minnie}
        losers = [bot for seat, bot in players.items() if seat != record.result.winner]
        if reason is EndReason.RESIGNATION:
            was_resigned = any((bot, record.match) in self._sent_resignations for bot in losers)
            self.require(was_resigned, f"{label} ended {reason_text}")
            return
        self.require(reason in FORFEIT_REASONS, f"{label} is not over by the rules, but ended {reason_text}")
        for bot in losers:
            habit = self.arena.get_habit_from_name(bot)
            self.require(
                reason in FORFEIT_REASONS_BY_HABIT.get(habit, ()), f"{label} was lost by {bot} {reason_text}"
            )
        if reason is EndReason.TIMEOUT:
            self._check_timeout(record, f"{label} was lost by {losers[0]} {reason_text}")

    def _check_timeout(self, record: Record, detail: str) -> None:
        answer_in_time = self._answers_in_time.get((record.match, len(record.moves)))
        if answer_in_time is not None:
            process, client, answered_at = answer_in_time
            has_left = not process.is_alive or client not in self.arena.list_client_ids(process)
            self.require(
                has_left,
                f"{detail}; but its edge had the answer at {answered_at / NS_PER_SECOND:.3f} s, in time",
            )

    # edges and the core

    def record_turn_sent(self, process: SimulatedProcess, turn_sent: TurnSent, clock_ran_ns: int) -> None:
        """Record a turn (request for a move) that an edge has sent to its client.

        clock_ran_ns: thinking time that had already passed when the core sent the turn, in ns, as after a reconnection
        """
        self._sent_turns[turn_sent.client_number, turn_sent.match_id] = (
            turn_sent.ply,
            self.arena.world.now_ns,
            process.stalled_ns,
            clock_ran_ns,
        )

    def record_answer(self, process: SimulatedProcess, answer: MessageReceived) -> None:
        """Record a move that an edge passes to the core. Check that the edge has not measured too long a thinking time."""
        assert isinstance(answer.message, Move)
        match = self.match_by_id.get(answer.message.match)
        if match is None or answer.elapsed_ns is None:
            return
        ply, sent_at, stalled_ns, clock_ran_ns = self._sent_turns.get(
            (answer.client_number, answer.message.match), (-1, 0, 0, 0)
        )
        if ply == answer.message.ply:
            elapsed_ns = self.arena.world.now_ns - sent_at - (process.stalled_ns - stalled_ns) + clock_ran_ns
            max_elapsed_ns = elapsed_ns + elapsed_ns // 100 + MAX_UNDETECTED_STALL_NS
            self.require(
                answer.elapsed_ns <= max_elapsed_ns,
                f"an answer of ply {ply} of match {answer.message.match:.8} took {elapsed_ns / NS_PER_MS:.1f} ms without the"
                f" stalls of its edge, but the edge counted {answer.elapsed_ns / NS_PER_MS:.1f} ms",
            )
        allowed_ms = match.terms.get_time_control("maxie").base_ms + match.terms.margin_ms
        if answer.elapsed_ns <= allowed_ms * NS_PER_MS:
            key = answer.message.match, answer.message.ply
            self._answers_in_time.setdefault(key, (process, answer.client_number, self.arena.world.now_ns))

    def check_effects(self, core: MonitoredCore, now_ns: int, effects: Sequence[Effect]) -> None:
        """Check that the core opens no match for a suspended bot. Record its new matches and the changes of bots' suspensions.

        effects: effects of one input of the core
        now_ns: time by the core's clock, in ns
        """
        suspensions = core.suspensions
        for effect in effects:
            if type(effect) is SaveNewMatch:
                for name in (effect.terms.players.maxie, effect.terms.players.minnie):
                    reason = suspensions.find_suspension_reason(name, now_ns)
                    self.require(not reason, f"{name} got a match while it was suspended: {reason}")
                    core.pairing.record_match_start(name)
            elif type(effect) is SaveFinishedMatch:
                suspensions.record_result(effect.record, now_ns)
            elif type(effect) is SaveSession:
                suspensions.end_suspension(effect.bot_name)

    def check_pairing(self, core: MonitoredCore, now_ns: int) -> None:
        """Check that a core (server that plays matches) leaves no two bots free that may play each other.

        now_ns: time by the core's clock, in ns
        """
        if core.next_deadline_ns is not None and core.next_deadline_ns <= now_ns:
            return  # a core that was frozen, or waited for the store, has yet to pair its bots
        free = {
            bot.name: self.arena.find_owner_name(bot.name)
            for bot in core._lobby.bots.values()
            if bot.can_accept_match
            and bot.preferences.accepts_pool_matches
            and not core._lobby.is_draining
            and not core.suspensions.find_suspension_reason(bot.name, now_ns)
        }
        unpaired = core.pairing.find_unpaired_bots(free, now_ns)
        self.require(not unpaired, f"free bots were not paired: {', '.join(unpaired)}")

    # bots

    def record_sent_message(self, bot_name: str, message: Any) -> None:
        """Record a message that the bot `bot_name` sends."""
        if isinstance(message, Move):
            self._sent_moves.setdefault((bot_name, message.match, message.ply), []).append(message.move)
        elif isinstance(message, Resign):
            self._sent_resignations.add((bot_name, message.match))
        elif isinstance(message, Hello):
            self._hello_quotas[bot_name] = None if message.quota is UNSET else message.quota
        elif (
            isinstance(message, Status) and message.quota is not UNSET and bot_name in self._remaining_quotas
        ):
            self._remaining_quotas[bot_name] = max(self._remaining_quotas[bot_name], message.quota)

    def check_received_message(self, bot_name: str, message: Any) -> None:
        """Check that a message to the bot `bot_name` reports only moves, matches and results that are already stored.

        Check also that an honest bot receives no unexpected error, and no match beyond its quota. Raises InvariantViolated
        if a check fails.
        """
        match message:
            case Accepted(match=match, ply=ply):
                self._check_accepted_move(bot_name, match, ply)
            case Welcome():
                self._welcome_time_ns[bot_name] = self.arena.world.now_ns
                self._set_remaining_quota(bot_name, self._hello_quotas.get(bot_name))
            case Start(match=match):
                self._check_start_of_stored_match_within_quota(bot_name, match)
            case Standing(quota=quota):
                self._set_remaining_quota(bot_name, quota)
            case End():
                self._check_received_end(bot_name, message)
            case Error() if (
                self.arena.get_habit_from_name(bot_name) in HONEST_HABITS
                and message.code not in EXPECTED_ERROR_CODES
            ):
                self.raise_failure(
                    f"{bot_name} got the unexpected error {message.code.value}: {message.detail}"
                )

    def _set_remaining_quota(self, bot_name: str, quota: int | None) -> None:
        if quota is None:
            self._remaining_quotas.pop(bot_name, None)
        else:
            self._remaining_quotas[bot_name] = quota

    def _check_start_of_stored_match_within_quota(self, bot_name: str, match_id: str) -> None:
        self.require(
            match_id in self.match_by_id,
            f"{bot_name} got a message about match {match_id:.8}, which is not stored",
        )
        started = self._matches_in_progress.setdefault(bot_name, {})
        if match_id in started or (bot_name, match_id) in self._received_ends:
            return
        started[match_id] = None
        remaining_quota = self._remaining_quotas.get(bot_name)
        if (
            remaining_quota is not None
            and self.match_by_id[match_id].opened_at_ns > self._welcome_time_ns[bot_name]
        ):
            self.require(
                remaining_quota > 0, f"{bot_name} got match {match_id:.8}, although it accepts no more"
            )
            self._remaining_quotas[bot_name] = remaining_quota - 1

    def _check_accepted_move(self, bot_name: str, match_id: str, ply: int) -> None:
        sent_moves = self._sent_moves.get((bot_name, match_id, ply))
        stored_move = self.match_by_id[match_id].moves.get(ply) if match_id in self.match_by_id else None
        if sent_moves is None:
            self.raise_failure(
                f"{bot_name} got `accepted` for ply {ply} of match {match_id:.8}, but never sent this move"
            )
            return
        self.require(
            stored_move in sent_moves,
            f"{bot_name}: ply {ply} of match {match_id:.8} was acknowledged, but is not stored",
        )
        self._accepted_moves[bot_name, match_id, ply] = stored_move
        self.acknowledged_move_count += 1

    def _check_received_end(self, bot_name: str, end: End) -> None:
        match = self.match_by_id.get(end.match)
        record = None if match is None else match.record
        if record is None:
            self.raise_failure(f"{bot_name} got the end of match {end.match:.8}, which is not stored")
            return
        received_end = (end.winner, end.reason, list(end.moves))
        stored_end = (record.result.winner, record.result.reason, [move.move for move in record.moves])
        self.require(
            received_end == stored_end,
            f"{bot_name} got another end of match {end.match:.8} than the stored one",
        )
        for ply, move in enumerate(stored_end[2]):
            accepted = self._accepted_moves.pop((bot_name, end.match, ply), move)
            self.require(
                accepted == move,
                f"{bot_name}: ply {ply} of match {end.match:.8} is not the acknowledged move",
            )
            self._sent_moves.pop((bot_name, end.match, ply), None)
        self._received_ends[bot_name, end.match] = received_end
        self._matches_in_progress.get(bot_name, {}).pop(end.match, None)

    def record_lost_session(self, bot_name: str) -> None:
        """Record that a bot has given up its session, so that it need not receive the results of its matches in progress."""
        self._matches_in_progress.pop(bot_name, None)

    def count_client_problem(self, log_line: str) -> None:
        """Count a problem that the real client reports, in `client_problem_counts` by kind of problem.

        log_line: report of the problem; the text before the first colon is the kind
        """
        self.client_problem_counts[log_line.partition(":")[0][:60]] += 1

    # checks at intervals and at the end

    def check_pairing_and_memory(self) -> None:
        """Check that the server cores, which play the matches, pair their free bots.

        Check also that the servers hold no more objects than their connections and matches need.
        """
        for server in self.arena.servers:
            process = server.process
            if not process.is_alive:
                continue
            for edge in self.arena.edges_by_process.get(process, ()):
                self._check_edge_memory(process, edge)
            core = self.arena.core_by_process.get(process)
            if core is not None:
                self._check_core_memory(process, core)
                self.check_pairing(core, process.now_ns())

    def _check_edge_memory(self, process: SimulatedProcess, edge: Edge) -> None:
        max_clients = len(self.arena.bots) + 2 * len(process.connection_ends)
        self._require_at_most(process, "connections of its edge", len(edge.connections), max_clients)
        self._require_at_most(process, "clients of its edge", len(edge._clients), len(edge.connections) + 1)
        following = {
            topic
            for connection in edge.connections
            if getattr(connection, "session", None) is not None
            for topic in connection.session._topics  # type: ignore[union-attr]
        }
        self._require_at_most(process, "topics of its edge", len(edge._topics), len(following))

    def _check_core_memory(self, process: SimulatedProcess, core: Core) -> None:
        lobby, bots = core._lobby, len(self.arena.bots)
        self._require_at_most(process, "bots of its core", len(lobby.bots), bots)
        self._require_at_most(process, "clients of its core", len(lobby.clients), 4 * bots + 8)
        self._require_at_most(process, "deadlines of its core", len(lobby.deadlines), 3 * bots + 8)
        self._require_at_most(process, "matches of its core", core.match_count, bots)

    def _require_at_most(
        self, process: SimulatedProcess, object_kind: str, count: int, max_count: int
    ) -> None:
        self.require(count <= max_count, f"{process} holds {count} {object_kind}: more than {max_count}")

    def check_ratings_after_season_closing(self) -> None:
        """Check the rating tables of a rating season that the servers have just closed."""
        self._rating_tables.close_season()

    def check_end_state(self) -> None:
        """Check that all matches have ended, that the servers have counted them, and that their bots know the results.

        Check also that the servers hold no bots, clients or matches any more.
        """
        unfinished = [name for name, match in self.match_by_id.items() if match.record is None]
        self.require(not unfinished, f"{len(unfinished)} matches never ended, such as {unfinished[:3]}")
        for name, matches in self._matches_in_progress.items():
            uninformed = list(matches)
            self.require(
                not uninformed,
                f"{name} never got the end of {len(uninformed)} matches, such as {uninformed[:1]}",
            )
        for (name, match, ply), move in self._accepted_moves.items():
            record = self.match_by_id[match].record
            recorded_move = None if record is None or len(record.moves) <= ply else record.moves[ply].move
            self.require(
                recorded_move == move,
                f"{name}: ply {ply} of match {match:.8} was acknowledged, but is not in the record",
            )
        self._rating_tables.compare_all_rows()
        for server in self.arena.servers:
            core = self.arena.core_by_process.get(server.process)
            if server.process.is_alive and core is not None:
                core_counts = len(core._lobby.bots), len(core._lobby.clients), core.match_count
                self.require(
                    core_counts == (0, 0, 0),
                    f"{server.process} holds {core_counts} bots, clients and matches at the end",
                )
            for edge in self.arena.edges_by_process.get(server.process, ()):
                if server.process.is_alive:
                    counts = len(edge.connections), len(edge._clients), len(edge._topics)
                    self.require(
                        counts == (0, 0, 0),
                        f"{server.process} holds {counts} connections, clients and topics at the end",
                    )


class MonitoredCore(Core):
    """Server core (the part that plays matches) that also passes the effects of each input to the monitor."""

    def __init__(self, monitor: InvariantMonitor, process: SimulatedProcess, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.suspensions = SuspensionModel()
        self.pairing = PairingModel()
        self._monitor = monitor
        monitor.arena.core_by_process[process] = self

    def handle_input(self, input: Input, now_ns: int) -> list[Effect]:
        effects = super().handle_input(input, now_ns)
        self._monitor.check_effects(self, now_ns, effects)
        self._monitor.check_pairing(self, now_ns)
        return effects


class MonitoredEdge(Edge):
    """Edge (the part of a server that holds connections) that also shows its turns and the bots' answers to the monitor."""

    def __init__(
        self,
        monitor: InvariantMonitor,
        process: SimulatedProcess,
        edge_number: int,
        core: CorePort,
        *arguments: Any,
        **keywords: Any,
    ) -> None:
        super().__init__(edge_number, MonitoredCorePort(monitor, process, core, self), *arguments, **keywords)
        self.connections = OrderedSet()  # type: ignore[assignment]
        self.clock_ran_ns: dict[tuple[int, str], int] = {}
        """Thinking time that had already passed when the core sent a turn, in ns, by (client id, match).

        The time is above 0 if, for example, the core sends a turn again after a reconnection, because the clock runs on.
        """
        monitor.arena.edges_by_process.setdefault(process, []).append(self)

    def deliver_from_core(self, messages: Sequence[MessageToEdge]) -> None:
        for message in messages:
            if type(message) is SendToClient and type(message.message) is Turn:
                self.clock_ran_ns[message.client_number, message.message.match] = message.clock_ran_ns
        super().deliver_from_core(messages)


class MonitoredCorePort:
    """Stand-in for the core of a `MonitoredEdge`, which shows the messages to the monitor before it passes them on."""

    def __init__(
        self, monitor: InvariantMonitor, process: SimulatedProcess, core: CorePort, edge: MonitoredEdge
    ) -> None:
        self._edge = edge
        self._monitor = monitor
        self._process = process
        self._core = core

    def submit(self, message: MessageToCore) -> None:
        """Show a message to the monitor, and pass it to the core."""
        if type(message) is MessageReceived and type(message.message) is Move:
            self._monitor.record_answer(self._process, message)
        elif type(message) is TurnSent:
            clock_ran_ns = self._edge.clock_ran_ns.pop((message.client_number, message.match_id), 0)
            self._monitor.record_turn_sent(self._process, message, clock_ran_ns)
        self._core.submit(message)

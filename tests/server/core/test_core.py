"""Properties of the core for random sequences of inputs, and of its small parts."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, TypeVar

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from arena.match.referee import Referee
from arena.protocol.codes import EndReason
from arena.protocol.messages import (
    Accept,
    Accepted,
    Browse,
    Challenge,
    ClientMessage,
    Decline,
    Hello,
    Listing,
    Move,
    Ping,
    Ready,
    Resign,
    Start,
    Status,
    Turn,
    Unwatch,
    Watch,
    Withdraw,
)
from arena.protocol.timecontrol import TimeControl
from arena.server.core.core import Core
from arena.server.core.deadlines import DeadlineSchedule
from arena.server.core.effects import AppendMatchEvent, SaveFinishedMatch, SaveNewMatch
from arena.server.core.ids import IdGenerator
from arena.server.core.inputs import (
    ApplySettings,
    ClientAdmitted,
    EdgeDisconnected,
    EdgeResynced,
    HouseEngineFailed,
    MatchRequested,
    MessageReceived,
    StartDraining,
    StoreRecovered,
    get_edge_number,
)
from arena.server.core.limits import ServerLimits
from arena.server.core.rate_limit import MAX_RATE_LIMITED_KEYS, RateLimit
from arena.server.core.settings import HouseEngine
from tests.properties import examples
from tests.server.core.arena import (
    FAST,
    LINE,
    MS,
    POOL,
    SEED,
    Arena,
    Peer,
    arena_in_match,
    arena_with_two_bots,
    encode_effects,
    play_line,
)
from tests.server.matches import game_of, spec

HOUSE = "house-greedy"
NAMES = ["anna", "bert", "carl", "guest-1", HOUSE]


T = TypeVar("T")


class Script:
    """Executor of random steps: each step is an action of a client, an edge or the host, and may be invalid."""

    def __init__(self, **settings: Any) -> None:
        self.arena = Arena(
            pool=replace(POOL, ready_timeout_ms=2_000),
            concurrency=2,
            house_engines=(HouseEngine(HOUSE, "greedy"),),
            reconnect_grace_ms=1_000,
            max_edge_transit_ns=20 * MS,
            limits=ServerLimits(matches_per_bot=2, watched=2, open_challenges=2),
            **settings,
        )
        self.peers: list[Peer] = []

    def run(self, steps: list[tuple[str, int, int]]) -> Arena:
        for step in steps:
            self.step(*step)
        return self.arena

    def step(self, action: str, bot: int, number: int) -> None:
        """Execute one step. `number` chooses among the variants of the action."""
        name = NAMES[bot]
        mine = [peer for peer in self.peers if peer.name == name]
        if action == "enter" or not mine:
            hello = Hello(name, matches=1 + number % 3, pool=number < 8)
            options: dict[str, Any] = {
                "is_guest": name == "guest-1",
                "runs_on_server_machine": name == HOUSE,
                "owner": str(number % 2),
            }
            self.peers.append(self.arena.connect(hello, edge=number % 3, **options))
            return
        peer = mine[-1]
        if action in HOST:
            HOST[action](self, peer, number)
        else:
            spent = None if number == 7 else number * 10 * MS
            peer.send(MESSAGES[action](self, peer, number), spent)

    # messages

    def pick_own_match(self, peer: Peer, number: int) -> str:
        """Return the id of one of the last two matches of a bot."""
        return pick([start.match for start in peer.all(Start)][-2:] or ["none"], number)

    def pick_match(self, _peer: Peer, number: int) -> str:
        """Return the id of a match in progress."""
        return pick([each.match for each in self.listing().matches] or ["none"], number)

    def pick_challenge(self, _peer: Peer, number: int) -> str:
        """Return the id of an open challenge."""
        return pick([each.challenge for each in self.listing().challenges] or ["c1"], number)

    def listing(self) -> Listing:
        return self.arena.listing()

    def make_move(self, peer: Peer, number: int) -> Move:
        turns = peer.all(Turn)
        if not turns or number > 7:
            return Move(self.pick_own_match(peer, number), number, number)
        free = [cell for cell in range(9) if cell not in turns[-1].moves]
        return Move(turns[-1].match, turns[-1].ply, pick(free, number))

    def make_challenge(self, peer: Peer, number: int) -> Challenge:
        opponent = NAMES[number % 5] if number < 8 else ""
        game = "tictactoe" if number else "chess"
        return Challenge(opponent, game=game, time_control=FAST, rated=peer.name != "guest-1")

    # actions of hosts, edges and connections

    def reconnect(self, peer: Peer, number: int) -> None:
        if peer.received:
            self.peers.append(peer.reconnect(edge=number % 3))

    def request_match(self, peer: Peer, number: int) -> None:
        other = NAMES[number % 4]
        self.arena.request_match(peer.name, other if other != peer.name else "dora", "2+0.1")

    def get_ready(self, _peer: Peer, _number: int) -> None:
        """Let every bot send `ready` for its last two matches."""
        for peer in [peer for peer in self.peers if peer.closed is None]:
            for start in peer.all(Start)[-2:]:
                peer.send(Ready(start.match))

    def answer_turns(self, _peer: Peer, number: int) -> None:
        """Let every bot answer its last turn."""
        for peer in [peer for peer in self.peers if peer.closed is None]:
            if peer.all(Turn):
                peer.send(self.make_move(peer, number % 8), number * 10 * MS)

    def resync_edge(self, _peer: Peer, number: int) -> None:
        edge = number % 3
        connected = [
            each
            for each in self.peers
            if get_edge_number(each.client) == edge and each.received and not each.closed
        ]
        entries = [
            ClientAdmitted(each.client, replace(each.hello, session=each.session), "x", "x", "unused")
            for each in connected
        ]
        self.arena.handle(EdgeResynced(edge, entries[number // 5 :]))

    def reconfigure(self, _peer: Peer, number: int) -> None:
        pool = None if number < 2 else replace(POOL, rematch_pause_ms=number * 100)
        self.arena.handle(ApplySettings(replace(self.arena.settings, pool=pool)))


def pick(choices: Sequence[T], number: int) -> T:
    return choices[number % len(choices)]


MESSAGES: dict[str, Callable[[Script, Peer, int], ClientMessage]] = {
    "move": Script.make_move,
    "ready": lambda script, peer, number: Ready(script.pick_own_match(peer, number)),
    "resign": lambda script, peer, number: Resign(script.pick_own_match(peer, number)),
    "challenge": Script.make_challenge,
    "accept": lambda script, peer, number: Accept(script.pick_challenge(peer, number)),
    "decline": lambda script, peer, number: Decline(script.pick_challenge(peer, number)),
    "withdraw": lambda script, peer, number: Withdraw(script.pick_challenge(peer, number)),
    "watch": lambda script, peer, number: Watch(script.pick_match(peer, number)),
    "unwatch": lambda script, peer, number: Unwatch(script.pick_match(peer, number)),
    "browse": lambda _script, _peer, _number: Browse(),
    "ping": lambda _script, _peer, _number: Ping(),
    "hello": lambda _script, _peer, _number: Hello("again"),
    "status": lambda _script, _peer, number: Status(number) if number < 4 else Status(),
}
WAITS = (1, 10, 50, 100, 500, 1_000, 2_000, 4_000, 30_000, 70_000)
HOST: dict[str, Callable[[Script, Peer, int], object]] = {
    "return": Script.reconnect,
    "leave": lambda _script, peer, number: number > 2 or peer.disconnect(),
    "fault": lambda _script, peer, number: number or peer.disconnect("a text frame"),
    "wait": lambda script, _peer, number: script.arena.wait(WAITS[number]),
    "play": Script.request_match,
    "get ready": Script.get_ready,
    "answer turns": Script.answer_turns,
    "edge lost": lambda script, _peer, number: number > 2 or script.arena.handle(EdgeDisconnected(number)),
    "edge resynced": Script.resync_edge,
    "store recovered": lambda script, _peer, _number: script.arena.handle(StoreRecovered()),
    "reconfigure": Script.reconfigure,
    "house lost": lambda script, _peer, number: number or script.arena.handle(HouseEngineFailed(HOUSE)),
    "drain": lambda script, _peer, number: number or script.arena.handle(StartDraining()),
}
KINDS = [
    *MESSAGES,
    *HOST,
    *["get ready"] * 4,
    *["answer turns"] * 10,
    *["challenge", "accept", "watch", "wait"] * 2,
]
STEPS = st.lists(
    st.tuples(st.sampled_from(KINDS), st.integers(0, len(NAMES) - 1), st.integers(0, 9)),
    min_size=40,
    max_size=150,
)


def finish(script: Script) -> Arena:
    """Disconnect all clients, and wait until all deadlines have passed."""
    arena = script.arena
    for peer in script.peers:
        peer.disconnect()
    arena.wait(2_000_000)
    return arena


@examples(150)
@given(STEPS)
def test_every_match_ends_and_no_state_is_left_after_any_inputs(steps: list[tuple[str, int, int]]) -> None:
    script = Script()
    script.run(steps)
    arena = finish(script)
    assert arena.core.match_count == 0
    assert not arena.unfinished()
    lobby = vars(arena.core)["_lobby"]
    assert (lobby.bots, lobby.clients, len(vars(arena.core)["_open_challenges"])) == ({}, {}, 0)
    assert len(lobby.deadlines) == 0
    matches = vars(arena.core)["_matches"]
    assert matches.total_load == 0
    assert lobby.is_draining or not vars(matches)["_pending_terms"]


@examples(100)
@given(STEPS)
def test_the_same_inputs_give_the_same_effects_byte_for_byte(steps: list[tuple[str, int, int]]) -> None:
    arena = Script().run(steps)
    again = Core(arena.settings, SEED, 0)
    effects = [effect for now, each in arena.inputs for effect in again.handle_input(each, now)]
    assert encode_effects(effects) == encode_effects(arena.effects)


@examples(100)
@given(STEPS)
# A house engine that has not answered an offered challenge yet is challenged by the same bot once more.
@example(
    [
        *[
            ("move", 0, 0),
            ("move", 4, 0),
            ("return", 0, 0),
            ("wait", 0, 2),
            ("challenge", 0, 4),
            ("play", 0, 0),
        ],
        *[("wait", 0, 6), ("accept", 4, 0), ("challenge", 0, 4)],
    ]
)
def test_limits_are_obeyed_and_replaying_the_journal_gives_every_record(
    steps: list[tuple[str, int, int]],
) -> None:
    script = Script()
    arena = script.arena
    for step in steps:
        script.step(*step)
        lobby = vars(arena.core)["_lobby"]
        for bot in lobby.bots.values():
            assert len(bot.seats_by_match_id) <= 2, "more matches than the host allows"
            assert bot.match_quota is None or bot.match_quota >= 0
        matchmaker = vars(arena.core)["_matchmaker"]
        matchmaker.update_waiting_bots()
        waiting = {bot.name for bot in lobby.bots.values() if matchmaker._should_wait_for_pairing(bot)}
        assert set(matchmaker.waiting_bot_names) == waiting, (
            "the incremental list equals a full check of all bots"
        )
    finish(script)
    by_match: dict[str, list[Any]] = {}
    terms = {each.terms.match: each.terms for each in arena.of(SaveNewMatch)}
    for each in arena.of(AppendMatchEvent):
        by_match.setdefault(each.match_id, []).extend([each.turn_start] if each.turn_start else [])
        by_match[each.match_id].append((each.time_ns, each.event))
        assert each.event_number == len(by_match[each.match_id])
    for record in arena.records:
        referee = Referee(terms[record.match])
        for at, event in by_match[record.match]:
            referee.handle_event(event, at)
        assert referee.result is not None
        assert (referee.result.reason, referee.moves) == (record.result.reason, record.moves)
    assert len(arena.records) == len(terms)


@examples(100)
@given(STEPS)
def test_no_acknowledged_move_is_lost_by_a_crash(steps: list[tuple[str, int, int]]) -> None:
    script = Script()
    arena = script.run(steps)
    acknowledged: dict[str, int] = {}
    for peer in arena.peers.values():
        for accepted in peer.all(Accepted):
            acknowledged[accepted.match] = max(acknowledged.get(accepted.match, -1), accepted.ply)
    live = {each.terms.match: each for each in arena.unfinished()}
    after = arena.restore()
    assert {each.match for each in after.listing().matches} == set(live)
    for match in live:
        before, view = arena.view(match), after.view(match)
        assert before.moves == view.moves
        assert len(view.moves) > acknowledged.get(match, -1)
    after.wait(100_000)
    assert after.core.match_count == 0, "bots that do not return lose"


@examples(100)
@given(st.lists(st.tuples(st.integers(0, 1_050), st.integers(0, 200)), min_size=9, max_size=9))
def test_no_bot_loses_on_time_if_its_edge_measured_an_answer_in_time(
    plies: list[tuple[int, int]],
) -> None:
    """The time from the edge to the core varies up to `max_edge_transit_ns`."""
    arena, anna, bert, match = arena_in_match("1/move", margin=50, max_edge_transit_ns=200 * MS)
    # These cells fill the board without a line.
    for ply, ((spent, way), cell) in enumerate(zip(plies, (0, 1, 2, 4, 3, 5, 7, 6, 8), strict=True)):
        arena.wait(spent + way - 0.001)
        (anna, bert)[ply % 2].send(Move(match, ply, cell), spent * MS)
    assert arena.records[0].result.reason is EndReason.BOARD_FULL


def test_a_restored_match_continues_where_its_journal_ends() -> None:
    arena, anna, bert, match = arena_in_match("1+0", margin=50, reconnect_grace_ms=2_000)
    play_line(anna, bert, LINE[:2])
    arena.wait(700)
    after = arena.restore()
    again = {peer.name: after.connect(replace(peer.hello, session=peer.session)) for peer in (anna, bert)}
    turn = again["anna"].receive(Turn)
    assert (turn.match, turn.moves, turn.clocks.maxie_ms) == (match, [0, 3], 1_000), "the turn restarts"
    for ply in range(2, len(LINE)):
        again[("anna", "bert")[ply % 2]].send(Move(match, ply, LINE[ply]))
    (record,) = after.records
    assert [each.move for each in record.moves] == list(LINE)
    assert record.started == arena.of(SaveNewMatch)[0].start_time_utc


def test_the_next_core_closes_an_ended_match_whose_record_was_not_stored() -> None:
    arena, anna, _, match = arena_in_match()
    anna.send(Resign(match))
    arena.effects = [each for each in arena.effects if not isinstance(each, SaveFinishedMatch)]
    after = arena.restore()
    assert [(each.match, each.result.reason) for each in after.records] == [(match, EndReason.RESIGNATION)]
    assert after.core.match_count == 0


# parts of the core


@given(
    st.lists(st.tuples(st.sampled_from(["schedule", "cancel", "pop"]), st.integers(0, 5), st.integers(0, 50)))
)
def test_deadlines_behave_like_a_plain_dictionary(steps: list[tuple[str, int, int]]) -> None:
    deadlines, known = DeadlineSchedule(), dict[str, int]()
    for action, number, at in steps:
        name = str(number)
        if action == "schedule":
            deadlines.schedule_check(("bot", name), at)
            known[name] = min(at, known.get(name, at))
        elif action == "cancel":
            deadlines.cancel_check(("bot", name))
            known.pop(name, None)
        else:
            due = sorted((when, each) for each, when in known.items() if when <= at)
            assert deadlines.pop_due_keys(at) == [("bot", each) for _, each in due]
            known = {each: when for each, when in known.items() if when > at}
        assert deadlines.next_check_time_ns == min(known.values(), default=None)
        assert len(deadlines) == len(known)


def test_cancelled_deadlines_take_no_memory() -> None:
    deadlines = DeadlineSchedule()
    for number in range(10_000):
        deadlines.schedule_check(("match", str(number)), number)
        deadlines.cancel_check(("match", str(number)))
    assert len(vars(deadlines)["_heap"]) < 200


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 600), st.integers(0, 300)), max_size=60))
def test_a_rate_limit_allows_its_burst_then_its_rate_and_returns_the_time_to_wait(
    events: list[tuple[str, int, int]],
) -> None:
    limit, now, spent = RateLimit(400), 0.0, Counter[str]()
    for key, cost, gap in events:
        now += gap
        if wait := limit.charge_or_compute_wait_time(key, cost, now):
            now += wait
            assert limit.charge_or_compute_wait_time(key, cost, now) == 0
        assert spent[key] + min(cost, 400) <= now + 400
        spent[key] += cost


def test_a_rate_limit_forgets_the_least_recently_used_keys() -> None:
    limit = RateLimit(400)
    assert limit.charge_or_compute_wait_time("first", 400, 0) == 0
    for number in range(MAX_RATE_LIMITED_KEYS):
        assert limit.charge_or_compute_wait_time(f"key {number}", 1, 0) == 0
        assert number or limit.charge_or_compute_wait_time("first", 400, 0) == 400
    assert limit.charge_or_compute_wait_time("first", 400, 0) == 0


def test_random_ids_of_one_seed_repeat_and_differ_from_each_other() -> None:
    draws, again = IdGenerator(b"seed"), IdGenerator(b"seed")
    ids = [draws.make_hex_id() for _ in range(1000)]
    assert ids == [again.make_hex_id() for _ in range(1000)]
    assert len(set(ids)) == 1000
    assert {len(each) for each in ids} == {32}
    assert IdGenerator(b"other").make_hex_id() not in ids


@pytest.mark.parametrize("watched", [False, True])
def test_a_move_takes_few_calls(watched: bool) -> None:
    """A move takes 9 calls in the core and 18 in the referee. Calls of the game's rules do not count."""
    arena, anna, bert = arena_with_two_bots()
    terms = replace(spec("anna", "bert"), game=game_of("riskless"), match="m" * 32)
    arena.handle(MatchRequested(replace(terms, time_control=TimeControl.parse("60+1"))))
    for peer in (anna, bert):
        peer.send(Ready("m" * 32))
    if watched:
        arena.connect(Hello("eve", role="spectator")).send(Watch("m" * 32))
    said = MessageReceived(anna.client, Move("m" * 32, 0, [0, 1]), 0, 0)
    calls: list[str] = []

    def count(frame: FrameType, event: str, _arg: object) -> None:
        # Calls outside the package do not count, such as those of probes (`tests.mutation_testing`).
        if event == "call" and re.search("/arena/(?!games/)", frame.f_code.co_filename):
            calls.append(frame.f_code.co_qualname)

    sys.setprofile(count)
    try:
        arena.core.handle_input(said, 0)
    finally:
        sys.setprofile(None)
    assert len(calls) <= (40 if watched else 27), calls

"""Properties of the core as a whole, whatever it is given."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from arena.match.referee import Referee
from arena.protocol.codes import EndReason
from arena.protocol.messages import (
    Accept,
    Accepted,
    Browse,
    Challenge,
    Decline,
    End,
    Hello,
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
from arena.server.core.deadlines import Deadlines
from arena.server.core.draws import Draws
from arena.server.core.effects import DURABLE, Append, CloseMatch, OpenMatch, PlayRefused
from arena.server.core.inputs import (
    Drain,
    EdgeGone,
    EdgeHere,
    Enter,
    HouseLost,
    Kick,
    Play,
    Reconfigure,
    Said,
    StoreBack,
)
from arena.server.core.rate_limit import RateLimit
from arena.server.core.settings import HouseEngine
from arena.protocol.codes import Code
from tests.server.core.arena import FAST, LINE, MS, POOL, SEED, Arena, Peer, encoded, play_line
from tests.server.matches import game_of, spec

HOUSE = "house-greedy"
NAMES = ["anna", "bert", "carl", "guest-1", HOUSE]
KINDS = [
    *["enter", "return", "leave", "ready", "move", "move", "move", "wait", "challenge", "accept"],
    *["fault", "resign", "decline", "withdraw", "watch", "unwatch", "browse", "ping", "status", "play"],
    *["edge gone", "edge here", "store back", "kick", "reconfigure", "house lost", "hello", "drain"],
]
STEP = st.tuples(st.sampled_from(KINDS), st.integers(0, 4), st.integers(0, 9))
STEPS = st.lists(STEP, max_size=120)


class Script:
    """Clients of which each does one thing after another, sensible or not."""

    def __init__(self, **given: Any) -> None:
        self.arena = Arena(
            pool=replace(POOL, ready_ms=2_000),
            concurrency=2,
            house=(HouseEngine(HOUSE, "greedy"),),
            grace_ms=1_000,
            transit_ns=20 * MS,
            matches_per_bot=2,
            watched=2,
            open_challenges=2,
            **given,
        )
        self.peers: list[Peer] = []

    def run(self, steps: list[tuple[str, int, int]]) -> Arena:
        for step in steps:
            self.step(*step)
        return self.arena

    def step(self, what: str, who: int, number: int) -> None:
        arena = self.arena
        name = NAMES[who]
        mine = [peer for peer in self.peers if peer.name == name]
        if what == "enter" or not mine:
            hello = Hello(name, matches=1 + number % 3, pool=number < 8)
            options = {"guest": name == "guest-1", "local": name == HOUSE, "owner": str(number % 2)}
            self.peers.append(arena.enter(hello, edge=number % 3, **options))
            return
        peer = mine[-1]
        ids = [start.match for start in peer.all(Start)][-2:] or ["none"]
        match = ids[number % len(ids)]
        open_ids = [each.challenge for each in arena.core.listing(arena.now).challenges] or ["c1"]
        challenge = open_ids[number % len(open_ids)]
        everywhere = [each.match for each in arena.core.listing(arena.now).matches] or ["none"]
        match what:
            case "return":
                if peer.closed is None or peer.heard:
                    self.peers.append(peer.back(edge=number % 3))
            case "leave":
                peer.leave()
            case "fault":
                peer.leave("a text frame") if number == 0 else peer.leave()
            case "ready":
                peer.say(Ready(match))
            case "move":
                turns = peer.all(Turn)
                if turns and number < 8:
                    turn = turns[-1]
                    free = [cell for cell in range(9) if cell not in turn.moves]
                    spent = None if number == 7 else number * 10 * MS
                    peer.say(Move(turn.match, turn.ply, free[number % len(free)]), spent)
                else:
                    peer.say(Move(match, number, number))
            case "resign":
                peer.say(Resign(match))
            case "wait":
                arena.wait((1, 10, 50, 100, 500, 1_000, 2_000, 4_000, 30_000, 70_000)[number])
            case "challenge":
                opponent = NAMES[number % 5] if number < 8 else ""
                game = "tictactoe" if number else "chess"
                rated = name != "guest-1"
                peer.say(Challenge(opponent, game=game, time_control=FAST, rated=rated))
            case "accept":
                peer.say(Accept(challenge))
            case "decline":
                peer.say(Decline(challenge))
            case "withdraw":
                peer.say(Withdraw(challenge))
            case "watch":
                peer.say(Watch(everywhere[number % len(everywhere)]))
            case "unwatch":
                peer.say(Unwatch(everywhere[number % len(everywhere)]))
            case "browse":
                peer.say(Browse())
            case "ping":
                peer.say(Ping())
            case "hello":
                peer.say(Hello("again"))
            case "status":
                peer.say(Status(number) if number < 4 else Status())
            case "play":
                arena.play(name, NAMES[number % 4] if NAMES[number % 4] != name else "dora", "2+0.1")
            case _:
                self._host(what, peer, number)

    def _host(self, what: str, peer: Peer, number: int) -> None:
        arena = self.arena
        match what:
            case "edge gone":
                arena.give(EdgeGone(number % 3))
            case "edge here":
                edge = number % 3
                here = [each for each in self.peers if each.client >> 40 == edge and each.closed is None]
                facts = [
                    Enter(each.client, replace(each.hello, session=each.session), "x", "x", "unused")
                    for each in here
                    if each.heard
                ]
                arena.give(EdgeHere(edge, facts[number // 5 :]))
            case "store back":
                arena.give(StoreBack())
            case "kick":
                arena.give(Kick(peer.name, Code.BAD_TOKEN, "gone"))
            case "reconfigure":
                pool = None if number < 2 else replace(POOL, pause_ms=number * 100)
                arena.give(Reconfigure(replace(arena.settings, pool=pool)))
            case "house lost" if number == 0:
                arena.give(HouseLost(HOUSE))
            case "drain" if number == 0:
                arena.give(Drain())


def finish(script: Script) -> Arena:
    """Have everybody leave, and wait as long as anything may take."""
    arena = script.arena
    for peer in script.peers:
        peer.leave()
    arena.wait(2_000_000)
    return arena


@settings(max_examples=150, deadline=None)
@given(STEPS)
def test_whatever_happens_every_match_ends_and_nothing_is_left(steps: list[tuple[str, int, int]]) -> None:
    script = Script()
    script.run(steps)
    arena = finish(script)
    assert arena.core.matches == 0
    assert not arena.unfinished()
    lobby = vars(arena.core)["_lobby"]
    assert (lobby.bots, lobby.clients, len(vars(arena.core)["_table"])) == ({}, {}, 0)
    assert len(lobby.deadlines) == 0
    assert vars(arena.core)["_load"] == 0
    assert not vars(arena.core)["_plays"]


@settings(max_examples=100, deadline=None)
@given(STEPS)
def test_the_same_inputs_give_the_same_effects_byte_for_byte(steps: list[tuple[str, int, int]]) -> None:
    script = Script()
    arena = finish(script) if not steps else script.run(steps)
    again = Core(arena.settings, SEED, 0)
    effects = [effect for now, given in arena.inputs for effect in again.handle(given, now)]
    assert encoded(effects) == encoded(sorted_as_given(arena))


def sorted_as_given(arena: Arena) -> list[Any]:
    """The effects of an arena in the order of its inputs: an input that follows from an effect is given within it."""
    replayed = Core(arena.settings, SEED, 0)
    return [effect for now, given in arena.inputs for effect in replayed.handle(given, now)]


@settings(max_examples=100, deadline=None)
@given(STEPS)
def test_limits_hold_and_the_journal_replays_to_every_record(steps: list[tuple[str, int, int]]) -> None:
    script = Script()
    arena = script.arena
    for step in steps:
        script.step(*step)
        lobby = vars(arena.core)["_lobby"]
        for bot in lobby.bots.values():
            assert len(bot.matches) <= 2, "more matches than the host allows"
            assert bot.quota is None or bot.quota >= 0
    finish(script)
    by_match: dict[str, list[Any]] = {}
    terms = {each.terms.match: each.terms for each in arena.of(OpenMatch)}
    for each in arena.of(Append):
        by_match.setdefault(each.match, []).extend([each.turn] if each.turn else [])
        by_match[each.match].append((each.at, each.event))
        assert each.seq == len(by_match[each.match])
    for record in arena.records:
        referee = Referee(terms[record.match])
        for at, event in by_match[record.match]:
            referee.handle(event, at)
        assert referee.result is not None
        assert (referee.result.reason, referee.moves) == (record.result.reason, record.moves)
    assert len(arena.records) == len(arena.of(CloseMatch)) == len(terms)


@settings(max_examples=100, deadline=None)
@given(STEPS)
def test_no_acknowledged_move_is_lost_by_a_crash(steps: list[tuple[str, int, int]]) -> None:
    script = Script()
    arena = script.run(steps)
    acknowledged: dict[str, int] = {}
    for peer in arena.peers.values():
        for accepted in peer.all(Accepted):
            acknowledged[accepted.match] = max(acknowledged.get(accepted.match, -1), accepted.ply)
    live = {each.terms.match: each for each in arena.unfinished()}
    after = arena.restored()
    assert {each.match for each in after.core.listing(0).matches} == set(live)
    for match in live:
        before, view = arena.core.view(match, arena.now), after.core.view(match, 0)
        assert before is not None
        assert view is not None
        assert before.moves == view.moves
        assert len(view.moves) > acknowledged.get(match, -1)
    after.wait(100_000)
    assert after.core.matches == 0, "those who do not come back lose"


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1_050), st.integers(0, 200)), min_size=9, max_size=9))
def test_nobody_is_flagged_who_answered_in_time_as_its_edge_measured(
    plies: list[tuple[int, int]],
) -> None:
    """However long the way from the edge to the core takes, within what is allowed for it."""
    arena = Arena(transit_ns=200 * MS)
    anna, bert = arena.enter("anna"), arena.enter("bert")
    match = arena.begin(anna, bert, "1/move", margin=50)
    # A whole board without a line.
    for ply, ((spent, way), cell) in enumerate(zip(plies, (0, 1, 2, 4, 3, 5, 7, 6, 8), strict=True)):
        arena.wait(spent + way - 0.001)
        (anna, bert)[ply % 2].say(Move(match, ply, cell), spent * MS)
    assert arena.records[0].result.reason is EndReason.BOARD_FULL


def test_durable_effects_come_before_what_is_told_of_them() -> None:
    arena = Arena()
    anna, bert = arena.enter("anna"), arena.enter("bert")
    arena.begin(anna, bert)
    for given in (Said(anna.client, Move("x", 0, 0), 0),):
        assert not any(isinstance(each, DURABLE) for each in arena.give(given))
    play_line(anna, bert)
    last = [type(each) for each in arena.effects if not isinstance(each, PlayRefused)][-5:]
    assert last.index(CloseMatch) > 0


def test_a_match_goes_on_where_its_journal_ends() -> None:
    arena = Arena(grace_ms=2_000)
    anna, bert = arena.enter("anna"), arena.enter("bert")
    match = arena.begin(anna, bert, "1+0", margin=50)
    play_line(anna, bert, LINE[:2])
    arena.wait(700)
    after = arena.restored()
    again = {peer.name: after.enter(replace(peer.hello, session=peer.session)) for peer in (anna, bert)}
    turn = again["anna"].hear(Turn)
    assert (turn.match, turn.moves, turn.clocks.maxie_ms) == (match, [0, 3], 1_000), "it begins anew"
    play_line_from(after, again, match, 2)
    (record,) = after.records
    assert [each.move for each in record.moves] == list(LINE)
    assert record.started == arena.of(OpenMatch)[0].started


def play_line_from(arena: Arena, peers: dict[str, Peer], match: str, first: int) -> None:
    for ply in range(first, len(LINE)):
        peers[("anna", "bert")[ply % 2]].say(Move(match, ply, LINE[ply]))


def test_a_match_that_had_ended_but_for_its_record_is_closed_by_the_next_core() -> None:
    arena = Arena()
    anna, bert = arena.enter("anna"), arena.enter("bert")
    match = arena.begin(anna, bert)
    anna.say(Resign(match))
    arena.effects = [each for each in arena.effects if not isinstance(each, CloseMatch)]
    after = arena.restored()
    assert [(each.match, each.result.reason) for each in after.records] == [(match, EndReason.RESIGNATION)]
    assert after.core.matches == 0


def test_who_does_not_come_back_after_a_restart_loses() -> None:
    arena = Arena(grace_ms=500)
    anna, bert = arena.enter("anna"), arena.enter("bert")
    arena.begin(anna, bert)
    after = arena.restored()
    again = after.enter(replace(anna.hello, session=anna.session))
    after.wait(500)
    assert again.hear(End).reason is EndReason.DISCONNECT
    assert after.records[0].result.winner == "maxie"


# parts


@given(st.lists(st.tuples(st.sampled_from(["follow", "drop", "take"]), st.integers(0, 5), st.integers(0, 50))))
def test_deadlines_are_those_of_a_plain_dictionary(steps: list[tuple[str, int, int]]) -> None:
    deadlines, known = Deadlines(), dict[str, int]()
    for what, number, at in steps:
        name = str(number)
        if what == "follow":
            deadlines.follow(("bot", name), at)
            known[name] = min(at, known.get(name, at))
        elif what == "drop":
            deadlines.drop(("bot", name))
            known.pop(name, None)
        else:
            due = sorted((when, each) for each, when in known.items() if when <= at)
            assert deadlines.take_due(at) == [("bot", each) for _, each in due]
            known = {each: when for each, when in known.items() if when > at}
        assert deadlines.next == min(known.values(), default=None)
        assert len(deadlines) == len(known)


def test_dropped_deadlines_take_no_memory() -> None:
    deadlines = Deadlines()
    for number in range(10_000):
        deadlines.follow(("match", str(number)), number)
        deadlines.drop(("match", str(number)))
    assert len(vars(deadlines)["_heap"]) < 200


@given(st.lists(st.integers(0, 300), max_size=200))
def test_a_rate_limit_allows_its_burst_and_then_its_rate(gaps: list[int]) -> None:
    limit, now, allowed = RateLimit(100, 4), 0, 0
    for gap in gaps:
        now += gap
        allowed += limit.allows("x", now)
        assert allowed <= 4 + now // 100
    assert limit.allows("y", now)


def test_draws_of_one_seed_are_the_same_and_no_two_alike() -> None:
    draws, again = Draws(b"seed"), Draws(b"seed")
    drawn = [draws.hex() for _ in range(1000)]
    assert drawn == [again.hex() for _ in range(1000)]
    assert len(set(drawn)) == 1000
    assert {len(each) for each in drawn} == {32}
    assert Draws(b"other").hex() not in drawn


@pytest.mark.parametrize("watched", [False, True])
def test_a_move_takes_few_calls(watched: bool) -> None:
    """Calls of our own, of the referee as of all else: the goal of a durable move as a whole is 60."""
    arena = Arena()
    anna, bert = arena.enter("anna"), arena.enter("bert")
    terms = replace(spec("anna", "bert"), game=game_of("riskless"), match="m" * 32)
    arena.give(Play(replace(terms, time_control=TimeControl.parse("60+1"))))
    for peer in (anna, bert):
        peer.say(Ready("m" * 32))
    if watched:
        arena.enter(Hello("eve", role="spectator")).say(Watch("m" * 32))
    said = Said(anna.client, Move("m" * 32, 0, [0, 1]), 0, 0)
    calls: list[str] = []

    def count(frame: FrameType, event: str, _arg: object) -> None:
        if event == "call" and "/games/" not in frame.f_code.co_filename:
            calls.append(frame.f_code.co_qualname)

    sys.setprofile(count)
    try:
        arena.core.handle(said, 0)
    finally:
        sys.setprofile(None)
    assert len(calls) <= (40 if watched else 25), calls

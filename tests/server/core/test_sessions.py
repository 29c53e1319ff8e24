"""Sessions of a core: admission, reconnection and expiry."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import cast

import msgspec
import pytest
from msgspec.structs import replace

from arena.games.catalogue import CATALOGUE
from arena.games.core import AnyGame
from arena.games.riskless import Riskless
from arena.maps.loader import load_map
from arena.protocol.codes import Code, EndReason
from arena.protocol.messages import (
    End,
    Error,
    Hello,
    Move,
    Ping,
    Pong,
    Ready,
    Resign,
    Start,
    Status,
    Turn,
    Welcome,
)
from arena.protocol.values import Role
from arena.server.core.bot import hash_secret
from arena.server.core.effects import CloseClient, DeleteSession, SaveSession, SendMissedResult, SendToClient
from arena.server.core.inputs import (
    EDGE_SHIFT,
    ClientAdmitted,
    EdgeDisconnected,
    EdgeResynced,
    RestoreMatches,
)
from arena.server.core.limits import HostLimits
from arena.server.core.settings import PoolGame
from tests.server.core.arena import FAST, MS, POOL, Arena, answer, in_match, two


def test_hello_is_answered_with_a_session_and_the_limits() -> None:
    arena = Arena(limits=HostLimits(message_bytes=1000, matches_per_bot=3), grace_ms=700)
    anna = arena.enter(Hello("anna", matches=500))
    welcome = anna.hear(Welcome)
    assert (welcome.server, welcome.name, welcome.session) == ("test 1", "anna", "secret 1")
    assert msgspec.structs.astuple(welcome.limits) == (1000, 3, 700)
    assert arena.effects[0] == SaveSession("anna", hash_secret("secret 1")), "kept before it is told"


def test_a_name_is_taken_once_and_the_session_takes_it_over() -> None:
    arena = Arena()
    anna = arena.enter("anna")
    other = arena.enter("anna")
    assert other.closed == CloseClient(
        other.client, Code.NAME_TAKEN, "a bot called 'anna' is already connected: choose another name"
    )
    assert not other.heard
    again = anna.back()
    assert anna.closed == CloseClient(anna.client, Code.REPLACED, Code.REPLACED.meaning)
    assert again.session == anna.session
    anna.leave()  # as its edge tells it a moment later
    anna.say(Ping())
    assert not anna.all(Pong)
    again.say(Ping())
    assert again.all(Pong)
    assert len(arena.of(SaveSession)) == 1


@pytest.mark.parametrize("returns", [False, True])
def test_a_client_whose_edge_says_its_hello_again_stays(returns: bool) -> None:
    arena = Arena()
    anna = arena.enter("anna")
    if returns:
        anna = anna.back()
    hello = Hello("anna", session=anna.session if returns else "")
    assert arena.give(ClientAdmitted(anna.client, hello, "192.0.2.1", "anna", "another secret")) == []
    assert anna.closed is None
    anna.say(Ping())
    assert anna.all(Pong)


@pytest.mark.parametrize(
    ("token_role", "asked", "code"),
    [
        ("admin", "admin", None),
        ("spectator", "spectator", None),
        ("bot", "admin", Code.BAD_TOKEN),
        ("spectator", "admin", Code.BAD_TOKEN),
        ("spectator", "bot", Code.NOT_A_PLAYER),
        ("admin", "bot", Code.NOT_A_PLAYER),
    ],
)
def test_a_token_opens_its_own_role_only(token_role: Role, asked: Role, code: Code | None) -> None:
    peer = Arena().enter(Hello("anna", role=asked), role=token_role)
    assert (peer.closed and peer.closed.code) == code
    if code is None:
        assert (peer.session, peer.hear(Welcome).limits.matches) == ("", 0)


def test_a_bot_of_other_rules_is_refused(tmp_path: Path) -> None:
    (tmp_path / "nim.py").write_text(
        """
from arena.games.tictactoe import TicTacToe


class Nim(TicTacToe):
    name = "nim-of-a-test"
"""
    )
    name = CATALOGUE.register(f"{tmp_path / 'nim.py'}:Nim")
    peer = Arena().enter(Hello("anna", rules={name: "0" * 16}))
    assert peer.closed is not None
    assert peer.closed.code is Code.OTHER_RULES
    assert Arena().enter(Hello("anna", rules=CATALOGUE.get_default_digests())).closed is None


@pytest.mark.parametrize(
    ("wants", "why"),
    [
        ({"games": ["rikless"]}, 'this server has no game \'rikless\'; did you mean "riskless"?'),
        ({"maps": ["m2", "itly"]}, 'this server has no map \'itly\'; did you mean "italy"?'),
        ({"maps": ["/etc/passwd"]}, "this server has no map '/etc/passwd'; choose from italy, m1, "),
        ({"maps": ["rnig:12"]}, "rnig:12: no such map: "),
        ({"time_controls": ["2+O.1"]}, "'2+O.1' is not a time control: write 10+0.1 (seconds and increment) or 0.1/move; did you mean 2+0.1?"),
        ({"time_controls": ["2+0.10"]}, "the time control '2+0.10' is not in canonical form; write 2+0.1"),
        ({"games": ["go", "riskless"], "maps": ["grid:5x5", "world"], "time_controls": ["9/move"]}, None),
    ],
    ids=["game", "map", "path", "generated", "control", "form", "known"],
)  # fmt: skip
def test_a_bot_that_wants_an_unknown_game_gets_the_nearest_name(
    wants: dict[str, list[str]], why: str | None
) -> None:
    closed = Arena(pool=POOL).enter(Hello("anna", **wants)).closed  # type: ignore[arg-type]
    assert (closed and closed.code) == (Code.UNKNOWN_NAME if why else None)
    assert closed is None or closed.detail.startswith(f"hello: {why}")


def test_a_host_may_have_maps_of_its_own() -> None:
    game = Riskless(dataclasses.replace(load_map("m2"), name="shire"))
    pool = replace(POOL, games=(PoolGame(cast("AnyGame", game), FAST),))
    assert Arena(pool=pool).enter(Hello("anna", maps=["shire"])).closed is None
    anna = Arena(pool=POOL).enter("anna")
    anna.hello = Hello("anna", maps=["shire"])
    assert anna.back().closed is None, "a session goes on, whatever its hello names"


def test_a_second_hello_is_refused_and_the_session_goes_on() -> None:
    anna = Arena().enter("anna")
    anna.say(Hello("anna"))
    assert anna.hear(Error).code is Code.HELLO_TWICE
    anna.say(Status())
    assert anna.closed is None


def test_a_bot_that_drops_returns_to_its_matches_and_its_clock_has_run() -> None:
    arena, anna, bert, match = in_match("2+0", grace_ms=1000)
    anna.leave()
    arena.wait(400)
    again = anna.back()
    assert [type(each) for each in again.heard] == [Welcome, Start, Turn]
    assert again.all(Turn)[0].clocks.maxie_ms == 1600
    messages = [
        each for each in arena.effects if isinstance(each, SendToClient) and isinstance(each.message, Turn)
    ]
    assert messages[-1].clock_ran_ns == 400 * MS, "its edge measures on from there"
    again.say(Move(match, 0, 4), 500 * MS)
    assert bert.hear(Turn).moves == [4]


def test_a_bot_that_stays_away_loses_by_disconnect_when_the_grace_is_over() -> None:
    arena, anna, bert, _ = in_match(grace_ms=400)
    anna.leave()
    arena.wait(399)
    assert not arena.records
    arena.wait(1)
    assert bert.hear(End).reason is EndReason.DISCONNECT


def test_a_turn_that_was_on_its_way_to_a_lost_connection_counts_as_sent() -> None:
    arena, anna, *_ = in_match("1+0", margin=50, grace_ms=10_000, reports=False)
    anna.leave()
    arena.wait(1050)
    assert arena.records[0].result.winner == "minnie"


def test_a_bot_that_comes_back_as_a_new_process_has_lost_at_once() -> None:
    arena, anna, bert, _ = in_match()
    anna.leave()
    again = arena.enter("anna")
    assert bert.hear(End).reason is EndReason.DISCONNECT
    assert again.session != anna.session


def test_a_new_process_gets_ready_for_a_match_that_has_not_begun() -> None:
    arena, anna, bert = two()
    match = arena.play(anna, bert)
    anna.say(Ready(match))
    anna.leave()
    again = arena.enter("anna")
    bert.say(Ready(match))
    assert not again.all(Turn)
    again.say(Ready(match))
    assert again.hear(Turn).match == match


def test_a_session_is_kept_for_the_grace_and_then_forgotten() -> None:
    arena, anna, bert = two(grace_ms=400)
    anna.say(Resign(arena.begin(anna, bert)))
    anna.leave()
    arena.wait(399)
    again = anna.back()
    assert again.session == anna.session
    again.leave()
    arena.wait(400)
    assert arena.of(DeleteSession) == [DeleteSession("anna")]
    assert arena.core.find_bot("anna") is None
    assert anna.back().session != anna.session


def test_the_store_knows_a_session_that_the_core_does_not() -> None:
    arena = Arena()
    anna = arena.enter(Hello("anna", session="old"), stored_session=hash_secret("old"))
    assert anna.session == "old"
    bert = arena.enter(Hello("bert", session="old"), stored_session=hash_secret("another"))
    assert bert.session != "old"
    assert arena.enter(Hello("carl"), stored_session=b"").session == "secret 3"


@pytest.mark.parametrize("guest", [False, True])
def test_names_that_never_played_leave_nothing_not_even_for_the_grace(guest: bool) -> None:
    arena = Arena(grace_ms=3_600_000)
    for number in range(500):
        peer = arena.enter(f"guest-{number}", guest=guest)
        peer.back().leave()
        peer.leave()
        assert vars(arena.core._lobby)["bots"] == {}
    assert [each.name for each in arena.of(DeleteSession)] == [f"guest-{number}" for number in range(500)]
    arena.wait(1000)
    assert arena.core.next_deadline is None


def test_a_name_that_is_never_ready_for_its_match_is_forgotten_with_it() -> None:
    arena, anna, bert = two(grace_ms=3_600_000)
    arena.play(anna, bert, ready=5000)
    anna.leave()
    arena.wait(4999)
    assert arena.core.find_bot("anna") is not None, "it may still come back to it"
    arena.wait(1)
    assert arena.of(DeleteSession) == [DeleteSession("anna")]


def test_a_core_that_goes_on_keeps_sessions_for_the_grace_as_it_cannot_know_who_played() -> None:
    arena = Arena(grace_ms=400)
    anna = arena.enter("anna", edge=1)
    after = Arena(grace_ms=400)
    after.give(RestoreMatches([], {"anna": hash_secret(anna.session)}))
    after.wait(399)
    after.peers[anna.client] = type(anna)(after, anna.client, anna.hello)
    after.give(EdgeResynced(1, [fact(anna.hello, anna.client, anna.session)]))
    assert after.peers[anna.client].closed is None
    after.wait(1000)
    assert after.core.find_bot("anna") is not None
    after.give(EdgeResynced(1, []))
    after.wait(400)
    assert after.core.find_bot("anna") is None


# edges


def test_the_death_of_an_edge_costs_nobody_time() -> None:
    arena = Arena(grace_ms=5_000)
    anna, bert = arena.enter("anna", edge=1), arena.enter("bert", edge=2)
    match = arena.begin(anna, bert, "0.1/move")
    arena.give(EdgeDisconnected(1))
    arena.wait(3_000)
    again = anna.back(edge=2)
    assert [type(each) for each in again.heard] == [Welcome, Start, Turn]
    again.say(Move(match, 0, 4), elapsed_ns=50 * MS)
    assert bert.all(Turn)[-1].moves == [4]
    bert.say(Move(match, 1, 0), elapsed_ns=50 * MS)
    arena.give(EdgeDisconnected(2))  # with both
    arena.wait(3_000)
    third = again.back(edge=3)
    bert.back(edge=3)
    third.say(Move(match, 2, 1), elapsed_ns=50 * MS)
    assert not arena.records


def test_the_first_of_two_connections_reported_for_one_bot_is_used() -> None:
    arena = Arena()
    anna = arena.enter("anna", edge=1)
    arena.give(EdgeDisconnected(1))  # it stood still, and is back with a connection that nobody uses
    again = anna.back(edge=2)
    arena.give(EdgeResynced(1, [fact(anna.hello, anna.client, anna.session)]))
    assert anna.closed is not None
    assert anna.closed.code is Code.SHUTTING_DOWN
    assert again.closed is None
    again.say(Ping())
    assert again.all(Pong)


def fact(peer_hello: Hello, client: int, session: str) -> ClientAdmitted:
    return ClientAdmitted(client, replace(peer_hello, session=session), "192.0.2.1", "x", "unused")


def test_a_resync_sends_each_bot_what_it_may_have_missed() -> None:
    arena = Arena()
    anna, bert = arena.enter("anna", edge=1), arena.enter("bert", edge=1)
    over = arena.begin(anna, bert)
    for cell, mover in enumerate((anna, bert, anna, bert, anna, bert, anna)):
        answer(mover, cell)
    match = arena.begin(anna, bert)
    for peer in (anna, bert):
        peer.news()
    facts = [fact(anna.hello, anna.client, anna.session)]
    arena.give(EdgeResynced(1, facts))
    assert [type(each) for each in anna.news()] == [Start, Turn]
    assert SendMissedResult(anna.client, "anna", over) in arena.of(SendMissedResult)
    # Bert's connection ended, and that message was lost too.
    assert arena.core.find_bot("bert").client is None  # type: ignore[union-attr]
    anna.say(Move(match, 0, 4))
    assert bert.back().all(Turn)[0].moves == [4]


def test_a_bot_welcomed_by_an_earlier_core_plays_on_with_the_next() -> None:
    arena = Arena()
    anna, bert = arena.enter("anna", edge=1), arena.enter("bert", edge=1)
    match = arena.begin(anna, bert)
    answer(anna, 4)
    after = arena.restored()
    peers = {}
    for peer in (anna, bert):
        peers[peer.name] = after.peers[peer.client] = type(peer)(after, peer.client, peer.hello)
    stranger = 1 << EDGE_SHIFT | 99
    carl = after.peers[stranger] = type(anna)(after, stranger, Hello("carl"))
    facts = [fact(peer.hello, peer.client, peer.session) for peer in (anna, bert)]
    after.give(EdgeResynced(1, [*facts, fact(Hello("carl"), stranger, "nobody's")]))
    assert [type(each) for each in peers["bert"].heard] == [Start, Turn], "nobody is welcomed twice"
    assert [type(each) for each in peers["anna"].heard] == [Start]
    assert carl.closed is not None
    assert carl.closed.code is Code.SHUTTING_DOWN, "it comes back"
    peers["bert"].say(Move(match, 1, 0))
    assert peers["anna"].hear(Turn).moves == [4, 0]

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
from arena.protocol.codes import EndReason, ErrorCode
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
    EDGE_NUMBER_SHIFT_BITS,
    ClientAdmitted,
    EdgeDisconnected,
    EdgeResynced,
    RestoredState,
)
from arena.server.core.limits import ServerLimits
from arena.server.core.settings import GameAtTimeControl
from tests.server.core.arena import FAST, MS, POOL, Arena, answer_turn, arena_in_match, arena_with_two_bots


def test_welcome_has_the_session_and_the_limits() -> None:
    arena = Arena(limits=ServerLimits(message_bytes=1000, matches_per_bot=3), reconnect_grace_ms=700)
    anna = arena.connect(Hello("anna", matches=500))
    welcome = anna.receive(Welcome)
    assert (welcome.server, welcome.name, welcome.session) == ("test 1", "anna", "secret 1")
    assert msgspec.structs.astuple(welcome.limits) == (1000, 3, 700)
    assert arena.effects[0] == SaveSession("anna", hash_secret("secret 1")), "stored before the bot gets it"


def test_a_name_in_use_is_refused_unless_the_hello_has_its_session() -> None:
    arena = Arena()
    anna = arena.connect("anna")
    other = arena.connect("anna")
    assert other.closed == CloseClient(
        other.client, ErrorCode.NAME_TAKEN, "a bot called 'anna' is already connected: choose another name"
    )
    assert not other.received
    again = anna.reconnect()
    assert anna.closed == CloseClient(anna.client, ErrorCode.REPLACED, ErrorCode.REPLACED.meaning)
    assert again.session == anna.session
    anna.disconnect()  # reported by the edge after the core has replaced the connection
    anna.send(Ping())
    assert not anna.all(Pong)
    again.send(Ping())
    assert again.all(Pong)
    assert len(arena.of(SaveSession)) == 1


@pytest.mark.parametrize("returns", [False, True])
def test_a_hello_that_its_edge_repeats_changes_nothing(returns: bool) -> None:
    arena = Arena()
    anna = arena.connect("anna")
    if returns:
        anna = anna.reconnect()
    hello = Hello("anna", session=anna.session if returns else "")
    assert arena.handle(ClientAdmitted(anna.client, hello, "192.0.2.1", "anna", "another secret")) == []
    assert anna.closed is None
    anna.send(Ping())
    assert anna.all(Pong)


@pytest.mark.parametrize(
    ("token_role", "requested_role", "code"),
    [
        ("admin", "admin", None),
        ("spectator", "spectator", None),
        ("bot", "admin", ErrorCode.BAD_TOKEN),
        ("spectator", "admin", ErrorCode.BAD_TOKEN),
        ("spectator", "bot", ErrorCode.NOT_A_PLAYER),
        ("admin", "bot", ErrorCode.NOT_A_PLAYER),
    ],
)
def test_a_token_grants_only_its_own_role(
    token_role: Role, requested_role: Role, code: ErrorCode | None
) -> None:
    peer = Arena().connect(Hello("anna", role=requested_role), role=token_role)
    assert (peer.closed and peer.closed.error_code) == code
    if peer.closed is not None:
        assert peer.closed.detail.endswith(f"ask the host for a token with the role {requested_role}")
    if code is None:
        assert (peer.session, peer.receive(Welcome).limits.matches) == ("", 0)


def test_a_bot_with_other_rules_of_a_game_is_refused(tmp_path: Path) -> None:
    (tmp_path / "nim.py").write_text(
        """
from arena.games.tictactoe import TicTacToe


class Nim(TicTacToe):
    name = "nim-of-a-test"
"""
    )
    name = CATALOGUE.register_game(f"{tmp_path / 'nim.py'}:Nim")
    peer = Arena().connect(Hello("anna", rules={name: "0" * 16}))
    assert peer.closed is not None
    assert peer.closed.error_code is ErrorCode.OTHER_RULES
    assert Arena().connect(Hello("anna", rules=CATALOGUE.get_custom_game_digests())).closed is None


@pytest.mark.parametrize(
    ("wants", "why"),
    [
        ({"games": ["rikless"]}, 'this server has no game \'rikless\'; did you mean "riskless"?'),
        ({"maps": ["m2", "itly"]}, 'this server has no map \'itly\'; did you mean "italy"?'),
        ({"maps": ["/etc/passwd"]}, "this server has no map '/etc/passwd'; choose from italy, m1, "),
        ({"maps": ["rnig:12"]}, "rnig:12: no such map: "),
        ({"time_controls": ["2+O.1"]}, "'2+O.1' is not a time control: write 10+0.1 (seconds and increment) or 0.1/move; did you mean 2+0.1?"),
        ({"time_controls": ["2+0.10"]}, "the time control '2+0.10' is not in its shortest form; write 2+0.1"),
        ({"games": ["go", "riskless"], "maps": ["grid:5x5", "world"], "time_controls": ["9/move"]}, None),
    ],
    ids=["game", "map", "path", "generated", "control", "form", "known"],
)  # fmt: skip
def test_a_hello_with_an_unknown_name_is_refused_with_the_nearest_name(
    wants: dict[str, list[str]], why: str | None
) -> None:
    closed = Arena(pool=POOL).connect(Hello("anna", **wants)).closed  # type: ignore[arg-type]
    assert (closed and closed.error_code) == (ErrorCode.UNKNOWN_NAME if why else None)
    assert closed is None or closed.detail.startswith(f"hello: {why}")


def test_a_hello_may_name_a_map_of_the_host() -> None:
    game = Riskless(dataclasses.replace(load_map("m2"), name="shire"))
    pool = replace(POOL, games=(GameAtTimeControl(cast("AnyGame", game), FAST),))
    assert Arena(pool=pool).connect(Hello("anna", maps=["shire"])).closed is None
    anna = Arena(pool=POOL).connect("anna")
    anna.hello = Hello("anna", maps=["shire"])
    assert anna.reconnect().closed is None, "the names in a hello do not matter if it resumes a session"


def test_a_second_hello_is_refused_and_the_session_continues() -> None:
    anna = Arena().connect("anna")
    anna.send(Hello("anna"))
    assert anna.receive(Error).code is ErrorCode.HELLO_TWICE
    anna.send(Status())
    assert anna.closed is None


def test_a_returning_bot_continues_its_match_and_its_clock_has_run() -> None:
    arena, anna, bert, match = arena_in_match("2+0", reconnect_grace_ms=1000)
    anna.disconnect()
    arena.wait(400)
    again = anna.reconnect()
    assert [type(each) for each in again.received] == [Welcome, Start, Turn]
    assert again.all(Turn)[0].clocks.maxie_ms == 1600
    messages = [
        each for each in arena.effects if isinstance(each, SendToClient) and isinstance(each.message, Turn)
    ]
    assert messages[-1].clock_ran_ns == 400 * MS, "the edge continues from this time"
    again.send(Move(match, 0, 4), 500 * MS)
    assert bert.receive(Turn).moves == [4]


def test_a_bot_that_does_not_return_loses_by_disconnect_after_the_grace_period() -> None:
    arena, anna, bert, _ = arena_in_match(reconnect_grace_ms=400)
    anna.disconnect()
    arena.wait(399)
    assert not arena.records
    arena.wait(1)
    assert bert.receive(End).reason is EndReason.DISCONNECT


def test_a_turn_in_transit_to_a_lost_connection_counts_as_sent() -> None:
    arena, anna, *_ = arena_in_match("1+0", margin=50, reconnect_grace_ms=10_000, reports_turns=False)
    anna.disconnect()
    arena.wait(1050)
    assert arena.records[0].result.winner == "minnie"


def test_a_bot_that_returns_without_its_session_loses_its_match_at_once() -> None:
    arena, anna, bert, _ = arena_in_match()
    anna.disconnect()
    again = arena.connect("anna")
    assert bert.receive(End).reason is EndReason.DISCONNECT
    assert again.session != anna.session


def test_a_bot_with_a_new_session_still_plays_a_match_that_has_not_begun() -> None:
    arena, anna, bert = arena_with_two_bots()
    match = arena.request_match(anna, bert)
    anna.send(Ready(match))
    anna.disconnect()
    again = arena.connect("anna")
    bert.send(Ready(match))
    assert not again.all(Turn)
    again.send(Ready(match))
    assert again.receive(Turn).match == match


def test_a_session_is_forgotten_after_the_grace_period() -> None:
    arena, anna, bert = arena_with_two_bots(reconnect_grace_ms=400)
    anna.send(Resign(arena.begin_match(anna, bert)))
    anna.disconnect()
    arena.wait(399)
    again = anna.reconnect()
    assert again.session == anna.session
    again.disconnect()
    arena.wait(400)
    assert arena.of(DeleteSession) == [DeleteSession("anna")]
    assert arena.core.find_bot("anna") is None
    assert anna.reconnect().session != anna.session


def test_a_session_that_only_the_store_knows_is_resumed() -> None:
    arena = Arena()
    anna = arena.connect(Hello("anna", session="old"), stored_session_hash=hash_secret("old"))
    assert anna.session == "old"
    bert = arena.connect(Hello("bert", session="old"), stored_session_hash=hash_secret("another"))
    assert bert.session != "old"
    assert arena.connect(Hello("carl"), stored_session_hash=b"").session == "secret 3"


@pytest.mark.parametrize("guest", [False, True])
def test_a_bot_that_never_played_is_forgotten_when_it_disconnects(guest: bool) -> None:
    arena = Arena(reconnect_grace_ms=3_600_000)
    for number in range(500):
        peer = arena.connect(f"guest-{number}", is_guest=guest)
        peer.reconnect().disconnect()
        peer.disconnect()
        assert vars(arena.core._lobby)["bots"] == {}
    assert [each.bot_name for each in arena.of(DeleteSession)] == [f"guest-{number}" for number in range(500)]
    arena.wait(1000)
    assert arena.core.next_deadline_ns is None


def test_a_bot_that_was_never_ready_is_forgotten_when_its_match_ends() -> None:
    arena, anna, bert = arena_with_two_bots(reconnect_grace_ms=3_600_000)
    arena.request_match(anna, bert, ready=5000)
    anna.disconnect()
    arena.wait(4999)
    assert arena.core.find_bot("anna") is not None, "it may still return to the match"
    arena.wait(1)
    assert arena.of(DeleteSession) == [DeleteSession("anna")]


def test_a_restored_core_keeps_all_sessions_for_the_grace_period() -> None:
    arena = Arena(reconnect_grace_ms=400)
    anna = arena.connect("anna", edge=1)
    after = Arena(reconnect_grace_ms=400)
    after.handle(RestoredState([], {"anna": hash_secret(anna.session)}))
    after.wait(399)
    after.peers[anna.client] = type(anna)(after, anna.client, anna.hello)
    after.handle(EdgeResynced(1, [make_resync_entry(anna.hello, anna.client, anna.session)]))
    assert after.peers[anna.client].closed is None
    after.wait(1000)
    assert after.core.find_bot("anna") is not None
    after.handle(EdgeResynced(1, []))
    after.wait(400)
    assert after.core.find_bot("anna") is None


# edges


def test_no_clock_runs_for_bots_of_a_lost_edge() -> None:
    arena = Arena(reconnect_grace_ms=5_000)
    anna, bert = arena.connect("anna", edge=1), arena.connect("bert", edge=2)
    match = arena.begin_match(anna, bert, "0.1/move")
    arena.handle(EdgeDisconnected(1))
    arena.wait(3_000)
    again = anna.reconnect(edge=2)
    assert [type(each) for each in again.received] == [Welcome, Start, Turn]
    again.send(Move(match, 0, 4), elapsed_ns=50 * MS)
    assert bert.all(Turn)[-1].moves == [4]
    bert.send(Move(match, 1, 0), elapsed_ns=50 * MS)
    arena.handle(EdgeDisconnected(2))  # both bots are connected there
    arena.wait(3_000)
    third = again.reconnect(edge=3)
    bert.reconnect(edge=3)
    third.send(Move(match, 2, 1), elapsed_ns=50 * MS)
    assert not arena.records


def test_the_first_of_two_connections_reported_for_one_bot_is_used() -> None:
    arena = Arena()
    anna = arena.connect("anna", edge=1)
    arena.handle(EdgeDisconnected(1))  # the edge was suspended; it returns with an outdated connection
    again = anna.reconnect(edge=2)
    arena.handle(EdgeResynced(1, [make_resync_entry(anna.hello, anna.client, anna.session)]))
    assert anna.closed is not None
    assert anna.closed.error_code is ErrorCode.SHUTTING_DOWN
    assert again.closed is None
    again.send(Ping())
    assert again.all(Pong)


def make_resync_entry(peer_hello: Hello, client: int, session: str) -> ClientAdmitted:
    """Return the entry of a client in `EdgeResynced`."""
    return ClientAdmitted(client, replace(peer_hello, session=session), "192.0.2.1", "x", "unused")


def test_a_resync_sends_each_bot_what_it_may_have_missed() -> None:
    arena = Arena()
    anna, bert = arena.connect("anna", edge=1), arena.connect("bert", edge=1)
    over = arena.begin_match(anna, bert)
    for cell, mover in enumerate((anna, bert, anna, bert, anna, bert, anna)):
        answer_turn(mover, cell)
    match = arena.begin_match(anna, bert)
    for peer in (anna, bert):
        peer.pop_unread()
    entries = [make_resync_entry(anna.hello, anna.client, anna.session)]
    arena.handle(EdgeResynced(1, entries))
    assert [type(each) for each in anna.pop_unread()] == [Start, Turn]
    assert SendMissedResult(anna.client, "anna", over) in arena.of(SendMissedResult)
    # The edge no longer lists bert: the message that his connection ended was lost.
    assert arena.core.find_bot("bert").client_number is None  # type: ignore[union-attr]
    anna.send(Move(match, 0, 4))
    assert bert.reconnect().all(Turn)[0].moves == [4]


def test_a_bot_welcomed_by_an_earlier_core_plays_on_with_the_next() -> None:
    arena = Arena()
    anna, bert = arena.connect("anna", edge=1), arena.connect("bert", edge=1)
    match = arena.begin_match(anna, bert)
    answer_turn(anna, 4)
    after = arena.restore()
    peers = {}
    for peer in (anna, bert):
        peers[peer.name] = after.peers[peer.client] = type(peer)(after, peer.client, peer.hello)
    stranger = 1 << EDGE_NUMBER_SHIFT_BITS | 99
    carl = after.peers[stranger] = type(anna)(after, stranger, Hello("carl"))
    entries = [make_resync_entry(peer.hello, peer.client, peer.session) for peer in (anna, bert)]
    after.handle(EdgeResynced(1, [*entries, make_resync_entry(Hello("carl"), stranger, "nobody's")]))
    assert [type(each) for each in peers["bert"].received] == [Start, Turn], "no second `welcome`"
    assert [type(each) for each in peers["anna"].received] == [Start]
    assert carl.closed is not None
    assert carl.closed.error_code is ErrorCode.SHUTTING_DOWN, "carl must reconnect"
    peers["bert"].send(Move(match, 1, 0))
    assert peers["anna"].receive(Turn).moves == [4, 0]

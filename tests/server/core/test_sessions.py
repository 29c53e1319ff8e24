"""Who comes into a core, returns to it, and is forgotten."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from arena.games.catalogue import KNOWN
from arena.protocol.codes import Code, EndReason
from arena.protocol.messages import End, Error, Hello, Move, Ping, Pong, Ready, Start, Status, Turn, Welcome
from arena.protocol.values import Role
from arena.server.core.bot import secret_hash
from arena.server.core.effects import Close, ForgetSession, KeepSession, Send, TellEnd
from arena.server.core.inputs import EDGE_BITS, EdgeGone, EdgeHere, Enter, Kick, from_json, to_json
from tests.server.core.arena import MS, Arena, answer


def test_hello_is_answered_with_a_session_and_the_limits() -> None:
    arena = Arena(message_bytes=1000, matches_per_bot=3, grace_ms=700)
    anna = arena.enter(Hello("anna", matches=500))
    welcome = anna.hear(Welcome)
    assert (welcome.server, welcome.name, welcome.session) == ("test 1", "anna", "secret 1")
    assert msgspec.structs.astuple(welcome.limits) == (1000, 3, 700)
    assert arena.effects[0] == KeepSession("anna", secret_hash("secret 1")), "kept before it is told"


def test_a_name_is_taken_once_and_the_session_takes_it_over() -> None:
    arena = Arena()
    anna = arena.enter("anna")
    other = arena.enter("anna")
    assert other.closed == Close(other.client, Code.NAME_TAKEN, "a bot called 'anna' is connected already")
    assert not other.heard
    again = anna.back()
    assert anna.closed == Close(anna.client, Code.REPLACED, Code.REPLACED.meaning)
    assert again.session == anna.session
    anna.leave()  # as its edge tells it a moment later
    anna.say(Ping())
    assert not anna.all(Pong)
    again.say(Ping())
    assert again.all(Pong)
    assert len(arena.of(KeepSession)) == 1


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
    name = KNOWN.name(f"{tmp_path / 'nim.py'}:Nim")
    peer = Arena().enter(Hello("anna", rules={name: "0" * 16}))
    assert peer.closed is not None
    assert peer.closed.code is Code.OTHER_RULES
    assert Arena().enter(Hello("anna", rules=KNOWN.digests())).closed is None


def test_a_second_hello_is_refused_and_the_session_goes_on() -> None:
    anna = Arena().enter("anna")
    anna.say(Hello("anna"))
    assert anna.hear(Error).code is Code.HELLO_TWICE
    anna.say(Status())
    assert anna.closed is None


def test_a_bot_that_drops_returns_to_its_matches_and_its_clock_has_run() -> None:
    arena = Arena(grace_ms=1000)
    anna, bert = arena.enter("anna"), arena.enter("bert")
    match = arena.begin(anna, bert, "2+0")
    anna.leave()
    arena.wait(400)
    again = anna.back()
    assert [type(each) for each in again.heard] == [Welcome, Start, Turn]
    assert again.all(Turn)[0].clocks.maxie_ms == 1600
    told = [each for each in arena.effects if isinstance(each, Send) and isinstance(each.message, Turn)]
    assert told[-1].ran == 400 * MS, "its edge measures on from there"
    again.say(Move(match, 0, 4), 500 * MS)
    assert bert.hear(Turn).moves == [4]


def test_a_bot_that_stays_away_loses_by_disconnect_when_the_grace_is_over() -> None:
    arena = Arena(grace_ms=400)
    anna, bert = arena.enter("anna"), arena.enter("bert")
    arena.begin(anna, bert)
    anna.leave()
    arena.wait(399)
    assert not arena.records
    arena.wait(1)
    assert bert.hear(End).reason is EndReason.DISCONNECT


def test_a_clock_runs_for_whoever_was_away_when_its_turn_came() -> None:
    arena = Arena(grace_ms=10_000)
    anna, bert = arena.enter("anna"), arena.enter("bert")
    arena.begin(anna, bert, "1+0", margin=50)
    bert.leave()
    answer(anna, 4)
    arena.wait(1050)
    assert arena.records[0].result.reason in (EndReason.TIMEOUT, EndReason.DISCONNECT)
    assert arena.records[0].result.winner == "maxie"


def test_a_turn_that_was_on_its_way_to_a_lost_connection_counts_as_sent() -> None:
    arena = Arena(grace_ms=10_000, reports=False)
    anna, bert = arena.enter("anna"), arena.enter("bert")
    arena.begin(anna, bert, "1+0", margin=50)
    anna.leave()
    arena.wait(1050)
    assert arena.records[0].result.winner == "minnie"


def test_a_bot_that_comes_back_as_a_new_process_has_lost_at_once() -> None:
    arena = Arena()
    anna, bert = arena.enter("anna"), arena.enter("bert")
    arena.begin(anna, bert)
    anna.leave()
    again = arena.enter("anna")
    assert bert.hear(End).reason is EndReason.DISCONNECT
    assert again.session != anna.session


def test_a_new_process_gets_ready_for_a_match_that_has_not_begun() -> None:
    arena = Arena()
    anna, bert = arena.enter("anna"), arena.enter("bert")
    match = arena.play(anna, bert)
    anna.say(Ready(match))
    anna.leave()
    again = arena.enter("anna")
    bert.say(Ready(match))
    assert not again.all(Turn)
    again.say(Ready(match))
    assert again.hear(Turn).match == match


def test_a_session_is_kept_for_the_grace_and_then_forgotten() -> None:
    arena = Arena(grace_ms=400)
    anna = arena.enter("anna")
    anna.leave()
    arena.wait(399)
    again = anna.back()
    assert again.session == anna.session
    again.leave()
    arena.wait(400)
    assert arena.of(ForgetSession) == [ForgetSession("anna")]
    assert arena.core.bot("anna") is None
    assert anna.back().session != anna.session


def test_a_bot_is_kept_until_its_match_is_over() -> None:
    arena = Arena(grace_ms=400)
    anna, bert = arena.enter("anna"), arena.enter("bert")
    arena.play(anna, bert, ready=5000)
    anna.leave()
    arena.wait(4000)
    assert anna.back().session == anna.session


def test_the_store_knows_a_session_that_the_core_does_not() -> None:
    arena = Arena()
    anna = arena.enter(Hello("anna", session="old"), known=secret_hash("old"))
    assert anna.session == "old"
    bert = arena.enter(Hello("bert", session="old"), known=secret_hash("another"))
    assert bert.session != "old"
    assert arena.enter(Hello("carl"), known=b"").session == "secret 3"


def test_thousands_of_names_leave_nothing() -> None:
    arena = Arena(grace_ms=100)
    for number in range(500):
        arena.enter(f"bot {number}").leave()
    arena.wait(1000)
    assert arena.core.next_deadline is None
    assert vars(arena.core._lobby)["bots"] == {}


def test_who_is_kicked_is_told_why_and_may_lose_by_it() -> None:
    arena = Arena(grace_ms=400)
    anna, bert = arena.enter("anna"), arena.enter("bert")
    arena.begin(anna, bert)
    arena.give(Kick("anna", Code.BAD_TOKEN, "its token was revoked"))
    assert anna.closed == Close(anna.client, Code.BAD_TOKEN, "its token was revoked")
    arena.wait(400)
    assert bert.hear(End).reason is EndReason.DISCONNECT


# edges


def test_an_edge_that_is_lost_takes_all_its_clients_along() -> None:
    arena = Arena(grace_ms=400)
    anna, bert = arena.enter("anna", edge=1), arena.enter("bert", edge=2)
    match = arena.begin(anna, bert)
    arena.give(EdgeGone(1))
    again = anna.back(edge=2)
    assert [type(each) for each in again.heard] == [Welcome, Start, Turn]
    again.say(Move(match, 0, 4))
    assert bert.hear(Turn).moves == [4]


def fact(peer_hello: Hello, client: int, session: str) -> Enter:
    return Enter(client, replace(peer_hello, session=session), "192.0.2.1", "x", "unused")


def test_a_resync_tells_each_bot_anew_what_it_may_have_missed() -> None:
    arena = Arena()
    anna, bert = arena.enter("anna", edge=1), arena.enter("bert", edge=1)
    over = arena.begin(anna, bert)
    for cell, mover in enumerate((anna, bert, anna, bert, anna, bert, anna)):
        answer(mover, cell)
    match = arena.begin(anna, bert)
    for peer in (anna, bert):
        peer.news()
    facts = [fact(anna.hello, anna.client, anna.session)]
    arena.give(EdgeHere(1, facts))
    assert [type(each) for each in anna.news()] == [Start, Turn]
    assert TellEnd(anna.client, "anna", over) in arena.of(TellEnd)
    # Bert's connection ended, and that message was lost too.
    assert arena.core.bot("bert").client is None  # type: ignore[union-attr]
    anna.say(Move(match, 0, 4))
    assert bert.back().all(Turn)[0].moves == [4]


def test_who_was_welcomed_by_a_core_that_is_gone_plays_on_with_the_next() -> None:
    arena = Arena()
    anna, bert = arena.enter("anna", edge=1), arena.enter("bert", edge=1)
    match = arena.begin(anna, bert)
    answer(anna, 4)
    after = arena.restored()
    peers = {}
    for peer in (anna, bert):
        peers[peer.name] = after.peers[peer.client] = type(peer)(after, peer.client, peer.hello)
    stranger = 1 << EDGE_BITS | 99
    carl = after.peers[stranger] = type(anna)(after, stranger, Hello("carl"))
    facts = [fact(peer.hello, peer.client, peer.session) for peer in (anna, bert)]
    after.give(EdgeHere(1, [*facts, fact(Hello("carl"), stranger, "nobody's")]))
    assert [type(each) for each in peers["bert"].heard] == [Start, Turn], "nobody is welcomed twice"
    assert [type(each) for each in peers["anna"].heard] == [Start]
    assert carl.closed is not None
    assert carl.closed.code is Code.SHUTTING_DOWN, "it comes back"
    peers["bert"].say(Move(match, 1, 0))
    assert peers["anna"].hear(Turn).moves == [4, 0]


def test_inputs_can_be_written_down_and_read_again() -> None:
    arena = Arena()
    anna, bert = arena.enter("anna"), arena.enter("bert")
    arena.begin(anna, bert)
    answer(anna, 4)
    arena.give(EdgeHere(0, [fact(anna.hello, anna.client, anna.session)]))
    arena.restored()
    for _, given in arena.inputs + arena.restored().inputs:
        assert to_json(from_json(to_json(given))) == to_json(given)

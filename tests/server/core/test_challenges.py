"""Challenges: who may open, accept, decline and withdraw them, and when they end."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from arena.games.catalogue import CATALOGUE
from arena.protocol.adjudication import Adjudication
from arena.protocol.codes import EndReason, ErrorCode
from arena.protocol.messages import (
    Accept,
    Challenge,
    Challenged,
    ChallengeOver,
    Decline,
    Error,
    Hello,
    Listing,
    Ready,
    Start,
    Status,
    Withdraw,
)
from arena.protocol.timecontrol import TimeControl
from arena.server.core.inputs import StartDraining
from arena.server.core.limits import ServerLimits
from arena.server.core.open_challenges import CHALLENGE_LIFETIME_MS
from arena.server.core.settings import HouseEngine
from tests.games.own import EXAMPLES, forget_games
from tests.server.core.arena import FAST, TICTACTOE, Arena, arena_with_two_bots, play_line, play_until_quiet

TO_BERT = replace(TICTACTOE, opponent="bert")


def test_a_challenge_is_accepted_and_played() -> None:
    arena, anna, bert = arena_with_two_bots(adjudication=Adjudication(limit=2))
    anna.send(replace(TO_BERT, seat="minnie"))
    offered = bert.receive(Challenged)
    assert (offered.challenger, offered.seat, offered.rated) == ("anna", "minnie", True)
    assert anna.receive(Challenged) == offered
    assert offered.expires_ms == 60_000
    bert.send(Accept(offered.challenge))
    over = anna.receive(ChallengeOver)
    assert bert.receive(ChallengeOver) == over
    start = bert.all(Start)[0]
    assert (start.match, start.seat, over.outcome) == (over.match, "maxie", "accepted")
    for peer in (anna, bert):
        peer.send(Ready(start.match))
    play_line(bert, anna, (0, 3))
    (record,) = arena.records
    assert (record.event, record.result.reason) == ("serve", EndReason.ADJUDICATED)


def test_seats_are_swapped_from_match_to_match() -> None:
    arena, anna, bert = arena_with_two_bots()
    for _ in range(4):
        anna.send(TO_BERT)
        bert.send(Accept(bert.receive(Challenged).challenge))
        play_until_quiet(arena)
    assert [each.players.maxie for each in arena.records] == ["anna", "bert"] * 2


@pytest.mark.parametrize(("message_type", "outcome"), [(Decline, "declined"), (Withdraw, "withdrawn")])
def test_a_challenge_can_be_declined_and_withdrawn(message_type: Any, outcome: str) -> None:
    _, anna, bert = arena_with_two_bots()
    anna.send(TO_BERT)
    id = bert.receive(Challenged).challenge
    (bert if message_type is Decline else anna).send(message_type(id))
    for peer in (anna, bert):
        assert peer.receive(ChallengeOver).outcome == outcome
    bert.send(Accept(id))
    assert bert.receive(Error).code is ErrorCode.NO_SUCH_CHALLENGE


@pytest.mark.parametrize(
    ("opponent", "message_type", "sender"),
    [
        ("bert", Accept, "carl"),
        ("bert", Accept, "anna"),
        ("", Accept, "anna"),
        ("bert", Decline, "anna"),
        ("bert", Decline, "carl"),
        ("", Decline, "carl"),
        ("bert", Withdraw, "bert"),
        ("", Withdraw, "carl"),
    ],
)
def test_a_bot_without_the_right_to_answer_a_challenge_leaves_it_open(
    opponent: str, message_type: Any, sender: str
) -> None:
    arena, anna, bert = arena_with_two_bots()
    carl = arena.connect("carl")
    anna.send(replace(TICTACTOE, opponent=opponent))
    id = anna.receive(Challenged).challenge
    peer = {"anna": anna, "bert": bert, "carl": carl}[sender]
    peer.send(message_type(id))
    assert peer.receive(Error).code is ErrorCode.NO_SUCH_CHALLENGE
    assert [each.challenge for each in arena.listing().challenges] == [id]


def test_the_first_bot_to_accept_a_challenge_to_any_bot_plays_it() -> None:
    arena, anna, bert = arena_with_two_bots()
    carl = arena.connect("carl")
    anna.send(replace(TICTACTOE, game="riskless", map="path4"))
    id = arena.listing().challenges[0].challenge
    for peer in (bert, carl):
        peer.send(Accept(id))
    assert bert.receive(ChallengeOver).outcome == "accepted"
    assert carl.receive(Error).code is ErrorCode.NO_SUCH_CHALLENGE
    assert [each.map for each in arena.listing().matches] == ["path4"]


def test_an_unanswered_challenge_expires() -> None:
    arena, anna, bert = arena_with_two_bots()
    anna.send(TO_BERT)
    arena.wait(CHALLENGE_LIFETIME_MS - 1)
    assert not bert.all(ChallengeOver)
    assert arena.listing().challenges[0].expires_ms == 1
    arena.wait(1)
    assert [peer.receive(ChallengeOver).outcome for peer in (anna, bert)] == ["expired"] * 2


def test_the_challenges_of_a_bot_are_withdrawn_when_it_disconnects() -> None:
    arena, anna, bert = arena_with_two_bots()
    anna.send(TO_BERT)
    bert.send(TICTACTOE)
    arena.connect("carl").send(replace(TICTACTOE, opponent="anna"))
    anna.disconnect()
    over = bert.receive(ChallengeOver)
    assert (over.outcome, over.detail) == ("withdrawn", "anna has disconnected")
    assert [each.challenger for each in arena.listing().challenges] == ["bert"]


def test_a_returning_bot_is_sent_its_open_challenges() -> None:
    _, anna, bert = arena_with_two_bots()
    anna.send(TO_BERT)
    id = bert.receive(Challenged).challenge
    # The core has not noticed yet that the old connection is lost, so the challenge is still open.
    assert bert.reconnect().receive(Challenged).challenge == id


NEVER, LATER = ErrorCode.BAD_CHALLENGE, ErrorCode.OPPONENT_UNAVAILABLE
"""Codes for a challenge that cannot be played, and for one that can be played later."""


@pytest.mark.parametrize(
    ("challenge", "code", "why"),
    [
        (Challenge("house-greddy"), NEVER, 'did you mean "house-greedy"?'),
        (Challenge("anna"), NEVER, "against itself"),
        (Challenge(game="chess"), NEVER, "no game is called"),
        (Challenge(map="nowhere"), NEVER, "no such map"),
        (Challenge(map="/etc/passwd.toml"), NEVER, "is a file: name a map"),
        (Challenge(game="capitals", map="/etc/passwd.toml"), NEVER, "is a file: name a map"),
        (Challenge(game="capitals", map="grid:31x32"), NEVER, "this server allows at most 200"),
        (Challenge(map="grid:9999x9999"), NEVER, "grid:WxH"),
        (Challenge(map="grid:31x32"), NEVER, "has 992 territories; this server allows at most 200"),
        (Challenge("nobody"), LATER, "no bot called 'nobody' is connected"),
        (Challenge("berta"), LATER, "no bot called 'berta' is connected; did you mean \"bert\"?"),
        (Challenge("bert", game="tictactoe"), LATER, "plays riskless only"),
        (Challenge("bert", map="m2"), LATER, "on m1 only"),
        (Challenge("bert", map="m1"), LATER, "at 1+0 only"),
    ],
)
def test_a_challenge_that_cannot_be_played_is_refused_with_the_reason(
    challenge: Challenge, code: ErrorCode, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if challenge.game == "capitals":
        forget_games(monkeypatch)
        CATALOGUE.register_game(str(EXAMPLES / "capitals.py"))
    arena = Arena(house_engines=(HouseEngine("house-greedy", "greedy"),))
    anna = arena.connect("anna")
    bert = arena.connect(Hello("bert", games=["riskless"], maps=["m1"], time_controls=["1+0"]))
    anna.send(challenge)
    error = anna.receive(Error)
    assert (error.code, why in error.detail) == (code, True), error
    assert "--game" not in error.detail  # a client in another language has no options or files here
    assert ".toml file" not in error.detail
    anna.send(Challenge("bert", map="m1", time_control=TimeControl.parse("1+0")))
    assert bert.receive(Challenged).map == "m1"


def test_the_limit_of_open_challenges_does_not_count_closed_ones() -> None:
    _, anna, bert = arena_with_two_bots(limits=ServerLimits(open_challenges=2))
    for _ in range(2):
        anna.send(TICTACTOE)
    anna.send(Challenge(map="nowhere"))
    assert anna.receive(Error).code is ErrorCode.RATE_LIMITED, "the limit is checked before the map"
    bert.send(TICTACTOE)
    anna.send(Withdraw(anna.all(Challenged)[0].challenge)).send(TICTACTOE)
    assert len(anna.all(Challenged)) == 3
    ids = {each.challenge for peer in (anna, bert) for each in peer.all(Challenged)}
    assert len(ids) == 4, "all ids differ"


def test_challenges_accepted_at_once_begin_no_more_matches_than_the_capacity() -> None:
    arena, anna, bert = arena_with_two_bots()
    carl = arena.connect("carl")
    for challenger in (bert, carl):
        challenger.send(Challenge("anna", game="tictactoe"))
    for each in anna.all(Challenged):
        anna.send(Accept(each.challenge))
    assert [each.outcome for each in anna.all(ChallengeOver)] == ["accepted", "refused"]
    assert carl.receive(ChallengeOver).detail == "anna already plays as many matches as it accepts"
    assert arena.core.match_count == 1


def test_a_bot_with_quota_0_gets_no_challenges() -> None:
    _, anna, bert = arena_with_two_bots()
    anna.send(TO_BERT)
    bert.send(Status(0))
    assert anna.receive(ChallengeOver).detail == "bert takes no more matches"
    anna.send(TO_BERT)
    assert "takes no more matches" in anna.receive(Error).detail


def test_a_draining_core_neither_opens_nor_accepts_challenges() -> None:
    arena, anna, bert = arena_with_two_bots()
    anna.send(TO_BERT)
    arena.handle(StartDraining())
    bert.send(Accept(bert.receive(Challenged).challenge)).send(replace(TICTACTOE, time_control=FAST))
    assert [each.code for each in bert.all(Error)] == [ErrorCode.SHUTTING_DOWN] * 2
    assert arena.core.match_count == 0
    assert not bert.all(Listing)


def test_challenge_ids_are_not_reused_after_a_restart() -> None:
    arena, anna, _ = arena_with_two_bots()
    anna.send(TICTACTOE)
    after = arena.restore()
    carl, dora = after.connect("carl"), after.connect("dora")
    carl.send(TICTACTOE)
    dora.send(Accept(anna.receive(Challenged).challenge))
    assert dora.receive(Error).code is ErrorCode.NO_SUCH_CHALLENGE

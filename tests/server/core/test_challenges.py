"""Challenges, as bots make, answer and lose them."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from arena.games.catalogue import CATALOGUE
from arena.protocol.adjudication import Adjudication
from arena.protocol.codes import Code, EndReason
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
from arena.server.core.limits import HostLimits
from arena.server.core.open_challenges import CHALLENGE_LIFETIME_MS
from arena.server.core.settings import HouseEngine
from tests.games.own import EXAMPLES, forget_games
from tests.server.core.arena import FAST, TICTACTOE, Arena, play_line, play_on, two

TO_BERT = replace(TICTACTOE, opponent="bert")


def test_a_challenge_is_accepted_and_played() -> None:
    arena, anna, bert = two(adjudication=Adjudication(limit=2))
    anna.say(replace(TO_BERT, seat="minnie"))
    offered = bert.hear(Challenged)
    assert (offered.challenger, offered.seat, offered.rated) == ("anna", "minnie", True)
    assert anna.hear(Challenged) == offered
    assert offered.expires_ms == 60_000
    bert.say(Accept(offered.challenge))
    over = anna.hear(ChallengeOver)
    assert bert.hear(ChallengeOver) == over
    start = bert.all(Start)[0]
    assert (start.match, start.seat, over.outcome) == (over.match, "maxie", "accepted")
    for peer in (anna, bert):
        peer.say(Ready(start.match))
    play_line(bert, anna, (0, 3))
    (record,) = arena.records
    assert (record.event, record.result.reason) == ("serve", EndReason.ADJUDICATED)


def test_seats_are_swapped_from_match_to_match() -> None:
    arena, anna, bert = two()
    for _ in range(4):
        anna.say(TO_BERT)
        bert.say(Accept(bert.hear(Challenged).challenge))
        play_on(arena)
    assert [each.players.maxie for each in arena.records] == ["anna", "bert"] * 2


@pytest.mark.parametrize(("answer", "outcome"), [(Decline, "declined"), (Withdraw, "withdrawn")])
def test_a_challenge_can_be_declined_and_withdrawn(answer: Any, outcome: str) -> None:
    _, anna, bert = two()
    anna.say(TO_BERT)
    id = bert.hear(Challenged).challenge
    (bert if answer is Decline else anna).say(answer(id))
    for peer in (anna, bert):
        assert peer.hear(ChallengeOver).outcome == outcome
    bert.say(Accept(id))
    assert bert.hear(Error).code is Code.NO_SUCH_CHALLENGE


@pytest.mark.parametrize(
    ("opponent", "answer", "who"),
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
def test_nobody_else_may_and_it_stays_open(opponent: str, answer: Any, who: str) -> None:
    arena, anna, bert = two()
    carl = arena.enter("carl")
    anna.say(replace(TICTACTOE, opponent=opponent))
    id = anna.hear(Challenged).challenge
    peer = {"anna": anna, "bert": bert, "carl": carl}[who]
    peer.say(answer(id))
    assert peer.hear(Error).code is Code.NO_SUCH_CHALLENGE
    assert [each.challenge for each in arena.listing().challenges] == [id]


def test_an_open_challenge_is_taken_by_the_first() -> None:
    arena, anna, bert = two()
    carl = arena.enter("carl")
    anna.say(replace(TICTACTOE, game="riskless", map="path4"))
    id = arena.listing().challenges[0].challenge
    for peer in (bert, carl):
        peer.say(Accept(id))
    assert bert.hear(ChallengeOver).outcome == "accepted"
    assert carl.hear(Error).code is Code.NO_SUCH_CHALLENGE
    assert [each.map for each in arena.listing().matches] == ["path4"]


def test_it_expires_when_its_time_is_up() -> None:
    arena, anna, bert = two()
    anna.say(TO_BERT)
    arena.wait(CHALLENGE_LIFETIME_MS - 1)
    assert not bert.all(ChallengeOver)
    assert arena.listing().challenges[0].expires_ms == 1
    arena.wait(1)
    assert [peer.hear(ChallengeOver).outcome for peer in (anna, bert)] == ["expired"] * 2


def test_the_challenges_of_a_bot_end_when_it_leaves() -> None:
    arena, anna, bert = two()
    anna.say(TO_BERT)
    bert.say(TICTACTOE)
    arena.enter("carl").say(replace(TICTACTOE, opponent="anna"))
    anna.leave()
    over = bert.hear(ChallengeOver)
    assert (over.outcome, over.detail) == ("withdrawn", "anna has disconnected")
    assert [each.challenger for each in arena.listing().challenges] == ["bert"]


def test_a_returning_bot_is_sent_its_open_challenges() -> None:
    _, anna, bert = two()
    anna.say(TO_BERT)
    id = bert.hear(Challenged).challenge
    # Its old connection seems open yet, and its challenges with it.
    assert bert.back().hear(Challenged).challenge == id


NEVER, LATER = Code.BAD_CHALLENGE, Code.OPPONENT_UNAVAILABLE
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
def test_a_challenge_that_cannot_be_played_is_refused_and_another_one_is_not(
    challenge: Challenge, code: Code, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if challenge.game == "capitals":
        forget_games(monkeypatch)
        CATALOGUE.register(str(EXAMPLES / "capitals.py"))
    arena = Arena(house=(HouseEngine("house-greedy", "greedy"),))
    anna = arena.enter("anna")
    bert = arena.enter(Hello("bert", games=["riskless"], maps=["m1"], time_controls=["1+0"]))
    anna.say(challenge)
    error = anna.hear(Error)
    assert (error.code, why in error.detail) == (code, True), error
    assert "--game" not in error.detail  # a client in another language has no options or files here
    assert ".toml file" not in error.detail
    anna.say(Challenge("bert", map="m1", time_control=TimeControl.parse("1+0")))
    assert bert.hear(Challenged).map == "m1"


def test_a_bot_has_so_many_open_and_gets_one_back_for_each_that_closes() -> None:
    _, anna, bert = two(limits=HostLimits(open_challenges=2))
    for _ in range(2):
        anna.say(TICTACTOE)
    anna.say(Challenge(map="nowhere"))
    assert anna.hear(Error).code is Code.RATE_LIMITED, "its open challenges are looked at before the map is"
    bert.say(TICTACTOE)
    anna.say(Withdraw(anna.all(Challenged)[0].challenge)).say(TICTACTOE)
    assert len(anna.all(Challenged)) == 3
    ids = {each.challenge for peer in (anna, bert) for each in peer.all(Challenged)}
    assert len(ids) == 4, "no id comes twice"


def test_two_challenges_accepted_at_once_start_no_more_than_the_bot_takes() -> None:
    arena, anna, bert = two()
    carl = arena.enter("carl")
    for challenger in (bert, carl):
        challenger.say(Challenge("anna", game="tictactoe"))
    for each in anna.all(Challenged):
        anna.say(Accept(each.challenge))
    assert [each.outcome for each in anna.all(ChallengeOver)] == ["accepted", "refused"]
    assert carl.hear(ChallengeOver).detail == "anna already plays as many matches as it accepts"
    assert arena.core.match_count == 1


def test_challenges_to_a_bot_that_takes_no_more_are_over_and_refused() -> None:
    _, anna, bert = two()
    anna.say(TO_BERT)
    bert.say(Status(0))
    assert anna.hear(ChallengeOver).detail == "bert takes no more matches"
    anna.say(TO_BERT)
    assert "takes no more matches" in anna.hear(Error).detail


def test_a_core_that_drains_opens_no_challenge_and_begins_none() -> None:
    arena, anna, bert = two()
    anna.say(TO_BERT)
    arena.give(StartDraining())
    bert.say(Accept(bert.hear(Challenged).challenge)).say(replace(TICTACTOE, time_control=FAST))
    assert [each.code for each in bert.all(Error)] == [Code.SHUTTING_DOWN] * 2
    assert arena.core.match_count == 0
    assert not bert.all(Listing)


def test_challenge_ids_are_not_reused_after_a_restart() -> None:
    arena, anna, _ = two()
    anna.say(TICTACTOE)
    after = arena.restored()
    carl, dora = after.enter("carl"), after.enter("dora")
    carl.say(TICTACTOE)
    dora.say(Accept(anna.hear(Challenged).challenge))
    assert dora.hear(Error).code is Code.NO_SUCH_CHALLENGE

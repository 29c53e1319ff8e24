import pytest
from msgspec import UNSET, UnsetType

from arena.bots.client.state.actions import Disconnect, ScheduleChallenge, SendMessage, WarnOwner
from arena.bots.client.state.machine import ClientStateMachine
from arena.protocol.codes import ErrorCode
from arena.protocol.messages import Challenge, Challenged, ChallengeOver, Error, Hello, Queued, Status
from arena.protocol.timecontrol import TimeControl
from tests.bots.server_messages import end, start, welcome

ASK = Challenge("house-greedy", game="tictactoe", time_control=TimeControl(1000))


def challenging(matches: int = 1, quota: int | UnsetType = UNSET) -> ClientStateMachine:
    machine = ClientStateMachine(Hello("me", matches=matches, pool=False, quota=quota), ASK)
    machine.handle_connected()
    assert machine.handle_message(welcome(), 0.0) == [SendMessage(ASK)] * matches
    return machine


def open_one(machine: ClientStateMachine, id: str = "c1") -> None:
    challenged = Challenged(id, "me", "house-greedy", "tictactoe", "", TimeControl(1000), None, True, 60_000)
    assert machine.handle_message(challenged, 0.0) == []


def test_challenges_fill_the_free_slots() -> None:
    machine = challenging()
    open_one(machine)
    assert machine.send_challenges() == []
    assert machine.handle_message(ChallengeOver("c1", "accepted", "", "m"), 0.0) == []
    assert machine.send_challenges() == []  # its match has not started yet
    machine.handle_message(start(), 0.0)
    assert machine.send_challenges() == []
    assert machine.handle_message(end([]), 0.0)[-1] == SendMessage(ASK)


@pytest.mark.parametrize("matches", [1, 2, 3])
def test_each_free_slot_has_one_challenge_unanswered_open_or_accepted(matches: int) -> None:
    machine = challenging(matches)
    for number in range(matches):
        assert machine.send_challenges() == []
        open_one(machine, f"c{number}")
    for number in range(matches):
        assert machine.send_challenges() == []
        machine.handle_message(ChallengeOver(f"c{number}", "accepted", "", f"m{number}"), 0.0)
    assert machine.send_challenges() == []


@pytest.mark.parametrize("outcome", ["accepted", "declined", "expired", "refused", "withdrawn"])
def test_a_challenge_without_a_match_is_tried_again(outcome: str) -> None:
    machine = challenging()
    open_one(machine)
    over = ChallengeOver("c1", outcome, "not now")  # type: ignore[arg-type]
    assert machine.handle_message(over, 0.0) == [ScheduleChallenge(f"the challenge is {outcome}: not now")]
    assert machine.send_challenges() == [SendMessage(ASK)]


def test_a_refused_challenge_is_reported_and_repeated() -> None:
    machine = challenging()
    again = machine.handle_message(
        Error(ErrorCode.OPPONENT_UNAVAILABLE, "no bot called 'x' is connected"), 0.0
    )
    assert again == [ScheduleChallenge("the challenge is refused: no bot called 'x' is connected")]
    assert machine.send_challenges() == [SendMessage(ASK)]


def test_a_challenge_that_can_never_be_played_is_not_repeated() -> None:
    refusal = Error(ErrorCode.BAD_CHALLENGE, "a bot cannot play against itself")
    assert challenging().handle_message(refusal, 0.0) == [Disconnect(refusal.code, refusal.detail)]
    machine = challenging(matches=2)
    open_one(machine)
    machine.handle_message(ChallengeOver("c1", "accepted", "", "m"), 0.0)
    machine.handle_message(start(), 0.0)
    warning, last = machine.handle_message(refusal, 0.0)
    assert warning == WarnOwner(
        "the challenge is refused, and not repeated: a bot cannot play against itself"
    )
    assert last == SendMessage(Status(quota=0)), "the match in play is played to its end"
    assert machine.match_count == 1
    assert machine.send_challenges() == []


def test_a_quota_bounds_the_challenges() -> None:
    machine = challenging(quota=1)
    open_one(machine)
    machine.handle_message(ChallengeOver("c1", "accepted", "", "m"), 0.0)
    machine.handle_message(start(), 0.0)
    assert not any(action == SendMessage(ASK) for action in machine.handle_message(end([]), 0.0))


def test_a_new_connection_sends_new_challenges() -> None:
    machine = challenging()
    open_one(machine)
    machine.handle_disconnected()
    assert machine.send_challenges() == []
    machine.handle_connected()
    assert machine.handle_message(welcome(), 0.0) == [SendMessage(ASK)]


def test_the_place_of_a_challenge_in_the_queue_is_reported() -> None:
    machine = challenging()
    open_one(machine)
    (report,) = machine.handle_message(Queued("c1", 3), 0.0)
    assert "place 3" in str(report)

import pytest

from arena.bots.client.state.actions import (
    CancelMove,
    ChooseMove,
    ClientAction,
    Disconnect,
    EndMatch,
    PrepareBot,
    SendMessage,
    WarnOwner,
)
from arena.bots.client.state.machine import ClientStateMachine
from arena.games.core import Player
from arena.protocol.codes import EndReason, ErrorCode
from arena.protocol.messages import (
    Accept,
    Accepted,
    Challenged,
    ChallengeOver,
    Error,
    Hello,
    Move,
    Ready,
    Resign,
    Standing,
    Start,
    Status,
    Turn,
)
from arena.protocol.timecontrol import TimeControl
from tests.bots.server_messages import TICTACTOE, end, start, turn, welcome

HELLO = Hello("me", matches=2)


def at_a_match(**how: object) -> ClientStateMachine:
    """Return a machine that has sent `ready` for match m."""
    machine = ClientStateMachine(HELLO)
    machine.handle_connected()
    machine.handle_message(welcome(), 0.0)
    machine.handle_message(start(**how), 0.0)  # type: ignore[arg-type]
    machine.handle_bot_prepared("m")
    return machine


def only(actions: list[ClientAction]) -> ClientAction:
    assert len(actions) == 1, actions
    return actions[0]


def crashed(action: ClientAction) -> bool:
    """Return True if the actions report that the bot of match m failed, with the reason."""
    resign = action.message if isinstance(action, SendMessage) else None
    return (
        isinstance(resign, Resign) and (resign.match, resign.reason) == ("m", "crash") and bool(resign.detail)
    )


def test_a_match_from_hello_to_end() -> None:
    machine = ClientStateMachine(HELLO)
    assert machine.handle_connected() == [SendMessage(HELLO)]
    assert machine.handle_message(welcome(), 0.0) == []
    assert machine.is_welcomed
    prepare = only(machine.handle_message(start(), 0.0))
    assert isinstance(prepare, PrepareBot)
    assert (prepare.match.seat, prepare.match.threads, prepare.match.opponent) == (Player.MAXIE, 2, "two")
    assert machine.handle_bot_prepared("m") == [SendMessage(Ready("m"))]
    choose = only(machine.handle_message(turn([]), 5.0))
    assert isinstance(choose, ChooseMove)
    assert choose.position == TICTACTOE.start()
    assert choose.opponent_move is None
    clock = choose.clock
    assert (clock.mine, clock.theirs, clock.increment, clock.margin) == (9.0, 8.0, 0.1, 0.1)
    assert (clock.per_move, clock.arrived, clock.lag) == (False, 5.0, 0.0)
    assert machine.handle_move_chosen("m", 0, 4, None, 5.1) == [SendMessage(Move("m", 0, 4))]
    assert machine.handle_message(Accepted("m", 0, 130.0, 9000), 5.2) == []
    choose = only(machine.handle_message(turn([4, 0]), 6.0))
    assert isinstance(choose, ChooseMove)
    assert (choose.ply, choose.opponent_move) == (2, 0)
    assert choose.clock.lag == pytest.approx(0.03), "the server's time minus the bot's"
    assert machine.handle_move_chosen("m", 2, 8, None, 6.1) == [SendMessage(Move("m", 2, 8))]
    finish = only(machine.handle_message(end([4, 0, 8], winner="maxie"), 7.0))
    assert isinstance(finish, EndMatch)
    assert finish.ending.outcome_for(Player.MAXIE) == "won"
    assert finish.ending.plies == 3
    assert TICTACTOE.position_to_text(finish.ending.position) == "O...X...X"
    assert machine.match_count == 0


def test_a_repeated_turn_gets_the_same_answer() -> None:
    machine = at_a_match()
    machine.handle_message(turn([]), 0.0)
    assert machine.handle_message(turn([]), 0.1) == []
    machine.handle_move_chosen("m", 0, 4, None, 0.2)
    assert machine.handle_message(turn([]), 0.3) == [SendMessage(Move("m", 0, 4))]
    assert machine.handle_move_chosen("m", 0, 5, None, 0.4) == []


def test_a_client_that_missed_messages_catches_up_from_the_moves() -> None:
    machine = at_a_match()
    machine.handle_message(turn([]), 0.0)
    stop, choose = machine.handle_message(turn([0, 1, 2, 3]), 1.0)
    assert stop == CancelMove("m")
    assert isinstance(choose, ChooseMove)
    assert (choose.ply, choose.opponent_move) == (4, 3)
    assert TICTACTOE.position_to_text(choose.position) == "XOXO....."
    assert machine.handle_move_chosen("m", 0, 4, None, 1.1) == []
    assert machine.handle_move_chosen("m", 4, 4, None, 1.2) == [SendMessage(Move("m", 4, 4))]
    assert machine.handle_message(turn([0, 1]), 1.3) == [], "an old turn"


def test_a_turn_before_the_bot_is_ready_waits_for_it() -> None:
    machine = ClientStateMachine(HELLO)
    machine.handle_message(welcome(), 0.0)
    machine.handle_message(start(), 0.0)
    assert machine.handle_message(turn([]), 1.0) == []
    ready, choose = machine.handle_bot_prepared("m")
    assert ready == SendMessage(Ready("m"))
    assert isinstance(choose, ChooseMove)
    assert choose.clock.arrived == 1.0


def test_the_end_stops_a_bot_that_thinks() -> None:
    machine = at_a_match()
    machine.handle_message(turn([]), 0.0)
    stop, finish = machine.handle_message(end([], winner="minnie", reason=EndReason.TIMEOUT), 1.0)
    assert stop == CancelMove("m")
    assert isinstance(finish, EndMatch)
    assert finish.ending.outcome_for(Player.MAXIE) == "lost"
    assert machine.handle_move_chosen("m", 0, 4, None, 1.1) == []
    assert machine.handle_message(Error(ErrorCode.NO_SUCH_MATCH, "over", "m"), 1.2) == []


def test_matches_at_once_do_not_mix() -> None:
    machine = at_a_match()
    machine.handle_message(start("other", seat="minnie"), 0.0)
    machine.handle_bot_prepared("other")
    machine.handle_message(turn([]), 0.0)
    machine.handle_message(turn([8], match="other"), 0.0)
    assert machine.handle_move_chosen("other", 1, 4, None, 0.1) == [SendMessage(Move("other", 1, 4))]
    assert machine.handle_move_chosen("m", 0, 4, None, 0.1) == [SendMessage(Move("m", 0, 4))]
    assert machine.match_count == 2


def test_a_bot_that_chose_to_resign_says_why() -> None:
    machine = at_a_match()
    _, resign = machine.handle_bot_failed("m", "hopeless", has_crashed=False)
    assert resign == SendMessage(Resign("m", "resignation", "hopeless"))


def test_a_match_beyond_the_limit_is_resigned() -> None:
    machine = at_a_match()
    machine.handle_message(start("second"), 0.0)
    complaint, resign = machine.handle_message(start("third"), 0.0)
    assert isinstance(complaint, WarnOwner)
    assert "match third exceeds the agreed 2 simultaneous matches" in complaint.warning_text
    assert resign == SendMessage(Resign("third"))


def test_a_match_of_an_unknown_game_is_resigned() -> None:
    machine = ClientStateMachine(HELLO)
    message = start()
    unknown = type(message)(**{f: getattr(message, f) for f in message.__struct_fields__} | {"game": "chess"})
    complaint, resign = machine.handle_message(unknown, 0.0)
    assert isinstance(complaint, WarnOwner)
    assert "no game is called 'chess'" in complaint.warning_text
    assert resign == SendMessage(Resign("m"))
    assert machine.handle_message(end([]), 0.0) == []


@pytest.mark.parametrize("moves", [[0, 0], [9], ["b2"], [None]])
def test_a_turn_with_illegal_moves_resigns_the_match(moves: list[object]) -> None:
    complaint, resign = at_a_match().handle_message(turn(moves), 0.0)
    assert isinstance(complaint, WarnOwner)
    assert "break this client's rules of tictactoe" in complaint.warning_text
    assert crashed(resign)


def test_a_turn_of_the_opponent_resigns_the_match() -> None:
    won = [0, 3, 1, 4, 2]
    complaint, resign = at_a_match(seat="minnie").handle_message(turn(won), 0.0)
    assert isinstance(complaint, WarnOwner)
    assert "impossible turn" in complaint.warning_text
    assert crashed(resign)
    complaint, resign = at_a_match(seat="minnie").handle_message(turn([]), 0.0)
    assert isinstance(complaint, WarnOwner)
    assert "the server sent an impossible turn, at ply 0 after 0 moves" in complaint.warning_text
    assert crashed(resign)


def test_a_turn_in_an_unknown_match_is_reported_and_changes_nothing() -> None:
    machine = at_a_match()
    complaint = only(machine.handle_message(turn([], match="what"), 0.0))
    assert isinstance(complaint, WarnOwner)
    assert "match what" in complaint.warning_text
    assert machine.match_count == 1


def test_a_failed_bot_resigns_and_repeats_the_resignation_on_request() -> None:
    machine = at_a_match()
    machine.handle_message(turn([]), 0.0)
    complaint, resign = machine.handle_bot_failed("m", "choose raised ValueError: no idea")
    assert complaint == WarnOwner("match m: choose raised ValueError: no idea; the match is lost by a crash")
    gave_up = SendMessage(Resign("m", "crash", "choose raised ValueError: no idea"))
    assert resign == gave_up
    assert machine.handle_bot_failed("m", "again") == []
    assert machine.handle_message(turn([]), 0.0) == [gave_up]
    assert machine.handle_message(start(), 0.0) == [gave_up]
    assert isinstance(only(machine.handle_message(end([], winner="minnie"), 0.0)), EndMatch)


def test_a_choice_that_is_not_a_move_resigns() -> None:
    machine = at_a_match()
    machine.handle_message(turn([]), 0.0)
    complaint, resign = machine.handle_move_chosen("m", 0, None, None, 0.1)
    assert isinstance(complaint, WarnOwner)
    assert "choose returned None, which is not a move of tictactoe" in complaint.warning_text
    assert crashed(resign)


def test_a_fatal_error_ends_the_connection_and_others_are_reported() -> None:
    machine = at_a_match()
    assert machine.handle_message(Error(ErrorCode.BAD_TOKEN, "no", fatal=True), 0.0) == [
        Disconnect(ErrorCode.BAD_TOKEN, "no")
    ]
    warning = only(machine.handle_message(Error(ErrorCode.OUT_OF_TURN, "not yours", "m", 3), 0.0))
    assert warning == WarnOwner("match m: the server says out_of_turn at ply 3: not yours")


# lost connections


def test_a_new_connection_resumes_the_session_and_repeats_answers() -> None:
    machine = at_a_match()
    machine.handle_message(turn([]), 0.0)
    machine.handle_move_chosen("m", 0, 4, None, 0.1)
    machine.handle_disconnected()
    assert not machine.is_welcomed
    hello = only(machine.handle_connected())
    assert isinstance(hello, SendMessage)
    assert isinstance(hello.message, Hello)
    assert hello.message.session == "secret"
    # The match may be over. The machine repeats its last message, which the server would then refuse.
    assert machine.handle_message(welcome(), 1.0) == [SendMessage(Ready("m"))]
    assert machine.handle_message(start(), 1.0) == [SendMessage(Ready("m"))]
    assert machine.handle_message(turn([]), 1.0) == [SendMessage(Move("m", 0, 4))]


def test_a_finishing_client_sends_its_quota_again_on_the_next_connection() -> None:
    machine = at_a_match()
    machine.stop_after_current_matches()
    assert machine.stop_after_current_matches() == []
    machine.handle_disconnected()
    assert machine.handle_connected() == [SendMessage(Hello("me", matches=2, quota=0, session="secret"))]


def test_a_client_asks_for_the_ends_of_its_matches_if_the_session_is_lost() -> None:
    machine = at_a_match()
    machine.handle_message(turn([]), 0.0)
    machine.handle_disconnected()
    machine.handle_connected()
    assert machine.handle_message(welcome("another"), 1.0) == [SendMessage(Ready("m"))]
    # The server refuses a move that was chosen meanwhile, before it sends the end.
    machine.handle_move_chosen("m", 0, 4, None, 1.1)
    assert machine.handle_message(Error(ErrorCode.NO_SUCH_MATCH, "it is over", "m", 0), 1.2) == []
    finish = only(machine.handle_message(end([], winner="minnie", reason=EndReason.DISCONNECT), 1.3))
    assert isinstance(finish, EndMatch)
    assert finish.ending.outcome_for(Player.MAXIE) == "lost"


@pytest.mark.parametrize("session", ["secret", "another"])
def test_a_match_unknown_to_the_server_is_dropped(session: str) -> None:
    machine = at_a_match()
    machine.handle_message(turn([]), 0.0)
    machine.handle_disconnected()
    machine.handle_connected()
    machine.handle_message(welcome(session), 1.0)
    stop, finish = machine.handle_message(Error(ErrorCode.NO_SUCH_MATCH, "there is none", "m"), 1.0)
    assert stop == CancelMove("m")
    assert isinstance(finish, EndMatch)
    assert finish.ending.outcome_for(Player.MAXIE) == "void"
    assert machine.match_count == 0
    assert machine.handle_message(start(), 1.1) != []


def test_a_client_repeats_its_quota_if_it_reconnects_before_the_answer() -> None:
    machine = ClientStateMachine(HELLO)
    machine.handle_connected()
    machine.handle_message(welcome(), 0.0)
    assert machine.stop_after_current_matches() == [SendMessage(Status(quota=0))]
    machine.handle_disconnected()
    machine.handle_connected()
    assert machine.handle_message(welcome(), 1.0) == [SendMessage(Status(quota=0))]
    assert not machine.is_done
    machine.handle_message(start(), 1.1)  # assigned before the server received the quota
    machine.handle_message(Standing("finishing", "takes no more matches; 1 in play", 0), 1.2)
    assert not machine.is_done
    machine.handle_disconnected()
    machine.handle_connected()
    assert machine.handle_message(welcome(), 2.0) == []
    machine.handle_message(end([]), 2.1)
    assert machine.is_done


@pytest.mark.parametrize("heard", [start("second"), turn([], match="second")], ids=["start", "turn"])
def test_matches_not_mentioned_after_a_reconnection_do_not_count(heard: Start | Turn) -> None:
    machine = at_a_match()
    machine.handle_message(start("second"), 0.0)
    machine.handle_disconnected()
    machine.handle_connected()
    machine.handle_message(welcome(), 1.0)
    machine.handle_message(heard, 1.0)
    machine.handle_message(start("m"), 1.0)
    refusal = machine.handle_message(start("third"), 1.0)
    assert refusal[-1] == SendMessage(Resign("third")), "two matches were heard of"
    machine.handle_disconnected()
    machine.handle_connected()
    machine.handle_message(welcome(), 1.0)
    machine.handle_message(heard, 1.0)
    prepare = only(machine.handle_message(start("third"), 1.0))
    assert isinstance(prepare, PrepareBot)
    finish = only(machine.handle_message(end([]), 1.0))
    assert isinstance(finish, EndMatch)
    assert finish.match.id == "m"


def challenge(id: str, opponent: str = "me") -> Challenged:
    return Challenged(id, "anna", opponent, "tictactoe", "", TimeControl(1000), None, True, 60_000)


def test_a_challenge_is_accepted_as_soon_as_there_is_room() -> None:
    machine = ClientStateMachine(Hello("me", matches=1))
    machine.handle_connected()
    machine.handle_message(welcome(), 0.0)
    assert machine.handle_message(challenge("c1"), 0.0) == [SendMessage(Accept("c1"))]
    machine.handle_message(start(), 0.0)
    machine.handle_bot_prepared("m")
    assert machine.handle_message(challenge("c2"), 0.0) == []
    assert machine.handle_message(challenge("c3"), 0.0) == []
    assert machine.handle_message(ChallengeOver("c2", "expired"), 0.0) == []
    finish, accept = machine.handle_message(end([]), 0.0)
    assert isinstance(finish, EndMatch)
    assert accept == SendMessage(Accept("c3"))


def test_an_open_challenge_and_one_to_another_bot_are_ignored() -> None:
    machine = ClientStateMachine(HELLO)
    machine.handle_connected()
    machine.handle_message(welcome(), 0.0)
    assert machine.handle_message(challenge("c1", ""), 0.0) == []
    assert machine.handle_message(challenge("c2", "bert"), 0.0) == []

"""bots.client.state.machine against a model of a server, over a network that loses messages and connections."""

import random

from hypothesis import given
from hypothesis import strategies as st

from arena.bots.client.state.actions import (
    CancelMove,
    ChooseMove,
    ClientAction,
    EndMatch,
    PrepareBot,
    SendMessage,
)
from arena.bots.client.state.machine import ClientStateMachine
from arena.protocol.codes import EndReason
from arena.protocol.messages import (
    Accepted,
    Hello,
    Move,
    Ready,
    ServerMessage,
)
from tests.bots.server_messages import TICTACTOE, end, start, turn, welcome
from tests.properties import examples

HELLO = Hello("me", matches=2)


class Server:
    """Model of a server with one match of tic-tac-toe.

    line  messages that are on their way to the client; a lost connection loses them
    deaf  True if the connection is broken, but the client has not noticed: its messages are lost
    """

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.position = TICTACTOE.start()
        self.moves: list[object] = []
        self.answers: dict[int, set[object]] = {}
        self.ready = False
        self.line: list[ServerMessage] = []
        self.deaf = False

    def connect(self) -> None:
        self.deaf = False
        self.line = [welcome()]
        self.line.append(self.over() or start())
        if self.ready and not self.over():
            self.line.append(turn(self.moves))

    def over(self) -> ServerMessage | None:
        outcome = TICTACTOE.outcome(self.position)
        return end(self.moves, reason=EndReason.BOARD_FULL) if outcome else None

    def play(self, move: object) -> None:
        self.position = TICTACTOE.play(self.position, move)
        self.moves = [*self.moves, move]

    def take(self, message: object) -> None:
        if self.deaf:
            return
        match message:
            case Ready() if not self.ready:
                self.ready = True
                self.line.append(turn(self.moves))
            case Move(_, ply, move):
                self.answers.setdefault(ply, set()).add(move)
                if ply != len(self.moves):
                    return
                self.play(move)
                self.line.append(Accepted("m", ply, 1.0, 1000))
                if not self.over():
                    self.play(self.rng.choice(TICTACTOE.moves(self.position)))
                self.line.append(self.over() or turn(self.moves))


class Client:
    """Client under test: the machine, with a bot that plays at random."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.machine = ClientStateMachine(Hello("me"))
        self.doing: list[PrepareBot | ChooseMove] = []
        self.finished: list[EndMatch] = []
        self.connect()

    def connect(self) -> None:
        self.machine.handle_disconnected()
        self.server.connect()
        self.act(self.machine.handle_connected())

    def act(self, actions: list[ClientAction]) -> None:
        for action in actions:
            match action:
                case SendMessage(message):
                    self.server.take(message)
                case PrepareBot() | ChooseMove():
                    self.doing.append(action)
                case EndMatch():
                    self.finished.append(action)
                case CancelMove():
                    self.doing.clear()
                case _:
                    raise AssertionError(action)

    def work(self) -> None:
        """Perform the oldest request to the bot."""
        order = self.doing.pop(0)
        if isinstance(order, PrepareBot):
            self.act(self.machine.handle_bot_prepared(order.match.id))
            return
        move = self.server.rng.choice(TICTACTOE.moves(order.position))
        self.act(self.machine.handle_move_chosen("m", order.ply, move, None, 0.0))

    def step(self, event: str) -> None:
        line = self.server.line
        match event:
            case "drop":
                self.connect()
            case "deaf":
                self.server.deaf = True
            case "repeat" if line:
                line.insert(0, line[0])
            case "deliver" if line:
                self.act(self.machine.handle_message(line.pop(0), 0.0))
            case "work" if self.doing:
                self.work()


EVENTS = ("deliver", "deliver", "work", "work", "drop", "deaf", "repeat")


@examples(150)
@given(st.integers(0, 2**32), st.lists(st.sampled_from(EVENTS), max_size=60))
def test_the_match_is_played_to_its_end_despite_lost_messages(seed: int, events: list[str]) -> None:
    server = Server(random.Random(seed))
    client = Client(server)
    for event in events:
        if not client.finished:
            client.step(event)
    if server.deaf:
        client.step("drop")
    for _ in range(200):
        if not client.finished:
            client.step("work" if client.doing else "deliver")
    assert len(client.finished) == 1
    assert client.finished[0].ending.position == server.position
    assert all(len(answers) == 1 for answers in server.answers.values())

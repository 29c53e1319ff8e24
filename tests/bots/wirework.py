"""Messages of a server, made short for tests."""

from games.core import AnyGame
from games.tictactoe import TicTacToe
from protocol.codes import EndReason
from protocol.messages import End, Start, Turn, Welcome
from protocol.timecontrol import TimeControl
from protocol.values import Clocks, Data, Limits, Players, Seat

TICTACTOE: AnyGame = TicTacToe()  # type: ignore[assignment]


def welcome(session: str = "secret") -> Welcome:
    return Welcome("test server", "me", session, Limits(16_384, 1, 5_000))


def start(
    match: str = "m",
    seat: Seat = "maxie",
    game: AnyGame = TICTACTOE,
    tc: str = "10+0.1",
    margin_ms: int = 100,
) -> Start:
    control = TimeControl.parse(tc)
    return Start(match, game.name, game.setup(), seat, Players("one", "two"), control, margin_ms, 5_000, 2)


def turn(moves: list[Data], match: str = "m", maxie_ms: int = 9_000, minnie_ms: int = 8_000) -> Turn:
    return Turn(match, len(moves), moves, Clocks(maxie_ms, minnie_ms), 100)


def end(
    moves: list[Data], match: str = "m", winner: Seat | None = None, reason: EndReason = EndReason.RESIGNATION
) -> End:
    return End(match, winner, reason, "so it ended", moves, Clocks(1, 1))

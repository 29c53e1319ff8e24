"""Messages of a server with default values, for tests."""

from msgspec.structs import replace

from arena.games.core import AnyGame
from arena.games.tictactoe import TicTacToe
from arena.protocol.codes import EndReason
from arena.protocol.messages import End, Start, Turn, Welcome
from arena.protocol.timecontrol import TimeControl
from arena.protocol.values import ClientLimits, Clocks, PlainData, Players, Seat

TICTACTOE: AnyGame = TicTacToe()  # type: ignore[assignment]


def welcome(session: str = "secret") -> Welcome:
    return Welcome("test server", "me", session, ClientLimits(16_384, 1, 5_000))


def start(
    match: str = "m",
    seat: Seat = "maxie",
    game: AnyGame = TICTACTOE,
    tc: str = "10+0.1",
    margin_ms: int = 100,
    rated: bool = False,
) -> Start:
    control, players = TimeControl.parse(tc), Players("one", "two")
    message = Start(match, game.name, game.setup(), seat, players, control, margin_ms, 5_000, 2)
    return replace(message, rated=True) if rated else message


def turn(moves: list[PlainData], match: str = "m", maxie_ms: int = 9_000, minnie_ms: int = 8_000) -> Turn:
    return Turn(match, len(moves), moves, Clocks(maxie_ms, minnie_ms), 100)


def end(
    moves: list[PlainData],
    match: str = "m",
    winner: Seat | None = None,
    reason: EndReason = EndReason.RESIGNATION,
) -> End:
    return End(match, winner, reason, "so it ended", moves, Clocks(1, 1))

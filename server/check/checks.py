"""Checks of a bot. Each plays one scene with the bot and raises ProtocolFault for a violation of PROTOCOL.md.

The first line of a check's docstring is its requirement, which users see.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial

import anyio

from arena.clock import MONOTONIC
from arena.games.catalogue import KNOWN
from arena.games.core import AnyGame, Player
from arena.maps.setup import has_maps, make_game_on_map
from arena.protocol.codes import Code
from arena.protocol.messages import Error
from arena.protocol.timecontrol import TimeControl
from arena.server.check.peer import CheckedBot, ProtocolFault
from arena.server.check.scene import Scene
from arena.server.check.stage import Stage

QUICK = TimeControl(100, per_move=True)
SLOW = TimeControl(2000, per_move=True)
GENEROUS_MARGIN_MS = 5000
"""Margin of the checks that do not test time, in ms. Only a bot that hangs exceeds it."""
SMALL_MAP, LONG_MAP = "path4", "ring:30"
SCENE_MOVES = 8
"""Number of the bot's moves in an ordinary scene."""
LONG_MATCH_PLIES = 300
"""Number of plies played in a long match before the bot's first turn."""
AWAY_SECONDS = 0.5
"""Time for which a restarted server is unavailable, in seconds."""
SETTLE_SECONDS = 0.15
"""Time for which the bot must stay silent if nothing was requested, in seconds."""
PONG_SECONDS = 0.5
"""Thinking time above which a ping must be answered before the move, in seconds. A busy machine delays pongs too."""
CLOSE_SECONDS = 2.0
"""Time for a bot to complete the closing handshake, in seconds."""
RUSH_SECONDS, MAX_RECONNECTS = 1.0, 8
"""Period after the server's goodbye, in seconds, and the number of connections that a bot may open in it."""


@dataclass(frozen=True)
class Exam:
    """Bot under test, with the limits that all checks share."""

    stage: Stage
    tiny: TimeControl
    margin_ms: int

    @property
    def games(self) -> list[str]:
        """Games that the bot plays, according to its hello."""
        hello = self.stage.hello
        return [name for name in KNOWN.names() if hello is None or not hello.games or name in hello.games]

    def game(self, name: str = "", map_: str = SMALL_MAP) -> AnyGame:
        """Return the game called `name`, or the bot's first game if `name` is empty."""
        name = name or self.games[0]
        if not has_maps(name):
            return make_game_on_map(name)
        maps = self.stage.hello.maps if self.stage.hello else []
        return make_game_on_map(name, maps[0] if maps and map_ not in maps else map_)

    def scene(self, peer: CheckedBot, game: AnyGame | None = None, seat: Player = Player.MAXIE) -> Scene:
        """Return a scripted match with a generous clock."""
        return Scene(peer, game or self.game(), seat, QUICK, GENEROUS_MARGIN_MS)


Check = Callable[[Exam], Awaitable[None]]


async def handshake(exam: Exam) -> None:
    """The bot must connect with the subprotocol, send hello first, and wait for the welcome."""
    await exam.stage.peer()
    if not exam.games:
        raise ProtocolFault(f"hello.games names none of {', '.join(KNOWN.names())}")


async def play(game: str, seat: Player, exam: Exam) -> None:
    """The bot must play a match in the given seat."""
    scene = exam.scene(await exam.stage.peer(), exam.game(game), seat)
    await scene.begin()
    await scene.play_on(SCENE_MOVES)
    await scene.expect_silence(SETTLE_SECONDS)


async def repeated(exam: Exam) -> None:
    """The bot must answer repeated starts, turns and receipts in the same way, or not at all."""
    scene = exam.scene(await exam.stage.peer())
    await scene.begin()
    await scene.peer.send(scene.start)
    await scene.turn()
    await scene.turn()
    await scene.answer()
    await scene.expect_silence(SETTLE_SECONDS)
    await scene.exchange()
    await scene.end()
    await scene.end()
    await play(exam.games[0], Player.MAXIE, exam)


async def out_of_date(exam: Exam) -> None:
    """The bot must not answer a turn already played, or the end of an unknown match."""
    scene = exam.scene(await exam.stage.peer())
    await scene.begin()
    await scene.exchange()
    await scene.exchange()
    await scene.peer.send(scene.turn_at(0))
    other = exam.scene(scene.peer)
    await other.end()
    await scene.expect_silence(SETTLE_SECONDS)
    await scene.exchange()
    await scene.end()


async def unknown_types(exam: Exam) -> None:
    """The bot must ignore messages of unknown types."""
    scene = exam.scene(await exam.stage.peer())
    weather = {"type": "x-weather", "match": scene.match, "sky": ["blue", None, {"sun": 1.5}]}
    await scene.peer.send_data(weather)
    await scene.begin()
    await scene.peer.send_data(weather)
    await scene.turn()
    await scene.peer.send_data(weather)
    await scene.answer()
    await scene.end()
    await play(exam.games[0], Player.MAXIE, exam)


async def unknown_fields(exam: Exam) -> None:
    """The bot must ignore unknown fields in all messages."""
    scene = exam.scene(await exam.stage.peer())
    await scene.begin(x_colour="green")
    await scene.exchange(x_colour=["green"], x_size={"wide": True})
    await scene.end(x_colour=None)
    await play(exam.games[0], Player.MAXIE, exam)


async def unknown_errors(exam: Exam) -> None:
    """The bot must continue after an error that is not fatal, whatever its code."""
    scene = exam.scene(await exam.stage.peer())
    await scene.begin()
    await scene.peer.send(Error(Code.RATE_LIMITED, "too many messages (sent by a check)"))
    await scene.peer.send_data(
        {"type": "error", "code": "x_later", "detail": "of a later server", "fatal": False}
    )
    await scene.exchange()
    await scene.end()


async def catch_up(exam: Exam) -> None:
    """The bot must be able to join a running match from the moves in its first turn."""
    scene = exam.scene(await exam.stage.peer())
    await scene.begin()
    for _ in range(4):
        scene.reply()
    await scene.play_on(SCENE_MOVES)


async def long_match(exam: Exam) -> None:
    """The bot must be able to join a match after hundreds of plies."""
    scene = exam.scene(await exam.stage.peer(), exam.game("riskless", LONG_MAP))
    await scene.begin()
    while len(scene.moves) < LONG_MATCH_PLIES and not scene.over:
        scene.reply()
    # A random match may end earlier. Then use only its first plies, up to a turn of the bot.
    moves_so_far = scene.moves if not scene.over else scene.moves[: (len(scene.moves) - 20) // 2 * 2]
    scene.set_up(moves_so_far)
    await scene.play_on(SCENE_MOVES)


async def ended_in_thought(exam: Exam) -> None:
    """The bot must drop a match that ends while the bot thinks, and play the next match."""
    peer = await exam.stage.peer()
    scene = exam.scene(peer)
    await scene.begin()
    await scene.turn()
    await scene.end()
    following = exam.scene(peer)
    await peer.send(following.start)
    while True:
        message, _ = await peer.receive("ready")
        if getattr(message, "match", None) == following.match:
            break
    await following.play_on(2)


async def two_at_once(exam: Exam) -> None:
    """The bot must play as many matches in parallel as its hello allows."""
    peer = await exam.stage.peer()
    scenes = [exam.scene(peer, seat=seat) for seat in Player]
    for scene in scenes:
        await scene.begin()
    for _ in range(3):
        for scene in scenes:
            await scene.exchange()
    for scene in scenes:
        await scene.end()


async def dropped(exam: Exam) -> None:
    """If the connection is lost while the bot thinks, it must reconnect with its session, be ready, and answer."""
    scene = exam.scene(await exam.stage.peer())
    await scene.begin()
    await scene.exchange()
    scene.reply()
    await scene.turn()
    scene.peer.drop()
    await _resume_match(exam, scene)


async def restarted(exam: Exam) -> None:
    """The bot must reconnect to a server that was killed and restarted on the same port."""
    scene = exam.scene(await exam.stage.peer())
    await scene.begin()
    await scene.exchange()
    await exam.stage.crash()
    await MONOTONIC.sleep(AWAY_SECONDS)
    await exam.stage.listen()
    scene.reply()
    await _resume_match(exam, scene)


async def _resume_match(exam: Exam, scene: Scene) -> None:
    scene.continue_on(await exam.stage.reconnection())
    await scene.peer.send(scene.start)
    await scene.ready()
    await scene.turn()
    await scene.answer()
    await scene.end()


async def tiny_clock(exam: Exam) -> None:
    """The bot must make every move within a tiny clock and its margin."""
    game = exam.game("riskless", "m1") if "riskless" in exam.games else exam.game()
    scene = Scene(await exam.stage.peer(), game, Player.MAXIE, exam.tiny, exam.margin_ms)
    await scene.begin()
    await scene.play_on(SCENE_MOVES)


async def alive(exam: Exam) -> None:
    """The bot must answer pings while it is thinking, not afterwards."""
    game = exam.game("riskless", "m1") if "riskless" in exam.games else exam.game()
    scene = Scene(await exam.stage.peer(), game, Player.MAXIE, SLOW, GENEROUS_MARGIN_MS)
    await scene.begin()
    await scene.turn()
    # Wait before the ping, because a bot may read it together with the turn.
    await MONOTONIC.sleep(SETTLE_SECONDS)
    began = MONOTONIC.now()
    pong = await scene.peer.connection.ping()
    await scene.answer()
    answered = MONOTONIC.now() - began
    with anyio.move_on_after(exam.stage.patience) as waiting:
        latency = await pong
    if waiting.cancelled_caught:
        raise ProtocolFault(f"the bot must answer a ping within {exam.stage.patience:g} s")
    # A bot that moves immediately may send its move before the pong.
    if answered > PONG_SECONDS and latency > 0.9 * answered:
        raise ProtocolFault(
            f"the bot must answer pings while it thinks: a pong took {1000 * answered:.0f} ms"
        )
    await scene.end()


async def shut_down(exam: Exam) -> None:
    """At the server's goodbye, the bot must close its connection, retry with backoff, and rejoin the new server."""
    peer = await exam.stage.peer()
    await peer.send(Error(Code.SHUTTING_DOWN, Code.SHUTTING_DOWN.meaning, fatal=True))
    exam.stage.reject_connections()
    arrivals = exam.stage.arrivals
    closing = asyncio.ensure_future(peer.connection.close(1001, "shutting_down"))
    with anyio.move_on_after(CLOSE_SECONDS) as scope:
        await asyncio.shield(closing)
    if scope.cancelled_caught or peer.connection.close_code == 1006:
        peer.connection.transport.abort()
        await closing
        raise ProtocolFault(f"the bot must complete the close handshake within {CLOSE_SECONDS:g} s")
    await MONOTONIC.sleep(RUSH_SECONDS)
    if exam.stage.arrivals - arrivals > MAX_RECONNECTS:
        raise ProtocolFault(
            f"the bot must retry with backoff, but connected {exam.stage.arrivals - arrivals} times"
            f" in {RUSH_SECONDS:g} s"
        )
    exam.stage.accept_connections()
    await exam.stage.reconnection()


def list_checks(exam: Exam) -> Iterator[tuple[str, str, Check | None]]:
    """Yield the checks in order, as name, requirement and function; None for a check that does not apply to this bot.

    The handshake is first, because the other checks depend on the bot's hello. Checks that cost the bot its
    connection are last. `shut_down` is the first of these: pauses grow with every loss, and its pauses are the longest.
    """
    yield "handshake", _requirement(handshake), handshake
    for game in exam.games:
        for seat in Player:
            yield (
                f"{game} as {seat}",
                f"The bot must play a match of {game} as {seat}.",
                partial(play, game, seat),
            )
    for check in (repeated, out_of_date, unknown_types, unknown_fields, unknown_errors, catch_up):
        yield _check_name(check), _requirement(check), check
    yield "long match", _requirement(long_match), long_match if "riskless" in exam.games else None
    yield _check_name(ended_in_thought), _requirement(ended_in_thought), ended_in_thought
    several = exam.stage.hello is not None and exam.stage.hello.matches > 1
    yield "two at once", _requirement(two_at_once), two_at_once if several else None
    for check in (tiny_clock, alive, shut_down, dropped, restarted):
        yield _check_name(check), _requirement(check), check


def _check_name(check: Check) -> str:
    return getattr(check, "__name__", "").replace("_", " ")


def _requirement(check: Check) -> str:
    return (check.__doc__ or "").partition("\n")[0]

"""The checks: each plays one scene with the bot and raises Fault at what is wrong. PROTOCOL.md says what is right."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial

import anyio

from arena.games.catalogue import KNOWN
from arena.games.core import AnyGame, Player
from arena.maps.setup import make_setup
from arena.protocol.codes import Code
from arena.protocol.messages import Error
from arena.protocol.timecontrol import TimeControl
from arena.server.check.peer import Fault, Peer
from arena.server.check.scene import Scene
from arena.server.check.stage import Stage

QUICK = TimeControl(100, per_move=True)
LONG = TimeControl(2000, per_move=True)
GENEROUS_MS = 5000
"""The margin of a check that is not about time: it only ends what hangs."""
SMALL_MAP, LONG_MAP = "path4", "ring:30"
MOVES = 8
"""Moves of the bot in an ordinary scene."""
HISTORY = 300
"""Plies that have been played of a long match when the bot is asked for its first move."""
AWAY_SECONDS = 0.5
"""How long a server that is started again is gone."""
SETTLE_SECONDS = 0.15
"""How long nothing may come where nothing was asked."""
PONG_SECONDS = 0.5
"""A ping may wait for a busy machine, but not for a move that takes longer than this."""
CLOSE_SECONDS = 2.0
"""How long a bot may take to answer the close of its connection."""
RUSH_SECONDS, RUSH = 1.0, 8
"""More connections than RUSH within RUSH_SECONDS are a rush at a server that has said goodbye."""


@dataclass(frozen=True)
class Exam:
    """The bot under test and the limits that all checks share."""

    stage: Stage
    tiny: TimeControl
    margin_ms: int

    @property
    def games(self) -> list[str]:
        """The games that the bot says it plays."""
        hello = self.stage.hello
        return [name for name in KNOWN.names() if hello is None or not hello.games or name in hello.games]

    def game(self, name: str = "", map_: str = SMALL_MAP) -> AnyGame:
        """The game of that name, or the first that the bot plays where no name is given."""
        name = name or self.games[0]
        if name != "riskless":
            return make_setup(name)
        maps = self.stage.hello.maps if self.stage.hello else []
        return make_setup(name, maps[0] if maps and map_ not in maps else map_)

    def scene(self, peer: Peer, game: AnyGame | None = None, seat: Player = Player.MAXIE) -> Scene:
        """A match under a generous clock."""
        return Scene(peer, game or self.game(), seat, QUICK, GENEROUS_MS)


Check = Callable[[Exam], Awaitable[None]]


async def handshake(exam: Exam) -> None:
    """Connect with the subprotocol, say hello first, and wait for the welcome."""
    await exam.stage.peer()
    if not exam.games:
        raise Fault(f"hello.games names none of {', '.join(KNOWN.names())}")


async def play(game: str, seat: Player, exam: Exam) -> None:
    """A match in that seat."""
    scene = exam.scene(await exam.stage.peer(), exam.game(game), seat)
    await scene.begin()
    await scene.play_on(MOVES)
    await scene.quiet(SETTLE_SECONDS)


async def repeated(exam: Exam) -> None:
    """A start, a turn and a receipt that come twice: the same answers again, or none."""
    scene = exam.scene(await exam.stage.peer())
    await scene.begin()
    await scene.peer.say(scene.start)
    await scene.turn()
    await scene.turn()
    await scene.answer()
    await scene.quiet(SETTLE_SECONDS)
    await scene.exchange()
    await scene.end()
    await scene.end()
    await play(exam.games[0], Player.MAXIE, exam)


async def out_of_date(exam: Exam) -> None:
    """A turn of a ply that was played, and the end of a match that never was: nothing new is said."""
    scene = exam.scene(await exam.stage.peer())
    await scene.begin()
    await scene.exchange()
    await scene.exchange()
    await scene.peer.say(scene.turn_at(0))
    other = exam.scene(scene.peer)
    await other.end()
    await scene.quiet(SETTLE_SECONDS)
    await scene.exchange()
    await scene.end()


async def unknown_types(exam: Exam) -> None:
    """Messages of a type that this bot does not know are ignored."""
    scene = exam.scene(await exam.stage.peer())
    weather = {"type": "x-weather", "match": scene.match, "sky": ["blue", None, {"sun": 1.5}]}
    await scene.peer.say_data(weather)
    await scene.begin()
    await scene.peer.say_data(weather)
    await scene.turn()
    await scene.peer.say_data(weather)
    await scene.answer()
    await scene.end()
    await play(exam.games[0], Player.MAXIE, exam)


async def unknown_fields(exam: Exam) -> None:
    """Fields that this bot does not know are ignored, at every place."""
    scene = exam.scene(await exam.stage.peer())
    await scene.begin(x_colour="green")
    await scene.exchange(x_colour=["green"], x_size={"wide": True})
    await scene.end(x_colour=None)
    await play(exam.games[0], Player.MAXIE, exam)


async def unknown_errors(exam: Exam) -> None:
    """An error that is not fatal ends nothing, whatever its code."""
    scene = exam.scene(await exam.stage.peer())
    await scene.begin()
    await scene.peer.say(Error(Code.RATE_LIMITED, "the script says so"))
    await scene.peer.say_data(
        {"type": "error", "code": "x_later", "detail": "of a later server", "fatal": False}
    )
    await scene.exchange()
    await scene.end()


async def catch_up(exam: Exam) -> None:
    """The first turn of a match that is under way: its moves are enough to go on from."""
    scene = exam.scene(await exam.stage.peer())
    await scene.begin()
    for _ in range(4):
        scene.reply()
    await scene.play_on(MOVES)


async def long_match(exam: Exam) -> None:
    """A match that is hundreds of plies old."""
    scene = exam.scene(await exam.stage.peer(), exam.game("riskless", LONG_MAP))
    await scene.begin()
    while len(scene.moves) < HISTORY and not scene.over:
        scene.reply()
    # A match of random moves may be over before that. It is then cut well before its end, at the bot's turn.
    kept = scene.moves if not scene.over else scene.moves[: (len(scene.moves) - 20) // 2 * 2]
    scene.set_up(kept)
    await scene.play_on(MOVES)


async def ended_in_thought(exam: Exam) -> None:
    """A match that ends while the bot thinks: what it still says of it is harmless, and the next one counts."""
    peer = await exam.stage.peer()
    scene = exam.scene(peer)
    await scene.begin()
    await scene.turn()
    await scene.end()
    following = exam.scene(peer)
    await peer.say(following.start)
    while True:
        message, _ = await peer.hear("ready")
        if getattr(message, "match", None) == following.match:
            break
    await following.play_on(2)


async def two_at_once(exam: Exam) -> None:
    """As many matches as hello agreed to, mixed."""
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
    """The connection is lost in mid-thought: the bot is back with its session, ready, and answers."""
    scene = exam.scene(await exam.stage.peer())
    await scene.begin()
    await scene.exchange()
    scene.reply()
    await scene.turn()
    scene.peer.drop()
    await _resume(exam, scene)


async def restarted(exam: Exam) -> None:
    """The server is killed and comes back on the same port: so does the bot."""
    scene = exam.scene(await exam.stage.peer())
    await scene.begin()
    await scene.exchange()
    await exam.stage.vanish()
    await anyio.sleep(AWAY_SECONDS)
    await exam.stage.listen()
    scene.reply()
    await _resume(exam, scene)


async def _resume(exam: Exam, scene: Scene) -> None:
    scene.go_on_with(await exam.stage.back())
    await scene.peer.say(scene.start)
    await scene.ready()
    await scene.turn()
    await scene.answer()
    await scene.end()


async def tiny_clock(exam: Exam) -> None:
    """Every move within a tiny clock and the margin."""
    game = exam.game("riskless", "m1") if "riskless" in exam.games else exam.game()
    scene = Scene(await exam.stage.peer(), game, Player.MAXIE, exam.tiny, exam.margin_ms)
    await scene.begin()
    await scene.play_on(MOVES)


async def alive(exam: Exam) -> None:
    """A ping is answered while the bot thinks, not after."""
    game = exam.game("riskless", "m1") if "riskless" in exam.games else exam.game()
    scene = Scene(await exam.stage.peer(), game, Player.MAXIE, LONG, GENEROUS_MS)
    await scene.begin()
    await scene.turn()
    # The ping is sent later than the turn, for a bot may read both together.
    await anyio.sleep(SETTLE_SECONDS)
    began = time.monotonic()
    pong = await scene.peer.connection.ping()
    await scene.answer()
    answered = time.monotonic() - began
    with anyio.move_on_after(exam.stage.patience) as waiting:
        latency = await pong
    if waiting.cancelled_caught:
        raise Fault(f"a ping was not answered within {exam.stage.patience:g} s")
    # A bot that moves at once may put its move before the pong.
    if answered > PONG_SECONDS and latency > 0.9 * answered:
        raise Fault(f"a ping was not answered while it thought, for {1000 * answered:.0f} ms")
    await scene.end()


async def shut_down(exam: Exam) -> None:
    """The server says goodbye: the bot closes in good order and does not rush back."""
    peer = await exam.stage.peer()
    await peer.say(Error(Code.SHUTTING_DOWN, Code.SHUTTING_DOWN.meaning, fatal=True))
    exam.stage.turn_bots_away()
    arrivals = exam.stage.arrivals
    closing = asyncio.ensure_future(peer.connection.close(1001, "shutting_down"))
    with anyio.move_on_after(CLOSE_SECONDS) as scope:
        await asyncio.shield(closing)
    if scope.cancelled_caught or peer.connection.close_code == 1006:
        peer.connection.transport.abort()
        await closing
        raise Fault(f"the close of the connection was not answered within {CLOSE_SECONDS:g} s")
    await anyio.sleep(RUSH_SECONDS)
    if exam.stage.arrivals - arrivals > RUSH:
        raise Fault(
            f"it connected {exam.stage.arrivals - arrivals} times in {RUSH_SECONDS:g} s after goodbye"
        )


def schedule(exam: Exam) -> Iterator[tuple[str, str, Check | None]]:
    """The checks in order, as name, what is asked, and the check: None where it is not for this bot.

    The handshake is first, because what follows depends on what the bot says that it plays. The checks that
    cost the bot its connection are last.
    """
    yield "handshake", _asked(handshake), handshake
    for game in exam.games:
        for seat in Player:
            yield f"{game} as {seat}", f"A match of {game}, as {seat}", partial(play, game, seat)
    for check in (repeated, out_of_date, unknown_types, unknown_fields, unknown_errors, catch_up):
        yield _name(check), _asked(check), check
    yield "long match", _asked(long_match), long_match if "riskless" in exam.games else None
    yield _name(ended_in_thought), _asked(ended_in_thought), ended_in_thought
    several = exam.stage.hello is not None and exam.stage.hello.matches > 1
    yield "two at once", _asked(two_at_once), two_at_once if several else None
    for check in (tiny_clock, alive, dropped, restarted, shut_down):
        yield _name(check), _asked(check), check


def _name(check: Check) -> str:
    return getattr(check, "__name__", "").replace("_", " ")


def _asked(check: Check) -> str:
    return (check.__doc__ or "").partition("\n")[0]

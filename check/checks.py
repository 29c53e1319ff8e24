"""Checks of a bot. Each check plays scripted matches with the bot, and raises ProtocolFault if it violates PROTOCOL.md.

The first line of a check's docstring is the requirement that it tests. Users see this line in the report.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial

import anyio

from arena.check.bot_connection import BotConnection, ProtocolFault
from arena.check.scripted_match import ScriptedMatch
from arena.check.scripted_server import ScriptedServer
from arena.clock import MONOTONIC_CLOCK
from arena.games.catalogue import CATALOGUE
from arena.games.core import AnyGame, Player
from arena.maps.game_on_map import has_maps, make_game_on_map
from arena.protocol.codes import ErrorCode
from arena.protocol.messages import Error
from arena.protocol.timecontrol import TimeControl

QUICK_TIME_CONTROL = TimeControl(100, per_move=True)
"""Time control of the checks that do not test time: 0.1 s per move."""
SLOW_TIME_CONTROL = TimeControl(2000, per_move=True)
"""Time control of `check_pings_while_thinking`: 2 s per move, so that the bot still thinks when the ping arrives."""
GENEROUS_CLOCK_MARGIN_MS = 5000
"""Time in ms by which a bot may exceed its clock in checks that do not test time. Only a bot that hangs needs more."""
SMALL_MAP = "path4"
"""Map on which the checks play Riskless, except checks that name another map."""
LONG_MATCH_MAP = "ring:30"
"""Map for `check_long_match`: a match of random moves on it takes hundreds of plies."""
MAX_MOVES_PER_MATCH = 8
"""Maximum number of moves that the bot plays in one match of `check_ordinary_match`."""
LONG_MATCH_PLIES = 300
"""Number of random plies before the bot's first turn in `check_long_match`."""
SIMULATED_OUTAGE_SECONDS = 0.5
"""Seconds for which the server is unavailable in `check_restarted_server`, between its crash and its restart."""
PING_DELAY_SECONDS = 0.15
"""Seconds between the `turn` message and a ping, so that the bot is thinking when the ping arrives."""
LATE_PONG_THRESHOLD_SECONDS = 0.5
"""Seconds from a ping to the bot's move above which it is a fault if the pong arrives only with the move.

If the bot moves sooner after the ping, a busy machine may have delayed the pong, so the late pong is accepted.
"""
CLOSING_HANDSHAKE_TIMEOUT_SECONDS = 2.0
"""Seconds within which a bot must complete the websocket's closing handshake."""
RECONNECT_COUNTING_SECONDS = 1.0
"""Seconds after the announced shutdown during which `check_server_shutdown` counts the bot's attempts to reconnect."""
MAX_RECONNECT_ATTEMPTS_AFTER_SHUTDOWN = 8
"""Maximum number of times that a bot may try to reconnect within RECONNECT_COUNTING_SECONDS after the server's shutdown."""


@dataclass(frozen=True)
class CheckContext:
    """Arguments of every check: the scripted server for the bot, and the time limits of the check `tiny clock`."""

    server: ScriptedServer
    tiny_time_control: TimeControl
    network_margin_ms: int
    """Time in ms by which the bot may exceed `tiny_time_control`, as an allowance for network delay."""

    @property
    def supported_game_names(self) -> list[str]:
        """Return the names of the games that the bot's hello lists and this program knows.

        Return all known games if there was no hello yet, or if the hello lists no games.
        """
        hello = self.server.hello
        return [
            name
            for name in CATALOGUE.list_game_names()
            if hello is None or not hello.games or name in hello.games
        ]

    def make_game(self, name: str = "", map_name: str = SMALL_MAP) -> AnyGame:
        """Return the game called `name`, or the first of `supported_game_names` if `name` is empty.

        map_name: name of the map, if the game has maps. If the bot's hello lists only other maps, the first map in its list
        is used instead.
        """
        name = name or self.supported_game_names[0]
        if not has_maps(name):
            return make_game_on_map(name)
        maps = self.server.hello.maps if self.server.hello else []
        return make_game_on_map(name, maps[0] if maps and map_name not in maps else map_name)

    def make_untimed_match(
        self, bot_connection: BotConnection, game: AnyGame | None = None, seat: Player = Player.MAXIE
    ) -> ScriptedMatch:
        """Return a scripted match with time limits so long that only a bot that hangs exceeds them.

        bot_connection: connection to the bot
        game: game to play; None for the first of `supported_game_names`
        seat: player (Maxie or Minnie) whose moves the bot makes
        """
        return ScriptedMatch(
            bot_connection, game or self.make_game(), seat, QUICK_TIME_CONTROL, GENEROUS_CLOCK_MARGIN_MS
        )


Check = Callable[[CheckContext], Awaitable[None]]
"""Function that tests one requirement of the protocol, and raises ProtocolFault if the bot violates the requirement."""


async def check_handshake(context: CheckContext) -> None:
    """The bot must connect with the subprotocol, send hello first, and wait for the welcome."""
    await context.server.connect_bot()
    if not context.supported_game_names:
        raise ProtocolFault(
            f"hello.games must be empty, or name at least one of {', '.join(CATALOGUE.list_game_names())}"
        )


async def check_ordinary_match(game_name: str, seat: Player, context: CheckContext) -> None:
    """The bot must play a match in the given seat."""
    match = context.make_untimed_match(await context.server.connect_bot(), context.make_game(game_name), seat)
    await match.begin_match()
    await match.play_moves_and_end(MAX_MOVES_PER_MATCH)
    await match.require_bot_silence()


async def check_repeated_messages(context: CheckContext) -> None:
    """The bot must answer repeated start, turn and end messages in the same way, or not at all."""
    match = context.make_untimed_match(await context.server.connect_bot())
    await match.begin_match()
    await match.bot_connection.send_message(match.start_message)
    await match.send_turn_message()
    await match.send_turn_message()
    await match.receive_bot_move()
    await match.require_bot_silence()
    await match.play_move_pair()
    await match.send_end_message()
    await match.send_end_message()
    await check_ordinary_match(context.supported_game_names[0], Player.MAXIE, context)


async def check_outdated_messages(context: CheckContext) -> None:
    """The bot must not answer a turn that it has already played, or the end of an unknown match."""
    match = context.make_untimed_match(await context.server.connect_bot())
    await match.begin_match()
    await match.play_move_pair()
    await match.play_move_pair()
    await match.bot_connection.send_message(match.make_turn_message(0))
    other_match = context.make_untimed_match(match.bot_connection)
    await other_match.send_end_message()
    await match.require_bot_silence()
    await match.play_move_pair()
    await match.send_end_message()


async def check_unknown_types(context: CheckContext) -> None:
    """The bot must ignore messages of unknown types."""
    match = context.make_untimed_match(await context.server.connect_bot())
    unknown_message = {"type": "x-weather", "match": match.match_id, "sky": ["blue", None, {"sun": 1.5}]}
    await match.bot_connection.send_message_fields(unknown_message)
    await match.begin_match()
    await match.bot_connection.send_message_fields(unknown_message)
    await match.send_turn_message()
    await match.bot_connection.send_message_fields(unknown_message)
    await match.receive_bot_move()
    await match.send_end_message()
    await check_ordinary_match(context.supported_game_names[0], Player.MAXIE, context)


async def check_unknown_fields(context: CheckContext) -> None:
    """The bot must ignore unknown fields in all messages."""
    match = context.make_untimed_match(await context.server.connect_bot())
    await match.begin_match(x_colour="green")
    await match.play_move_pair(x_colour=["green"], x_size={"wide": True})
    await match.send_end_message(x_colour=None)
    await check_ordinary_match(context.supported_game_names[0], Player.MAXIE, context)


async def check_unknown_errors(context: CheckContext) -> None:
    """The bot must continue after an error that is not fatal, whatever its code."""
    match = context.make_untimed_match(await context.server.connect_bot())
    await match.begin_match()
    await match.bot_connection.send_message(
        Error(ErrorCode.RATE_LIMITED, "too many messages; arena check sends this error to test the bot")
    )
    await match.bot_connection.send_message_fields(
        {"type": "error", "code": "x_later", "detail": "of a later server", "fatal": False}
    )
    await match.play_move_pair()
    await match.send_end_message()


async def check_catch_up(context: CheckContext) -> None:
    """The bot must be able to join a running match, whose moves so far are in its first turn message."""
    match = context.make_untimed_match(await context.server.connect_bot())
    await match.begin_match()
    for _ in range(4):
        match.apply_random_move()
    await match.play_moves_and_end(MAX_MOVES_PER_MATCH)


async def check_long_match(context: CheckContext) -> None:
    """The bot must be able to join a match after hundreds of plies."""
    match = context.make_untimed_match(
        await context.server.connect_bot(), context.make_game("riskless", LONG_MATCH_MAP)
    )
    await match.begin_match()
    while len(match.moves) < LONG_MATCH_PLIES and not match.is_over:
        match.apply_random_move()
    # A random match may end earlier. Then use only its first plies, up to a turn of the bot.
    moves_so_far = match.moves if not match.is_over else match.moves[: (len(match.moves) - 20) // 2 * 2]
    match.replay_moves(moves_so_far)
    await match.play_moves_and_end(MAX_MOVES_PER_MATCH)


async def check_match_end_while_thinking(context: CheckContext) -> None:
    """The bot must drop a match that ends while the bot thinks, and play the next match."""
    bot_connection = await context.server.connect_bot()
    match = context.make_untimed_match(bot_connection)
    await match.begin_match()
    await match.send_turn_message()
    await match.send_end_message()
    next_match = context.make_untimed_match(bot_connection)
    await bot_connection.send_message(next_match.start_message)
    while True:
        message, _ = await bot_connection.receive_message("ready")
        if getattr(message, "match", None) == next_match.match_id:
            break
    await next_match.play_moves_and_end(2)


async def check_two_at_once(context: CheckContext) -> None:
    """The bot must play two matches in parallel if its hello allows several."""
    bot_connection = await context.server.connect_bot()
    matches = [context.make_untimed_match(bot_connection, seat=seat) for seat in Player]
    for match in matches:
        await match.begin_match()
    for _ in range(3):
        for match in matches:
            await match.play_move_pair()
    for match in matches:
        await match.send_end_message()


async def check_dropped_connection(context: CheckContext) -> None:
    """The bot must reconnect, resume its session, and play on if the connection is lost while the bot thinks."""
    match = context.make_untimed_match(await context.server.connect_bot())
    await match.begin_match()
    await match.play_move_pair()
    match.apply_random_move()
    await match.send_turn_message()
    match.bot_connection.abort_connection()
    await _resume_match(context, match)


async def check_restarted_server(context: CheckContext) -> None:
    """The bot must reconnect to a server that was killed and restarted on the same port."""
    match = context.make_untimed_match(await context.server.connect_bot())
    await match.begin_match()
    await match.play_move_pair()
    await context.server.simulate_crash()
    await MONOTONIC_CLOCK.sleep(SIMULATED_OUTAGE_SECONDS)
    await context.server.start_listening()
    match.apply_random_move()
    await _resume_match(context, match)


async def _resume_match(context: CheckContext, match: ScriptedMatch) -> None:
    match.continue_on_connection(await context.server.wait_for_reconnection())
    await match.bot_connection.send_message(match.start_message)
    await match.wait_for_bot_ready()
    await match.send_turn_message()
    await match.receive_bot_move()
    await match.send_end_message()


async def check_tiny_clock(context: CheckContext) -> None:
    """The bot must make every move within a very short time limit plus the network margin."""
    match = await _begin_timed_match(context, context.tiny_time_control, context.network_margin_ms)
    await match.play_moves_and_end(MAX_MOVES_PER_MATCH)


async def check_pings_while_thinking(context: CheckContext) -> None:
    """The bot must answer pings while it is thinking, not only afterwards."""
    match = await _begin_timed_match(context, SLOW_TIME_CONTROL, GENEROUS_CLOCK_MARGIN_MS)
    await match.send_turn_message()
    await MONOTONIC_CLOCK.sleep(PING_DELAY_SECONDS)
    ping_time = MONOTONIC_CLOCK.now()
    pong = await match.bot_connection.websocket.ping()
    await match.receive_bot_move()
    pong_seconds = MONOTONIC_CLOCK.now() - ping_time
    with anyio.move_on_after(context.server.patience_seconds) as waiting:
        latency = await pong
    if waiting.cancelled_caught:
        raise ProtocolFault(f"the bot must answer a ping within {context.server.patience_seconds:g} s")
    # A bot that moves immediately may send its move before the pong.
    if pong_seconds > LATE_PONG_THRESHOLD_SECONDS and latency > 0.9 * pong_seconds:
        raise ProtocolFault(
            f"the bot must answer pings while it thinks: a pong took {1000 * pong_seconds:.0f} ms, and came only with the move"
        )
    await match.send_end_message()


async def _begin_timed_match(
    context: CheckContext, time_control: TimeControl, network_margin_ms: int
) -> ScriptedMatch:
    """Begin a scripted match of Riskless on the map m1, on which bots need time to think.

    If the bot does not play Riskless, begin a match of the first game that the bot supports. `network_margin_ms` is the time by
    which the bot may exceed its clock.
    """
    bot_connection = await context.server.connect_bot()
    game = (
        context.make_game("riskless", "m1")
        if "riskless" in context.supported_game_names
        else context.make_game()
    )
    match = ScriptedMatch(bot_connection, game, Player.MAXIE, time_control, network_margin_ms)
    await match.begin_match()
    return match


async def check_server_shutdown(context: CheckContext) -> None:
    """The bot must close its connection after a shutdown notice, retry with backoff, and rejoin the restarted server."""
    bot_connection = await context.server.connect_bot()
    await bot_connection.send_message(
        Error(ErrorCode.SHUTTING_DOWN, ErrorCode.SHUTTING_DOWN.meaning, fatal=True)
    )
    with context.server.drop_new_connections():
        connections_before = context.server.connection_count
        close_task = asyncio.ensure_future(bot_connection.websocket.close(1001, "shutting_down"))
        with anyio.move_on_after(CLOSING_HANDSHAKE_TIMEOUT_SECONDS) as scope:
            await asyncio.shield(close_task)
        if scope.cancelled_caught or bot_connection.websocket.close_code == 1006:
            bot_connection.websocket.transport.abort()
            await close_task
            raise ProtocolFault(
                f"the bot must complete the close handshake within {CLOSING_HANDSHAKE_TIMEOUT_SECONDS:g} s"
            )
        await MONOTONIC_CLOCK.sleep(RECONNECT_COUNTING_SECONDS)
        if context.server.connection_count - connections_before > MAX_RECONNECT_ATTEMPTS_AFTER_SHUTDOWN:
            raise ProtocolFault(
                f"the bot must retry with backoff, but connected {context.server.connection_count - connections_before} times"
                f" in {RECONNECT_COUNTING_SECONDS:g} s"
            )
    await context.server.wait_for_reconnection()


CHECKS_AFTER_PLAY = (
    check_repeated_messages,
    check_outdated_messages,
    check_unknown_types,
    check_unknown_fields,
    check_unknown_errors,
    check_catch_up,
    check_long_match,
    check_match_end_while_thinking,
    check_two_at_once,
    check_tiny_clock,
    check_pings_while_thinking,
    check_server_shutdown,
    check_dropped_connection,
    check_restarted_server,
)
"""Checks that run after the handshake and the ordinary matches, in this order.

The three checks that end the bot's connection are last. A bot waits longer before each further reconnection, and longest
after the server announces its shutdown. Therefore `check_server_shutdown`, which announces it, comes before the other two:
after them, the bot's wait could exceed the time limit of the check.
"""


def list_checks(context: CheckContext) -> Iterator[tuple[str, str, Check | None]]:
    """Yield the checks in order, each as its name, requirement and function.

    The function is None if the check does not apply to this bot: its hello does not offer the game or the number of
    matches that the check needs. The handshake is first, because the later checks depend on the bot's hello.
    """
    yield "handshake", _get_requirement(check_handshake), check_handshake
    for game in context.supported_game_names:
        for seat in Player:
            yield (
                f"{game} as {seat}",
                f"The bot must play a match of {game} as {seat}.",
                partial(check_ordinary_match, game, seat),
            )
    hello = context.server.hello
    applies = {
        check_long_match: "riskless" in context.supported_game_names,
        check_two_at_once: hello is not None and hello.matches > 1,
    }
    for check in CHECKS_AFTER_PLAY:
        name = check.__name__.removeprefix("check_").replace("_", " ")
        yield name, _get_requirement(check), check if applies.get(check, True) else None


def _get_requirement(check: Check) -> str:
    return (check.__doc__ or "").partition("\n")[0]

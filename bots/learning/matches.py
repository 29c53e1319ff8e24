"""Matches of two bots in this process, without sockets, under the same referee (rules and clocks) as on a server."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import UTC, datetime

from arena.bots.api.bot import Bot, Ending, Match, Resign, assign_match
from arena.bots.client.local_turn import choose_move
from arena.bots.client.state.machine import MAX_RESIGNATION_REASON_CHARACTERS
from arena.bots.engines.registry import make_engine
from arena.bots.learning.environment import Environment, make
from arena.clock import MONOTONIC_CLOCK
from arena.games.core import Player
from arena.maps.game_on_map import DEFAULT_MAP
from arena.match.referee import Referee
from arena.match.referee_events import MatchOpened, PlayerReady, PlayerResigned
from arena.match.terms import MatchTerms
from arena.protocol.adjudication import DEFAULT_ADJUDICATION
from arena.protocol.record import Record
from arena.protocol.timecontrol import TimeControl
from arena.protocol.values import Players

BotSource = str | Callable[[], Bot]
"""Source of a bot: an engine's spec as on the command line, or a function that creates a bot, such as the bot's class."""


def play_match(
    maxie: BotSource,
    minnie: BotSource,
    game: str | Environment = "riskless",
    *,
    map: str = DEFAULT_MAP,
    time_control: str = "60+1",
    opening: int = 0,
    seed: int = 0,
) -> Record:
    """Play a match of two bots in this thread, and return the match record.

    Time limits apply, and repetitions are draws, as on a server.

    maxie, minnie  engines in the two seats, such as "greedy" or "my_bot.py", or classes of bots
    game           name of a game, FILE.py:Class, or an environment, which makes the start of many matches faster
    map            name of a Riskless map; ignored for other games and for an environment
    time_control   time control, such as "60+1": 60 seconds for each player, and 1 second more after each move
    opening        number of random moves at the start of the match
    seed           seed of these random moves

    A bot that raises an exception loses by a crash. Raises BadSpec, BadTimeControl, GameError or MapError if the engine,
    time control, game or map is invalid.
    """
    environment = game if isinstance(game, Environment) else make(game, map=map)
    names = [bot if isinstance(bot, str) else getattr(bot, "__name__", "bot") for bot in (maxie, minnie)]
    terms = MatchTerms(
        match=uuid.uuid4().hex,
        event="local",
        game=environment.game,
        players=Players(*names),
        time_control=TimeControl.parse(time_control),
        margin_ms=0,
        ready_ms=60_000,
        opening=environment.opening_moves(opening, seed),
        adjudication=DEFAULT_ADJUDICATION,
    )
    start_time = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    referee = Referee(terms)
    referee.handle_event(MatchOpened(), MONOTONIC_CLOCK.now_ns())
    sides: dict[Player, _RefereedBot] = {}
    try:
        for seat, maker in zip(Player, (maxie, minnie), strict=True):
            make_bot = make_engine(maker).make_bot if isinstance(maker, str) else maker
            side = sides[seat] = _RefereedBot(make_bot(), terms, seat, referee)
            side.prepare()
        while (result := referee.recorded_result) is None:
            sides[referee.mover].play_turn()
    finally:
        for side in sides.values():
            side.close()
    return terms.make_record(start_time, referee.moves, result)


class _RefereedBot:
    """Bot of one seat in a match. If a method of the bot raises an exception, the bot loses the match."""

    def __init__(self, bot: Bot, terms: MatchTerms, seat: Player, referee: Referee) -> None:
        players = terms.players
        self._bot = bot
        self._match = Match(terms.game, seat, terms.match, players.maxie, players.minnie, terms.time_control)
        self._referee = referee
        self._has_failed = False
        assign_match(bot, self._match)

    def prepare(self) -> None:
        """Let the bot prepare for the match, before the first move, while no player's clock runs."""
        self._call_bot("prepare", self._bot.prepare)
        self._referee.handle_event(PlayerReady(self._match.seat), MONOTONIC_CLOCK.now_ns())

    def play_turn(self) -> None:
        """Let the bot choose and play a move. If the bot raises an exception, it loses the match."""
        self._call_bot(
            "choose",
            lambda: self._referee.handle_event(
                choose_move(self._bot, self._match, self._referee), MONOTONIC_CLOCK.now_ns()
            ),
        )

    def _call_bot(self, method_name: str, call: Callable[[], object]) -> None:
        """Run `call`, which calls a method of the bot. If the method raises an exception, the bot loses the match.

        method_name  name of the method, for the reason of the loss
        """
        try:
            call()
        except Resign as resignation:
            event = PlayerResigned(
                self._match.seat, "resignation", str(resignation)[:MAX_RESIGNATION_REASON_CHARACTERS]
            )
        except Exception as error:  # noqa: BLE001  an author's code may raise anything
            message = f"{method_name} raised {type(error).__name__}: {error}".splitlines()[0]
            event = PlayerResigned(self._match.seat, "crash", message[:MAX_RESIGNATION_REASON_CHARACTERS])
        else:
            return
        self._has_failed = True
        self._referee.handle_event(event, MONOTONIC_CLOCK.now_ns())

    def close(self) -> None:
        """Tell the bot the result, unless the bot has raised an exception, and close the bot."""
        result = self._referee.result
        try:
            if result is not None and not self._has_failed:
                plies, position = self._referee.ply, self._referee.position
                self._bot.ended(Ending(result.winner, result.reason, result.detail, plies, position))
        finally:
            self._bot.close()

"""A day of play in which two bots are deployed 20 times each: the core and the client's state machine, without sockets."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from arena.bots.client.state.actions import Action, ChooseMove, PrepareBot, SendMessage
from arena.bots.client.state.machine import Machine
from arena.protocol.codes import FORFEIT_REASONS
from arena.protocol.messages import Hello
from arena.protocol.timecontrol import TimeControl
from arena.server.core.settings import PoolGame
from tests.server.core.arena import POOL, SECOND, Arena
from tests.server.matches import game_of

DAY_S = 24 * 3600
STEP_S = 10
DEPLOYS = 20
AWAY_STEPS = 2
WAYS = ("term", "kill -9", "swap", "no file")
"""Ends of a process: by a signal; without a word; for another version; and with its session lost, so that its token counts."""


class Deployed:
    """A bot whose process ends now and then. Its session and the names of its matches outlive it, as in its file."""

    def __init__(self, arena: Arena, name: str, seed: int) -> None:
        self.arena, self.name, self.dice = arena, name, Random(seed)
        self.kept: tuple[str, frozenset[str]] = "", frozenset()
        self.caught = 0
        """Deploys in the middle of a match."""
        self.start("1")

    def start(self, version: str) -> None:
        session, matches = self.kept
        hello = Hello(self.name, token="t", session=session, matches=2, program=version)
        self.away, self.thinking = 0, list[tuple[float, ChooseMove]]()
        self.machine = Machine(hello, previous_matches=matches)
        self.machine.handle_connected()
        self.peer = self.arena.enter(hello)
        self.listen()

    def end(self, way: str) -> None:
        self.caught += bool(self.machine.match_count)
        self.kept = ("" if way == "no file" else self.machine.session), self.machine.matches
        if way != "kill -9":  # of that the server hears when the next process comes
            self.peer.leave()
        self.away = AWAY_STEPS

    def step(self) -> None:
        if self.away:
            self.away -= 1
            if not self.away:
                self.start(f"{self.dice.random()}")
            return
        self.listen()
        now = self.now_s
        for due, order in [each for each in self.thinking if each[0] <= now]:
            self.thinking.remove((due, order))
            moves: Any = self.machine._matches[order.match].match.game.moves(order.position)
            self.act(
                self.machine.handle_move_chosen(order.match, order.ply, self.dice.choice(moves), None, now)
            )
        self.listen()

    @property
    def now_s(self) -> float:
        return self.arena.now / SECOND

    def listen(self) -> None:
        while news := self.peer.news():
            for message in news:
                self.act(self.machine.handle_message(message, self.now_s))

    def act(self, actions: list[Action]) -> None:
        for action in actions:
            match action:
                case SendMessage(message):
                    self.peer.say(message)
                case PrepareBot(match):
                    self.act(self.machine.handle_prepared(match.id))
                case ChooseMove():
                    self.thinking.append((self.now_s + self.dice.uniform(5, 60), action))


@pytest.mark.slow
@pytest.mark.parametrize("game", ["tictactoe", "riskless"])
def test_twenty_deploys_in_a_day_of_play_cost_no_match(game: str) -> None:
    pool = replace(
        POOL, games=(PoolGame(game_of(game), TimeControl.parse("600+30")),), ready_ms=30_000, rated=False
    )
    arena = Arena(pool=pool, grace_ms=60_000)
    bots = [Deployed(arena, name, seed) for seed, name in enumerate(("anna", "bert"))]
    deploys = {
        round((number + 0.3 + 0.4 * place) * DAY_S / DEPLOYS) // STEP_S: (bot, WAYS[number % len(WAYS)])
        for place, bot in enumerate(bots)
        for number in range(DEPLOYS)
    }
    assert len(deploys) == 2 * DEPLOYS
    for step in range(DAY_S // STEP_S):
        if step in deploys:
            bot, way = deploys[step]
            bot.end(way)
        for bot in bots:
            bot.step()
        arena.wait(STEP_S * 1000)
    assert not {each.result.reason for each in arena.records} & FORFEIT_REASONS
    assert len(arena.records) > 100
    assert all(bot.caught > DEPLOYS // 2 for bot in bots), "most deploys come in the middle of a match"

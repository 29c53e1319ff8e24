"""A whole event on a virtual clock: the real shell, edge, store and client in memory, and a server that is killed."""

from __future__ import annotations

import json
import sys
from collections import Counter
from typing import Any

import msgspec
import pytest

from arena.bots.client.settings import ClientSettings
from arena.match.terms import encode_game
from arena.protocol.timecontrol import TimeControl
from arena.server.core.event_state import EventPlan
from arena.server.core.inputs import AnnounceEvent, ControlEvent
from arena.server.core.settings import PoolGame
from testkit.simulation.arena import SimulatedArena, SimulationPlan
from testkit.simulation.bots import URL, ClientBot
from testkit.simulation.servers import SHARD, replace_machine
from testkit.simulation.world import EPOCH_NS, SECOND
from tests.server.matches import game_of

pytestmark = pytest.mark.slow

START = PoolGame(game_of(), TimeControl.parse("15/move"))
BEGINS_S = 30


class Entrant(ClientBot):
    """The product's client, which enters the cup."""

    def start(self) -> None:
        self.arena.world.call_after(4 * SECOND, super().start)  # once the event is announced

    def make_settings(self) -> ClientSettings:
        return ClientSettings(URL, self.name, event="cup", pool=False, wait=1e6)


def ask(arena: SimulatedArena, request: AnnounceEvent | ControlEvent) -> None:
    text = msgspec.json.encode(request, enc_hook=encode_game).decode()
    arena.store.raw.execute("INSERT INTO requests (server, request) VALUES (?, ?)", (SHARD, text))


def play(bots: int, kills: tuple[int, ...], **changes: object) -> dict[str, Any]:
    """Play a cup whose server is killed at these seconds; the event's row, and its finished matches."""
    arena = SimulatedArena(SimulationPlan(1, 280, bots=0, control=0, cluster=False))
    arena.bots = [Entrant(arena, number) for number in range(bots)]
    plan = EventPlan(
        event="cup",
        uid="7",
        start_time=EPOCH_NS // SECOND + BEGINS_S,
        closing_time=EPOCH_NS // SECOND + BEGINS_S,
        format="swiss",
        rounds=3,
        starts=(START,),
    )
    announced = AnnounceEvent(msgspec.structs.replace(plan, **changes))
    arena.world.call_at(SECOND // 2, lambda: ask(arena, announced))
    for second in kills:
        arena.world.call_at(second * SECOND, arena.servers[0].kill)
    hook, sys.unraisablehook = sys.unraisablehook, lambda _given: None
    try:
        with replace_machine(arena):
            try:
                arena.run(280, ())
                row = arena.store.raw.execute("SELECT plan, finished FROM ladders").fetchone()
                matches = arena.store.raw.execute(
                    "SELECT match, maxie, minnie, winner, reason FROM matches WHERE finished IS NOT NULL"
                ).fetchall()
                answer = arena.store.raw.execute("SELECT answer FROM requests").fetchone()
            finally:
                arena.close()
    finally:
        sys.unraisablehook = hook
    return {"plan": json.loads(row[0]), "finished": row[1], "matches": matches, "answer": answer[0]}


@pytest.mark.parametrize("kills", [(45,), (33, 60, 95)])
def test_an_event_is_played_to_its_end_whatever_becomes_of_its_server(kills: tuple[int, ...]) -> None:
    cup = play(5, kills)
    assert cup["answer"] == "cup is announced"
    assert cup["plan"]["state"]["phase"] == "over"
    assert cup["finished"]
    assert len(cup["plan"]["bots"]) == 5
    met = Counter(frozenset((maxie, minnie)) for _, maxie, minnie, _, _ in cup["matches"])
    assert set(met.values()) == {2}, "a pair each, and nobody meets somebody again"
    assert len(met) == 3 * 2
    assert {reason for *_, reason in cup["matches"]} <= {"line", "board_full"}


def test_a_knockout_has_one_winner() -> None:
    cup = play(4, (50,), format="knockout", rounds=1)
    assert cup["plan"]["state"]["phase"] == "over"
    assert len({frozenset(each[1:3]) for each in cup["matches"]}) == 3

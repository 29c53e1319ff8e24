"""Against easyAI and OpenSpiel's alpha-beta in Python: the same rules, depth and leaves."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.kit.measure import Ratio, Section, game, positions, short, timed
from benchmarks.kit.results import claim
from bots.compiled.catalogue import compile_game, weights_for
from bots.compiled.plain import FRAMES, frame_words, make_plain
from bots.compiled.searcher import Searcher, Settings
from games.core import Player
from games.riskless import Armies, Riskless

MAP = "m2"
DEPTH = 4
TABLE_DEPTH = 6
COUNT = 8
TABLE_COUNT = 4
MEASURED = 200
"""How often the compiled search is repeated to be timed: one run takes less than a millisecond."""


class EasyAiGame:
    """Riskless as easyAI wants a game: changed by moves, seen by the player whose turn it is."""

    def __init__(self, rules: Riskless, position: Armies) -> None:
        self.rules = rules
        self.position = position
        self.before: list[Armies] = []
        self.entered = 1
        self.ai_move: Any = None

    def possible_moves(self) -> list[Any]:
        return list(self.rules.moves(self.position))

    def make_move(self, move: Any) -> None:
        self.before.append(self.position)
        self.position = self.rules.successor(self.position, move)
        self.entered += 1

    def unmake_move(self, move: Any) -> None:  # noqa: ARG002 - what was before is known
        self.position = self.before.pop()

    def switch_player(self) -> None:
        """The position knows whose turn it is."""

    def is_over(self) -> bool:
        return self.rules.outcome(self.position) is not None

    def scoring(self) -> int:
        return self.position.player.sign * self.rules.estimate(self.position)

    def ttentry(self) -> Armies:
        return self.position


class SpielState:
    """Riskless as OpenSpiel's Python alpha-beta wants a state; actions are numbers of roads."""

    def __init__(self, rules: Riskless, position: Armies, count: list[int]) -> None:
        self.rules = rules
        self.position = position
        self.count = count

    def clone(self) -> SpielState:
        return SpielState(self.rules, self.position, self.count)

    def legal_actions(self) -> list[Any]:
        return list(self.rules.moves(self.position))

    def apply_action(self, action: Any) -> None:
        self.position = self.rules.successor(self.position, action)
        self.count[0] += 1

    def is_terminal(self) -> bool:
        return self.rules.outcome(self.position) is not None

    def player_return(self, player: int) -> float:
        outcome = self.rules.outcome(self.position)
        if outcome is None or outcome.winner is None:
            return 0.0
        return 1e6 if (outcome.winner is Player.MAXIE) == (player == 0) else -1e6

    def current_player(self) -> int:
        return 0 if self.position.player is Player.MAXIE else 1


def easyai(rules: Riskless, position: Armies, *, table: bool) -> tuple[float, int, int]:
    """Seconds, nodes entered, and the value for the player to move."""
    from easyAI import TranspositionTable  # noqa: PLC0415 - only the benchmark has it
    from easyAI.AI.Negamax import Negamax  # noqa: PLC0415

    start = EasyAiGame(rules, position)
    search = Negamax(TABLE_DEPTH if table else DEPTH, tt=TranspositionTable() if table else None)
    seconds, _ = timed(lambda: search(start))
    return seconds, start.entered, int(search.alpha)


def spiel(rules: Riskless, position: Armies) -> tuple[float, int, int]:
    """As `easyai`, with OpenSpiel's search."""
    from open_spiel.python.algorithms.minimax import _alpha_beta  # noqa: PLC0415

    count = [1]
    state = SpielState(rules, position, count)
    me = state.current_player()
    sign = position.player.sign
    infinity = float("inf")
    seconds, (value, _) = timed(
        lambda: _alpha_beta(
            state, DEPTH, -infinity, infinity, lambda leaf: sign * rules.estimate(leaf.position), me
        )
    )
    return seconds, count[0], int(value)


class Plain:
    """The plain compiled search on the same tree."""

    def __init__(self, rules: Riskless) -> None:
        compiled = compile_game(rules, weights_for(rules, "plain"))
        if compiled is None:
            raise ValueError("the map does not fit the kernels")
        self.compiled = compiled
        self.search = make_plain(4)
        self.memory = np.zeros(FRAMES * frame_words(4), np.int64)

    def __call__(self, position: Armies) -> tuple[float, int]:
        """Seconds a search, and nodes entered."""
        words, left = self.compiled.pack(position), self.compiled.plies_left(position)
        nodes = 0

        def repeat() -> None:
            nonlocal nodes
            for _ in range(MEASURED):
                self.memory[: len(words)] = words
                nodes = self.search(self.memory, self.compiled.rules, left, DEPTH)

        seconds, _ = timed(repeat)
        return seconds / MEASURED, nodes


def _to_depth(engine: Searcher[Any, Any], position: Armies) -> None:
    for _ in engine.deepen(position, max_depth=TABLE_DEPTH):
        pass


def run() -> Section:
    """Each peer and the compiled search on the same positions."""
    rules = game(MAP)
    chosen = positions(rules, COUNT)
    plain = Plain(rules)
    plain(chosen[0])
    engine = Searcher(rules, weights_for(rules, "plain"), Settings(exact=True, table_mb=16))
    engine.warm_up()
    found: dict[str, list[float]] = {"easyAI": [], "OpenSpiel": [], "easyAI with its table": []}
    nodes: dict[str, list[float]] = {name: [] for name in found}
    for position in chosen:
        seconds, entered = plain(position)
        for name, (other, same, _) in (
            ("easyAI", easyai(rules, position, table=False)),
            ("OpenSpiel", spiel(rules, position)),
        ):
            if same != entered:
                raise AssertionError(f"{name} entered {same} nodes, the compiled search {entered}")
            found[name].append(other / seconds)
            nodes[name].append(entered)
    for position in chosen[:TABLE_COUNT]:
        other, same, _ = easyai(rules, position, table=True)
        engine.clear()
        seconds, _ = timed(partial(_to_depth, engine, position))
        found["easyAI with its table"].append(other / seconds)
        nodes["easyAI with its table"].append(same)
    engine.close()
    rows = [[name, short(Ratio(nodes[name]).median), str(Ratio(found[name]))] for name in found]
    return Section(
        "Against easyAI and OpenSpiel",
        f"Depth {DEPTH} on {MAP}, {COUNT} middle-game positions, army difference. The peers play by `games.riskless` "
        "through an adapter. Without a table the compiled search enters the same nodes, and so the same leaves, "
        f"which is checked. easyAI with its table searches to depth {TABLE_DEPTH}, against the whole engine in exact "
        "mode, all shallower depths included.",
        ["peer", "nodes entered, median", "compiled faster by"],
        rows,
        claims=[
            claim(f"against {name}, equal leaves", "at least 100 ×", f"{Ratio(found[name])} ×")
            for name in ("easyAI", "OpenSpiel")
        ],
    )

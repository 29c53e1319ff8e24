"""Against easyAI and OpenSpiel: Python against Python, compiled against compiled, and what is mixed named as mixed."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from arena.bots.compiled.catalogue import compile_game, weights_for
from arena.bots.compiled.plain import FRAMES, frame_words, make_plain
from arena.bots.compiled.searcher import Searcher, Settings
from arena.bots.evaluators.catalogue import evaluator_for
from arena.bots.search.play import Search, alphabeta_search
from arena.bots.search.watch import Watch
from arena.games.core import Player
from arena.games.riskless import Armies, Riskless
from arena.games.tictactoe import TicTacToe
from benchmarks.kit.measure import Ratio, Section, game, positions, short
from benchmarks.kit.results import claim

MAP = "m2"
DEPTH = 4
TABLE_DEPTH = 6
COUNT = 8
TABLE_COUNT = 4
TURNS = 5
SIMULATIONS = 20_000
WIN = 10_000
LEAST_WIN = 5_000
"""From here on a value is a win, which every search counts in its own way."""
MEASURED = 200
"""How often the compiled search is repeated to be timed: one run takes less than a millisecond."""
BLIND = "easyAI, its leaves not asked whether the match is over"


def worked(call: Callable[[], Any]) -> tuple[float, Any]:
    """The seconds that the processor worked for a call, whatever else the machine did, and what the call returned."""
    start = time.process_time()
    found = call()
    return time.process_time() - start, found


class EasyAiGame:
    """Riskless as easyAI wants a game: changed by moves, seen by the player whose turn it is.

    A leaf where the match is over is worth its result, as in the adapter of `examples/` and to every search here.
    """

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
        sign, outcome = self.position.player.sign, self.rules.outcome(self.position)
        if outcome is None:
            return sign * self.rules.estimate(self.position)
        return sign * WIN * outcome.winner.sign if outcome.winner else 0

    def ttentry(self) -> Armies:
        return self.position


class BlindGame(EasyAiGame):
    """As easyAI is when its user's scoring does not look: at the horizon it does not ask whether the match is over."""

    def scoring(self) -> int:
        return self.position.player.sign * self.rules.estimate(self.position)


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


def easyai(
    rules: Riskless, position: Armies, *, table: bool = False, adapter: type[EasyAiGame] = EasyAiGame
) -> tuple[float, int, int]:
    """Seconds, nodes entered, and the value for the player to move."""
    from easyAI import TranspositionTable  # noqa: PLC0415 - only the benchmark has it
    from easyAI.AI.Negamax import Negamax  # noqa: PLC0415

    start = adapter(rules, position)
    search = Negamax(TABLE_DEPTH if table else DEPTH, tt=TranspositionTable() if table else None)
    seconds, _ = worked(lambda: search(start))
    return seconds, start.entered, int(search.alpha)


def spiel(rules: Riskless, position: Armies) -> tuple[float, int, int]:
    """As `easyai`, with OpenSpiel's search."""
    from open_spiel.python.algorithms.minimax import _alpha_beta  # noqa: PLC0415

    count = [1]
    state = SpielState(rules, position, count)
    me = state.current_player()
    sign = position.player.sign
    infinity = float("inf")
    seconds, (value, _) = worked(
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

        seconds, _ = worked(repeat)
        return seconds / MEASURED, nodes


def reference(rules: Riskless, position: Armies) -> tuple[float, int, int]:
    """As `easyai`, with this project's readable search in Python: textbook alpha-beta, without a table or static order."""
    search: Search[Any, Any] = alphabeta_search(evaluator_for(rules, "plain"), static=False)
    watch = Watch()
    order = rules.moves(position)

    def nothing(_result: object) -> None:
        """Nobody asks how far it is."""

    seconds, result = worked(
        lambda: search(rules, position, DEPTH, order=order, watch=watch, progress=nothing)
    )
    return seconds, watch.nodes, position.player.sign * result.value // 100


def leaves_a_second() -> tuple[float, float]:
    """On tic-tac-toe's empty board: this project's compiled alpha-beta, every leaf of it, and OpenSpiel's MCTS in C++."""
    pyspiel: Any = import_module("pyspiel")
    rules = TicTacToe()
    settings = Settings(exact=True, table=False, hints=False, table_mb=1)
    searcher: Searcher[Any, Any] = Searcher(rules, weights_for(rules, "features"), settings)
    searcher.warm_up()
    seconds, reports = worked(lambda: list(searcher.deepen(rules.start())))
    searcher.close()
    spiel = pyspiel.load_game("tic_tac_toe")
    evaluator = pyspiel.RandomRolloutEvaluator(1, 1)
    bot = pyspiel.MCTSBot(spiel, evaluator, 2.0, SIMULATIONS, 100, False, 1, False)
    took, _ = worked(lambda: bot.step(spiel.new_initial_state()))
    return reports[-1].nodes / seconds, SIMULATIONS / took


def _to_depth(engine: Searcher[Any, Any], position: Armies) -> None:
    for _ in engine.deepen(position, max_depth=TABLE_DEPTH):
        pass


def quickest(search: Callable[[], tuple[float, int, int]]) -> tuple[float, int, int]:
    """The quickest of some runs of the same search."""
    return min(search() for _ in range(TURNS))


def run() -> Section:
    """Each peer and this project's searches on the same positions."""
    rules = game(MAP)
    chosen = positions(rules, COUNT)
    plain = Plain(rules)
    plain(chosen[0])
    engine = Searcher(rules, weights_for(rules, "plain"), Settings(exact=True, table_mb=16))
    engine.warm_up()
    python: dict[str, list[float]] = {"easyAI": [], BLIND: [], "OpenSpiel": []}
    mixed: dict[str, list[float]] = {**{name: [] for name in python}, "easyAI with its table": []}
    nodes: dict[str, list[float]] = {name: [] for name in mixed}
    for position in chosen:
        seconds, entered = plain(position)
        own, same, value = quickest(partial(reference, rules, position))
        if same != entered:
            raise AssertionError(f"the reference entered {same} nodes, the compiled search {entered}")
        for name, search in (
            ("easyAI", partial(easyai, rules, position)),
            (BLIND, partial(easyai, rules, position, adapter=BlindGame)),
            ("OpenSpiel", partial(spiel, rules, position)),
        ):
            other, same, found = quickest(search)
            if (same, abs(found)) != (entered, abs(value)) and abs(value) < LEAST_WIN:
                raise AssertionError(f"{name}: {same} nodes and {found}, the reference {entered} and {value}")
            python[name].append(other / own)
            mixed[name].append(other / seconds)
            nodes[name].append(entered)
    for position in chosen[:TABLE_COUNT]:
        other, same, _ = easyai(rules, position, table=True)
        engine.clear()
        seconds, _ = worked(partial(_to_depth, engine, position))
        mixed["easyAI with its table"].append(other / seconds)
        nodes["easyAI with its table"].append(same)
    engine.close()
    rows = [
        [
            f"Python against Python: the reference, against {name}",
            short(Ratio(nodes[name]).median),
            f"**{Ratio(found)}**",
        ]
        for name, found in python.items()
    ]
    ours, theirs = leaves_a_second()
    rows.append(
        [
            "compiled against compiled, tic-tac-toe: alpha-beta's nodes a second, and simulations a second of OpenSpiel's C++ MCTS",
            "",
            f"{short(ours / theirs)}: {short(ours / 1e6)} M against {short(theirs / 1e6)} M",
        ]
    )
    rows += [
        [f"mixed, compiled against Python: {name}", short(Ratio(nodes[name]).median), str(Ratio(found))]
        for name, found in mixed.items()
    ]
    return Section(
        "Against easyAI and OpenSpiel",
        f"Depth {DEPTH} on {MAP}, {COUNT} middle-game positions, army difference, seconds of the processor, the best of {TURNS}. "
        "The peers play by `games.riskless` through an adapter, and a leaf where the match is over is worth its result to all "
        "but one. Without a table all enter the same nodes, and so the same leaves, and find "
        f"the same value, which is checked. easyAI with its table searches to depth {TABLE_DEPTH}, against the whole "
        "compiled engine in exact mode, all shallower depths included.",
        ["", "nodes entered, median", "faster by"],
        rows,
        "OpenSpiel's wheel has its alpha-beta in Python only; of its searches in C++ it lets Python call MCTS, where a "
        "simulation is a walk to a leaf and a match of random moves from there: not the same leaves, and not the same work. "
        "The mixed rows say what compiling is worth to whoever has a search in Python, and nothing of the searches.",
        claims=[
            claim(
                "the reference search against easyAI, Python against Python, equal leaves",
                "at least 1.0 ×",
                f"{Ratio(python['easyAI'])} ×; where easyAI's leaves are not asked whether the match is over, and so do "
                f"less, {Ratio(python[BLIND])} ×",
            ),
            *(
                claim(
                    f"compiled search against {name} in Python (mixed), equal leaves",
                    "at least 100 ×",
                    f"{Ratio(mixed[name])} ×",
                )
                for name in python
                if name != BLIND
            ),
        ],
    )

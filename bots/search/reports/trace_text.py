"""Trace of a search as text, in the format of a course's homework (source 001 in docs/search.md), such as:

F: state (Maxie,e) with ab=(Leaf(Minnie wins!),Leaf(Maxie wins!))
Estimating state e[3]
Result of (Maxie,e) is Leaf(Guess: 3)

F is Maxie's function and G is Minnie's; ~ is Standard ML's minus sign. A search without a window has
no `ab`. In a game that is not an explicit tree, a state is its position as text. Values are on the scale of
`bots.search.search_values`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, assert_never

from arena.bots.search.monitor import LeafValued, NodeEntered, NodeLeft, TableHit, TraceEvent
from arena.bots.search.move_values import MoveValue
from arena.bots.search.problem import SearchResult
from arena.bots.search.search_values import INFINITY, count_plies_to_end
from arena.bots.search.views import Seq, to_list
from arena.games.core import Game, Player, RuleEndReason
from arena.games.explicit import ExplicitGame

_MOVE_WORDS_BY_COUNT = {2: ("left", "right"), 3: ("left", "middle", "right")}
"""Words that name the moves of a node with two or three moves in an explicit tree, by the number of moves.

An explicit tree (`games.explicit`) is a list of nodes instead of the rules of a game. The last line of its trace names the
chosen move by such a word. If the root has another number of moves, the line has only the number of the move.
"""

PLAYER_NAMES = {Player.MAXIE: "Maxie", Player.MINNIE: "Minnie"}


def format_trace_lines(
    game: Game[Any, Any], events: Iterable[TraceEvent], *, shows_estimates: bool = True
) -> Iterator[str]:
    """Yield one line for each event of a search. If `shows_estimates` is False, leave out the values of leaves."""
    for event in events:
        node = f"({PLAYER_NAMES[game.player(event.position)]},{format_position(game, event.position)})"
        match event:
            case NodeEntered(alpha=MoveValue() as alpha, beta=MoveValue() as beta):
                window = f"({_format_move_value(game, alpha)},{_format_move_value(game, beta)})"
                yield f"{_get_trace_function_letter(game, event)}: state {node} with ab={window}"
            case NodeEntered():
                yield f"{_get_trace_function_letter(game, event)}: state {node}"
            case LeafValued():
                if shows_estimates:
                    yield _format_leaf(game, event)
            case TableHit(value=value):
                yield f"Remembering state {format_position(game, event.position)}[{_format_estimate(value)}]"
            case NodeLeft(result=result, has_cutoff=has_cutoff):
                pruned_text = " (* Pruned *)" if has_cutoff else ""
                yield f"Result of {node} is {_format_move_value(game, result)}{pruned_text}"
            case _:
                assert_never(event)


def format_summary_lines(
    game: Game[Any, Any], position: Any, result: SearchResult[Any], leaf_count: int
) -> list[str]:
    """Return the lines below the trace of a search from `position`: the value, the best move and the number of leaves."""
    node = f"({PLAYER_NAMES[game.player(position)]},{format_position(game, position)})"
    move = "none" if result.move is None else game.move_to_text(result.move)
    move_words = (
        _MOVE_WORDS_BY_COUNT.get(len(game.moves(position)), ()) if isinstance(game, ExplicitGame) else ()
    )
    word_text = f"[{move_words[result.move]}]" if move_words and result.move is not None else ""
    return [
        f"Therefore value of {node} is {format_search_value(result.value)}, and best move is {move}.",
        f"Terminals visited: {leaf_count}",
        f"Overall choice: move {move}{word_text}" if result.move is not None else "Overall choice: none",
    ]


def format_root_results_line(game: Game[Any, Any], events: Iterable[TraceEvent]) -> str:
    """Return one line with the results of all root moves, in the order in which they were searched."""
    results = Seq(event.result for event in events if isinstance(event, NodeLeft) and len(event.path) == 1)
    return f"Results of the moves: [{', '.join(_format_move_value(game, result) for result in to_list(results))}]"


def format_position(game: Game[Any, Any], position: Any) -> str:
    """Return the name of the position's node in a tree listed node by node; in any other game, the position as one line."""
    return game.get_node_name(position) if isinstance(game, ExplicitGame) else game.position_to_text(position)


def format_search_value(search_value: int) -> str:
    """Return a search value for Maxie as text in a trace, such as `Guess: 3`, `Guess: ~3` (-3) or `Maxie wins in 5`.

    An infinite bound is written `Maxie wins!` (+∞) or `Minnie wins!` (-∞).
    """
    if abs(search_value) == INFINITY:
        return "Maxie wins!" if search_value > 0 else "Minnie wins!"
    plies = count_plies_to_end(search_value)
    if plies is not None:
        return f"{'Maxie' if search_value > 0 else 'Minnie'} wins in {plies}"
    return f"Guess: {_format_estimate(search_value)}"


def format_value_or_prefixed_estimate(search_value: int, estimate_prefix: str = "") -> str:
    """Return a search value for Maxie as text: a win such as `Maxie wins in 5`, or an estimate such as `-3`.

    `estimate_prefix` is put before an estimate. `format_search_value` would write the example as `Guess: ~3`.
    """
    return format_search_value(search_value).replace("Guess: ", estimate_prefix).replace("~", "-")


def _get_trace_function_letter(game: Game[Any, Any], event: TraceEvent) -> str:
    return "F" if game.player(event.position) is Player.MAXIE else "G"


def _format_move_value(game: Game[Any, Any], result: MoveValue) -> str:
    value = format_search_value(result.value)
    return f"Step({game.move_to_text(result.move)}, {value})" if result.has_move else f"Leaf({value})"


def _format_leaf(game: Game[Any, Any], event: LeafValued) -> str:
    outcome = game.outcome(event.position)
    state = format_position(game, event.position)
    if outcome is not None and outcome.reason is not RuleEndReason.LEAF:
        return f"State {state} is over: {outcome}"
    return f"Estimating state {state}[{_format_estimate(event.value)}]"


def _format_estimate(value: int) -> str:
    return f"~{-value}" if value < 0 else str(value)

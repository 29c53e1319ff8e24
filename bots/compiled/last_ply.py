"""Last ply before the leaves, for games that can value a leaf from the position of its parent.

Most nodes of a search are leaves. `Kernel.foresee` values a node's leaves one after another, without creating their
positions and without the steps that an inner node takes for each of its moves.
"""

from __future__ import annotations

from typing import Any

from arena.bots.compiled.cache import inlined
from arena.bots.compiled.intrinsics import get, put
from arena.bots.compiled.kernel import DRAW, LOST, PLAYING, UNSEEN, Kernel
from arena.bots.compiled.memory_layout import FrameField, SearchOption, ThreadField
from arena.bots.search.search_values import INFINITY, WIN_VALUE


@inlined
def compute_match_end_value(outcome: Any, distance_from_root: Any) -> Any:
    """Return the value of a match that ended `distance_from_root` plies below the root, for the player who made the last move.

    `outcome` is the result of the game's compiled function `status`, for the player who would be next to move.
    """
    value = 0 if outcome == DRAW else WIN_VALUE - distance_from_root
    return value if outcome == LOST else -value


class FrontierNodeSearch:
    """Functions of one game that search a node whose children are leaves.

    `list_moves` and `return_value_to_parent` are functions of the main search (`bots.compiled.alphabeta`).
    """

    def __init__(
        self, kernel: Kernel, frame_words: int, list_moves: Any, return_value_to_parent: Any
    ) -> None:
        words, play, status, estimate = kernel.words, kernel.play, kernel.status, kernel.estimate
        survey: Any = kernel.survey
        foresee: Any = kernel.foresee
        self.can_foresee = survey is not None and foresee is not None
        """True if the game's kernel can value leaves from the position of their parent."""

        @inlined
        def is_above_leaves(mem: Any, shared: Any, node: Any) -> Any:
            """Return True for a node with a null window whose children are all leaves, if the option USE_FORESEE is set.

            Such nodes neither read nor write the transposition table: a lookup takes as long as valuing the leaves, and
            the nodes' entries would replace entries of deeper searches.
            """
            return (
                get(mem, node + FrameField.DEPTH) == 1
                and get(mem, node + FrameField.BETA) - get(mem, node + FrameField.ALPHA) == 1
                and get(shared, SearchOption.VALUE_LEAVES_FROM_PARENT) != 0
                and get(shared, SearchOption.SPLIT_DEPTH) > 1
                and get(mem, node + FrameField.DISTANCE_FROM_ROOT) > 0
                and get(mem, node + FrameField.DISTANCE_FROM_ROOT) + 1
                < get(shared, SearchOption.PLIES_LEFT_AT_ROOT)
            )

        @inlined
        def search_last_ply(mem: Any, shared: Any, rules: Any, frame: Any) -> Any:
            """Value a node's leaves in move order until one reaches beta, and pass the best value to the node's parent.

            Return the next step of the search loop.
            """
            node = frame + words
            distance = get(mem, node + FrameField.DISTANCE_FROM_ROOT) + 1
            list_moves(mem, rules, frame, distance - 1)
            survey(rules, mem, frame)
            list_at = get(mem, node + FrameField.MOVE_LIST_OFFSET)
            count = get(mem, node + FrameField.MOVE_COUNT)
            beta = get(mem, node + FrameField.BETA)
            best = -INFINITY
            estimate_count = 0
            i = 0
            while i < count and best < beta:
                move = get(mem, list_at + i)
                value = foresee(rules, mem, frame, move)
                outcome = PLAYING
                if value == UNSEEN:
                    child_frame = frame + frame_words
                    play(rules, mem, frame, child_frame, move)
                    outcome = status(rules, mem, child_frame)
                    value = (
                        -estimate(rules, mem, child_frame)
                        if outcome == PLAYING
                        else compute_match_end_value(outcome, distance)
                    )
                if outcome == PLAYING:
                    value -= get(shared, SearchOption.TEMPO_VALUE)
                    estimate_count += 1
                best = max(best, value)
                i += 1
            put(mem, ThreadField.NODE_COUNT, get(mem, ThreadField.NODE_COUNT) + i)
            put(mem, ThreadField.ESTIMATE_COUNT, get(mem, ThreadField.ESTIMATE_COUNT) + estimate_count)
            return return_value_to_parent(mem, frame, best)

        self.is_above_leaves = is_above_leaves
        self.search_last_ply = search_last_ply

"""Many simultaneous matches of one game, for machine learning: NumPy arrays that compiled code updates.

batch = Batch(game, 4096, opening=4, seed=1)
while learning:
    rewards, done = batch.step(policy(batch.observations, batch.legal))

Row i of each array is match i. A match that ends is restarted immediately; `rewards` and `done` describe the match that
ended. Each step changes the same arrays in place, so copy what you want to keep. A step releases the GIL, so batches in
several threads run in parallel.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from arena.bots.compiled.cache import compile_kernel, hold_compile_lock, inlined
from arena.bots.compiled.catalogue import compile_game, weights_for
from arena.bots.compiled.kernel import LOST, PLAYING, WON, Kernel
from arena.games.core import Game

MEMORY_PADDING_WORDS = 8
"""Number of unused words at the end of a batch's memory. `gather_bit_column` reads four words at a time, and may reach them."""


class Batch:
    """Matches of a game, played at the same time. The game's kernel (compiled functions) must have a function `observe`.

    observations  (size, cells) int8, for the player to move: positive for its own pieces, negative for the opponent's
    legal         (size, actions) bool: legal actions of the player to move
    players       (size,) int8: 1 if Maxie is to move, -1 if Minnie is
    plies         (size,) int64: moves played, including opening moves
    rewards       (size,) int8: for a match that has just ended 1 if Maxie won, -1 if Minnie won, 0 for a draw; otherwise 0
    done          (size,) bool: True if a match has just ended and another one has begun
    random        (size,) int32: a random legal action of each match, uniformly distributed
    """

    def __init__(self, game: Game[Any, Any], size: int, *, opening: int = 0, seed: int = 0) -> None:
        """Start all matches.

        opening   number of random moves at the start of each match, so that the matches differ
        seed      random seed of the openings and of `random`

        Raises ValueError if the game's kernel (compiled functions) has no function `observe`, if `size` is less than 1, or if
        `opening` is negative.
        """
        compiled = compile_game(game, weights_for(game, "plain"))
        if compiled is None or compiled.kernel.observe is None:
            raise ValueError(
                f"a batch needs a game with a compiled function `observe`, and {game.name} has none (docs/learning.md)"
            )
        if size < 1:
            raise ValueError(f"size must be at least 1, not {size}")
        if opening < 0:
            raise ValueError(f"opening must be at least 0, not {opening}")
        self.game = game
        self.actions = compiled.move_count
        """Number of different actions. An action is the number of a move, the same in all matches of the batch."""
        self.move, self.action = compiled.number_to_move, compiled.move_to_number
        """Functions that convert an action to its move, and a move to its action."""
        self._rules, self._opening = compiled.rules, opening
        self._max_plies = compiled.plies_left(game.start())
        words = compiled.kernel.words
        self._start = np.zeros(words, np.int64)
        self._start[:] = compiled.pack(game.start())
        self._memory = np.zeros((size + 1) * words + self.actions + MEMORY_PADDING_WORDS, np.int64)
        self._legal = np.zeros((size, self.actions), np.uint8)
        self._done = np.zeros(size, np.uint8)
        self._rows = np.arange(size)
        self._random_states = np.zeros(size, np.int64)
        self.observations = np.zeros((size, compiled.observed_value_count), np.int8)
        self.legal: npt.NDArray[np.bool_] = self._legal.view(np.bool_)
        self.players = np.ones(size, np.int8)
        self.plies = np.zeros(size, np.int64)
        self.rewards = np.zeros(size, np.int8)
        self.done: npt.NDArray[np.bool_] = self._done.view(np.bool_)
        self.random = np.zeros(size, np.int32)
        self._step = _make_step_kernel(compiled.kernel)
        self.reset(seed)

    @property
    def size(self) -> int:
        """Return the number of matches."""
        return len(self.plies)

    def reset(self, seed: int) -> None:
        """Restart all matches, with openings determined by `seed`."""
        self._random_states[:] = np.random.default_rng(seed).integers(1, 2**62, self.size)
        self._call_step_kernel(np.full(self.size, -1, np.int32))

    def step(self, actions: npt.ArrayLike) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.bool_]]:
        """Play `actions[i]` in each match i; return the arrays `rewards` and `done`. Raise ValueError for an illegal action."""
        chosen_actions = np.ascontiguousarray(actions, np.int32)
        if chosen_actions.shape != self.plies.shape:
            raise ValueError(
                f"actions must be {self.size} numbers, one per match, not an array of shape {chosen_actions.shape}"
            )
        in_range = (chosen_actions >= 0) & (chosen_actions < self.actions)
        is_legal = in_range & self.legal[self._rows, np.where(in_range, chosen_actions, 0)]
        if not is_legal.all():
            row = int(np.argmin(is_legal))
            raise ValueError(
                f"action {chosen_actions[row]} is not legal in match {row}: choose one that is True in `legal`"
            )
        self._call_step_kernel(chosen_actions)
        return self.rewards, self.done

    def _call_step_kernel(self, actions: npt.NDArray[np.int32]) -> None:
        """Play `actions[i]` in each match i by compiled code, and update the arrays. The action -1 restarts a match."""
        self._step(
            self._rules,
            self._memory,
            self._start,
            actions,
            self._max_plies,
            self._opening,
            self._random_states,
            self.plies,
            self.players,
            self._legal,
            self.observations,
            self.rewards,
            self._done,
            self.random,
        )


@cache
def _make_step_kernel(kernel: Kernel) -> Callable[..., Any]:
    """Return the function that plays one step of every match in a batch. The function is compiled at its first call."""
    words, moves, play, status = kernel.words, kernel.moves, kernel.play, kernel.status
    observe: Any = kernel.observe

    @inlined
    def draw_random_index(random_states: Any, row: Any, count: Any) -> Any:
        """Return a random number below `count`, by the xorshift generator of match `row`."""
        state = random_states[row]
        state ^= state << 13
        state ^= (state >> 7) & 0x1FFFFFFFFFFFFFF
        state ^= state << 17
        random_states[row] = state
        return ((state >> 11) & 0xFFFFFFFF) % count

    @inlined
    def play_in_place(rules: Any, mem: Any, pos: Any, scratch: Any, move: Any) -> None:
        play(rules, mem, pos, scratch, move)
        for word in range(words):
            mem[pos + word] = mem[scratch + word]

    def step(
        rules: Any,
        mem: Any,
        start: Any,
        actions: Any,
        max_plies: Any,
        opening_plies: Any,
        random_states: Any,
        plies: Any,
        players: Any,
        legal_mask: Any,
        observations: Any,
        rewards: Any,
        done: Any,
        random_actions: Any,
    ) -> None:
        size = plies.shape[0]
        scratch = size * words
        list_at = scratch + words
        for row in range(size):
            pos = row * words
            is_restart = actions[row] < 0
            rewards[row] = 0
            done[row] = 0
            if not is_restart:
                play_in_place(rules, mem, pos, scratch, actions[row])
                plies[row] += 1
                players[row] = -players[row]
                outcome = status(rules, mem, pos)
                if outcome != PLAYING or plies[row] >= max_plies:
                    if outcome == WON:
                        rewards[row] = players[row]
                    if outcome == LOST:
                        rewards[row] = -players[row]
                    done[row] = 1
                    is_restart = True
            count = 0
            while is_restart:
                for word in range(words):
                    mem[pos + word] = start[word]
                plies[row] = 0
                players[row] = 1
                is_restart = False
                for _ in range(opening_plies):
                    count = moves(rules, mem, pos, list_at)
                    play_in_place(
                        rules, mem, pos, scratch, mem[list_at + draw_random_index(random_states, row, count)]
                    )
                    plies[row] += 1
                    players[row] = -players[row]
                    if status(rules, mem, pos) != PLAYING or plies[row] >= max_plies:
                        is_restart = True
                        break
            count = moves(rules, mem, pos, list_at)
            for action in range(legal_mask.shape[1]):
                legal_mask[row, action] = 0
            for index in range(count):
                legal_mask[row, mem[list_at + index]] = 1
            random_actions[row] = mem[list_at + draw_random_index(random_states, row, count)]
            observe(rules, mem, pos, observations, row)

    with hold_compile_lock():
        return compile_kernel(step, f"batch-{kernel.name}")

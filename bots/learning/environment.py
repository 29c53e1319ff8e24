"""Environment for learning a game, with immutable positions and a number (action) for every move.

env = make("riskless", map="italy")
position = env.reset(seed=1)
while env.outcome(position) is None:
    position = env.play(position, policy(env.observation(position), env.legal(position)))
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING, Any

from arena.bots.learning.pictures import (
    Picture,
    make_match_picture,
    make_position_picture,
    make_search_picture,
)
from arena.games.catalogue import CATALOGUE
from arena.games.core import Game, Outcome
from arena.games.graph import list_edges
from arena.games.riskless import Riskless
from arena.games.tictactoe import MARK_BY_PLAYER, TicTacToe
from arena.maps.game_on_map import DEFAULT_MAP, make_game_on_map
from arena.match.replay import verify_record
from arena.protocol.record import Record

if TYPE_CHECKING:
    from arena.bots.compiled.batch import Batch


MAX_OPENING_TRIES = 100
"""Maximum number of attempts to find an opening (random first moves) that does not end the match."""


class Environment:
    """Game with its setup, such as the map, but without the state of a match: one environment serves any number of matches."""

    def __init__(self, game: Game[Any, Any], opening: int = 0) -> None:
        """Create the environment. `opening` is the number of random moves with which `reset` starts a match."""
        self.game = game
        self._opening = opening
        self._moves = _list_all_moves(game)
        """All moves of the game, each at the index that is its action; empty if the game has no actions."""
        self._actions_by_move = {move: action for action, move in enumerate(self._moves)}

    @property
    def actions(self) -> int:
        """Return the number of actions (numbered moves); 0 for a user-defined game, in which moves have no numbers."""
        return len(self._moves)

    def reset(self, seed: int | None = None) -> Any:
        """Return the first position of a match, after its random opening.

        seed  seed of the opening's moves; None for different moves in each call
        """
        position = self.game.start()
        for move in self.opening_moves(self._opening, seed):
            position = self.game.play(position, self.game.move_from_data(move))
        return position

    def opening_moves(self, count: int, seed: int | None) -> tuple[Any, ...]:
        """Return `count` random moves from the start position that do not end the match, each as JSON-like data.

        seed  seed of the random moves; None for different moves in each call

        Raises ValueError if each of MAX_OPENING_TRIES random matches ends within `count` moves.
        """
        game, rng = self.game, Random(seed)
        for _ in range(MAX_OPENING_TRIES):
            position = game.start()
            moves: list[Any] = []
            while game.outcome(position) is None:
                if len(moves) == count:
                    return tuple(moves)
                move = rng.choice(game.moves(position))
                moves.append(game.move_to_data(move))
                position = game.successor(position, move)
        raise ValueError(
            f"none of {MAX_OPENING_TRIES} random matches of {game.name} lasted more than {count} moves: choose a shorter opening"
        )

    def legal_moves(self, position: Any) -> Sequence[Any]:
        """Return the legal moves, in move order; none once the match is over."""
        return self.game.moves(position)

    def play(self, position: Any, move: Any) -> Any:
        """Return the position after `move`. Raises IllegalMove for an illegal move."""
        return self.game.play(position, move)

    def outcome(self, position: Any) -> Outcome | None:
        """Return the outcome of the match (winner and reason); None while the match is in play."""
        return self.game.outcome(position)

    def reward(self, position: Any) -> int:
        """Return 1 if Maxie has won, -1 if Minnie has won, and 0 for a draw or a match in play."""
        outcome = self.game.outcome(position)
        return outcome.winner.sign if outcome is not None and outcome.winner is not None else 0

    def player(self, position: Any) -> int:
        """Return 1 if Maxie is to move, -1 if Minnie is."""
        return self.game.player(position).sign

    def move(self, action: int) -> Any:
        """Return the move with the number `action`, legal or not at present. Raises IndexError if there is no such move."""
        if not 0 <= action < len(self._moves):
            raise IndexError(f"there is no action {action}: the actions are 0 to {len(self._moves) - 1}")
        return self._moves[action]

    def action(self, move: Any) -> int:
        """Return the action of a move: its number in the list of all moves of this game and map.

        Raises KeyError if `move` is legal in no position.
        """
        return self._actions_by_move[move]

    def legal(self, position: Any) -> list[bool]:
        """Return a list with one entry for each action: True if the action is legal in `position`."""
        legal_actions = {self._actions_by_move[move] for move in self.game.moves(position)}
        return [action in legal_actions for action in range(self.actions)]

    def observation(self, position: Any) -> list[int]:
        """Return the position as the player to move sees it: own pieces are positive numbers, the opponent's are negative.

        For Riskless the list has the armies of each territory, limited to ±127; for tic-tac-toe it has 1, 0 or -1 for each
        cell. Raises ValueError for other games.
        """
        sign, game = self.player(position), self.game
        if isinstance(game, Riskless):
            return [max(-127, min(sign * armies, 127)) for armies in position.armies]
        if isinstance(game, TicTacToe):
            own_mark = MARK_BY_PLAYER[game.player(position)]
            return [
                0 if piece not in MARK_BY_PLAYER.values() else 1 if piece == own_mark else -1
                for piece in position.cells
            ]
        raise ValueError(f"{game.name} has no observations: only riskless and tictactoe have them")

    def network_inputs(self, observations: Any) -> Any:
        """Return the inputs of a network evaluator (docs/learning.md) for n observations of Riskless.

        observations  array of shape (n, territories), each row as returned by `observation`

        The result has the type float32 and the shape (n, 700). Raises ValueError for other games.
        """
        if isinstance(self.game, Riskless):
            from arena.bots.evaluators.network import encode_network_inputs  # noqa: PLC0415 - NumPy is an extra

            return encode_network_inputs(self.game.map, observations)
        raise ValueError(f"network_inputs is only for riskless, and this game is {self.game.name}")

    def show(self, position: Any) -> Picture:
        """Return a picture of a position. Notebooks draw it, and `print` writes it as text."""
        return make_position_picture(self.game, position)

    def show_match(self, record: Record) -> Picture:
        """Return a chart of a match with the game's estimate of each position. `print` writes the list of moves instead.

        Raises BadRecord if the record breaks the rules of the game.
        """
        return make_match_picture(verify_record(record))

    def show_search(self, position: Any, algorithm: str = "alphabeta", depth: int = 2) -> Picture:
        """Return a picture of the tree that an algorithm visits in a search. `print` writes a trace of the search.

        algorithm  name of an algorithm in `bots.search.algorithms`, with options if any, such as `jamboree:prune=0.3`
        depth      depth of the search, in plies

        Raises BadSpec for an unknown algorithm, and TracedSearchTooLarge if the search visits too many nodes for a trace.
        """
        return make_search_picture(self.game, position, algorithm, depth)

    def positions(self, record: Record) -> Sequence[Any]:
        """Return all positions of a recorded match, from its start to its end.

        Raises BadRecord if the record breaks the rules.
        """
        return verify_record(record).positions

    def batch(self, size: int, seed: int = 0) -> Batch:
        """Return `size` matches of this environment's game, which compiled code plays at the same time.

        The matches have the same actions and observations as this environment, and the same number of random first moves.

        seed  seed of these first moves, and of the random actions in `Batch.random`

        Raises ValueError for a game without compiled rules (docs/learning.md).
        """
        # This import is slow, and needs the extra `engine`.
        from arena.bots.compiled.batch import Batch  # noqa: PLC0415

        return Batch(self.game, size, opening=self._opening, seed=seed)


def make(game: str = Riskless.name, *, map: str = DEFAULT_MAP, opening: int = 0) -> Environment:
    """Return the environment of a game.

    game      name of a game, or FILE.py:Class for a game of your own
    map       name of a Riskless map; ignored for other games
    opening   number of random moves at the start of each match

    Raises GameError if the game is unknown or invalid, and MapError if the map is.
    """
    return Environment(make_game_on_map(CATALOGUE.register_game(game), map), opening)


def batch(
    game: str = Riskless.name, *, map: str = DEFAULT_MAP, size: int = 1024, opening: int = 0, seed: int = 0
) -> Batch:
    """Return `size` simultaneous matches of a game, as NumPy arrays: see `Batch`.

    game, map   game and Riskless map, as for `make`
    opening     number of random moves at the start of each match
    seed        seed of these random moves, and of the random actions in `Batch.random`

    Raises GameError if the game is unknown or invalid, MapError if the map is, and ValueError for a game without compiled
    rules (docs/learning.md).
    """
    return make(game, map=map, opening=opening).batch(size, seed)


def _list_all_moves(game: Game[Any, Any]) -> tuple[Any, ...]:
    """Return every move that is legal in some position, in the order of their actions; empty if the game has no actions."""
    if isinstance(game, Riskless):
        return tuple(list_edges(game.map.neighbours))
    return tuple(range(9)) if isinstance(game, TicTacToe) else ()

"""Bot that plays every game of the arena with the Monte Carlo tree search of the package OpenSpiel.

    pip install open_spiel; arena match openspiel_bot.py alphabeta --tc 0.1/move

Each simulation of the tree search ends with the game's own estimate of a position. The bot computes the number of simulations
from the time for the move and the speed of its previous search.
"""

import time

import pyspiel
from open_spiel.python.algorithms.mcts import MCTSBot

from arena import MAXIE, MINNIE, Bot, plan


class State:
    """Position of a match, with the methods that OpenSpiel's search calls on a state and on its game."""

    max_utility, is_chance_node = staticmethod(lambda: 1.0), staticmethod(lambda: False)
    get_type = staticmethod(lambda: pyspiel.load_game("tic_tac_toe").get_type())

    def __init__(self, game, position):
        self.game, self.position = game, position

    def clone(self):
        return State(self.game, self.position)

    def current_player(self):
        return [MAXIE, MINNIE].index(self.game.player(self.position))

    def legal_actions(self, player=None):
        return list(self.game.moves(self.position))

    def apply_action(self, move):
        self.position = self.game.successor(self.position, move)

    def is_terminal(self):
        return self.game.outcome(self.position) is not None

    def returns(self):
        sign = getattr(self.game.outcome(self.position).winner, "sign", 0)
        return [sign, -sign]


class OpenSpiel(Bot):
    simulations_per_second = 500.0  # until it is known

    def choose(self, position, clock):
        root, share = State(self.game, position), 0.7 * plan(clock, self.game.expected_plies(position)).soft
        move = MCTSBot(
            root, 1.4, count := max(2, int(share * self.simulations_per_second)), self, solve=False
        ).step(root)
        self.simulations_per_second = count / max(1e-6, clock.elapsed(time.monotonic()))
        return move

    def evaluate(self, state):
        share = (worth := self.game.estimate(state.position)) / (10 + abs(worth))
        return [share, -share]

    def prior(self, state):
        return [(move, 1.0) for move in state.legal_actions()]

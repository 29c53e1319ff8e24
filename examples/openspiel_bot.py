"""OpenSpiel's Monte Carlo tree search as a bot of the arena, for every game that the arena has.

    pip install open_spiel; arena match openspiel_bot.py alphabeta --tc 0.1/move

A simulation ends with the game's own estimate; how many there is time for is learned from the move before.
"""

import time

import numpy as np
from open_spiel.python.algorithms.mcts import Evaluator, MCTSBot

from arena import MAXIE, MINNIE, Bot, plan


class State:  # as OpenSpiel's search wants one, and a game
    max_utility = staticmethod(lambda: 1.0)
    is_chance_node = staticmethod(lambda: False)

    def __init__(self, game, position):
        self.game, self.position = game, position

    def clone(self):
        return State(self.game, self.position)

    def current_player(self):
        return (MAXIE, MINNIE).index(self.game.player(self.position))

    def legal_actions(self, player=None):
        return list(self.game.moves(self.position))

    def apply_action(self, move):
        self.position = self.game.successor(self.position, move)

    def is_terminal(self):
        return self.game.outcome(self.position) is not None

    def returns(self):
        sign = getattr(self.game.outcome(self.position).winner, "sign", 0)
        return [sign, -sign]


class Estimate(Evaluator):
    def evaluate(self, state):
        return np.tanh(np.array([1, -1]) * state.game.estimate(state.position) / 10)

    def prior(self, state):
        return [(move, 1.0) for move in state.legal_actions()]


class OpenSpiel(Bot):
    rate = 500.0  # simulations a second, until it is known

    def choose(self, position, clock):
        root, seconds = State(self.game, position), plan(clock, self.game.ply(position)).soft
        count = max(2, int(0.8 * self.rate * seconds))
        move = MCTSBot(root, 1.4, count, Estimate()).step(root)
        self.rate = count / max(1e-6, clock.elapsed(time.monotonic()))
        return move

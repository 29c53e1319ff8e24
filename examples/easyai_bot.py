"""Bot that plays every game of the arena with Negamax of the package easyAI.

    pip install easyAI
    arena match easyai_bot.py alphabeta --tc 0.1/move

The bot searches deeper and deeper until its time is up, and plays the best move of the last finished depth.
"""

import time

from easyAI import Negamax, TranspositionTable, TwoPlayerGame

from arena import Bot, plan


class EasyAIGame(TwoPlayerGame):
    """Position of a match in the interface that easyAI needs: the search makes moves on this object and takes them back."""

    def __init__(self, game, position, stop):
        self.game, self.position, self.stop = game, position, stop
        self.before, self.players, self.current_player = [], [None, None], 1

    def possible_moves(self):
        if self.stop():
            raise TimeoutError  # the depth that is being searched is given up
        return list(self.game.moves(self.position))

    def make_move(self, move):
        self.before.append(self.position)
        self.position = self.game.successor(self.position, move)

    def unmake_move(self, move):
        self.position = self.before.pop()

    def is_over(self):
        return self.game.outcome(self.position) is not None

    def scoring(self):
        sign, outcome = self.game.player(self.position).sign, self.game.outcome(self.position)
        if outcome is None:
            return sign * self.game.estimate(self.position)
        return sign * 1_000_000 * outcome.winner.sign if outcome.winner else 0

    def ttentry(self):
        return self.position


class EasyAI(Bot):
    def choose(self, position, clock):
        budget, table = plan(clock, self.game.expected_plies(position)), TranspositionTable()
        best, depth = self.game.moves(position)[0], 0
        while depth < 99 and clock.elapsed(time.monotonic()) < budget.soft:
            depth += 1
            easyai_game = EasyAIGame(
                self.game, position, lambda: clock.elapsed(time.monotonic()) > budget.hard
            )
            try:
                best = Negamax(depth, tt=table)(easyai_game)
            except TimeoutError:
                break
        return best

"""A bot for a Docker container. The bot plays the move after which the opponent has the fewest legal moves."""

from arena import Bot


class MyBot(Bot):
    def choose(self, position, clock):
        return min(
            self.game.moves(position),
            key=lambda move: self.count_replies(self.game.successor(position, move)),
        )

    def count_replies(self, position):
        outcome = self.game.outcome(position)
        if outcome is not None:
            return -1 if outcome.winner is self.seat else 1_000_000
        return len(self.game.moves(position))

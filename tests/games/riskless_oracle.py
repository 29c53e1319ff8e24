"""Oracle for Riskless: a slow implementation that follows the sentences of the rules.

A position is a dict from an occupied territory to its owner and armies; roads are a set of pairs.
Nothing here is shared with `games.riskless`.
"""

from __future__ import annotations

from dataclasses import dataclass

from arena.games.riskless_map import RisklessMap

Held = dict[int, tuple[str, int]]


@dataclass(frozen=True)
class Oracle:
    map: RisklessMap

    def held(self, armies: tuple[int, ...]) -> Held:
        return {v: ("maxie" if n > 0 else "minnie", abs(n)) for v, n in enumerate(armies) if n}

    def legal(self, held: Held, mover: str) -> list[tuple[int, int]]:
        moves = []
        for source in range(len(self.map.territories)):
            for target in self.map.neighbours[source]:
                if source in held and held[source][0] == mover:
                    moves.append((source, target))
        return moves

    def after(self, held: Held, mover: str, source: int, target: int) -> Held:
        board = dict(held)
        attackers = board[source][1]
        board[source] = (mover, 0)
        if target not in board:
            board[target] = (mover, attackers)
        else:
            owner, there = board[target]
            if owner == mover:
                board[target] = (mover, there + attackers)
            elif attackers >= there:
                board[target] = (mover, attackers - there)
            else:
                board[target] = (owner, there - attackers)
        for territory, (owner, armies) in board.items():
            board[territory] = (owner, armies + 1)
        for territory, (owner, armies) in board.items():
            if armies > self.map.territory_cap:
                board[territory] = (owner, self.map.territory_cap)
        return board

    def verdict(self, held: Held, ply: int) -> tuple[str | None, str] | None:
        total = {"maxie": 0, "minnie": 0}
        lands = {"maxie": 0, "minnie": 0}
        for owner, armies in held.values():
            total[owner] += armies
            lands[owner] += 1
        for player, other in (("maxie", "minnie"), ("minnie", "maxie")):
            if lands[player] == 0:
                return (other, "elimination")
        there = [player for player in total if total[player] >= self.map.armies_to_win]
        if len(there) == 2:
            return (None, "both_armies")
        if len(there) == 1:
            return (there[0], "armies")
        if ply >= self.map.ply_limit:
            return (None, "ply_limit")
        return None

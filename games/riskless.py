"""Riskless: a deterministic Risk on a graph (001, section 4).

A player moves all armies of one territory to an adjacent one; then every occupied territory of both
players trains one army, up to the cap. The map itself is `games.board.RisklessMap`.

A position keeps one signed number a territory: n > 0 is n armies of Maxie, n < 0 is -n of Minnie,
0 is empty. That is enough, because after training every occupied territory has at least one army;
the 0 armies that a move leaves on its source exist only inside `successor`.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, Self

from arena.games.board import MAX_TERRITORIES, RisklessMap
from arena.games.core import MAXIE, MINNIE, BadData, Game, Outcome, Plain, Player, Reason, whole_number

Move = tuple[int, int]
"""(source, target), both numbers of territories."""


class Armies(NamedTuple):
    """A position: signed armies for each territory, whose turn it is, and how many plies are gone.

    A frozen dataclass of three fields takes four times as long to make, which is felt in every search.
    """

    armies: tuple[int, ...]
    player: Player
    ply: int


class Riskless(Game[Armies, Move]):
    """The game on one map. Moves come territory by territory, neighbour by neighbour."""

    name = "riskless"
    title = "Riskless"

    def __init__(self, map: RisklessMap) -> None:
        self.map = map
        self._roads = tuple(tuple((v, w) for w in near) for v, near in enumerate(map.neighbours))
        cap, most = map.territory_cap, 2 * map.territory_cap
        # Indexed by signed armies, of one territory or of two that meet: Python's negative indices put Minnie's at the end.
        self._trained = (
            0,
            *(min(n + 1, cap) for n in range(1, most + 1)),
            *(-min(n + 1, cap) for n in range(most, 0, -1)),
        )

    @classmethod
    def from_setup(cls, setup: Mapping[str, object]) -> Self:
        return cls(RisklessMap.from_data(setup))

    def setup(self) -> dict[str, Plain]:
        return self._setup

    @cached_property
    def _setup(self) -> dict[str, Plain]:
        # A server asks for it several times in each match of thousands on one map.
        return self.map.to_data()

    def start(self) -> Armies:
        return Armies(self.map.start, MAXIE, 0)

    def player(self, position: Armies) -> Player:
        return position.player

    def ply(self, position: Armies) -> int:
        return position.ply

    def moves(self, position: Armies) -> Sequence[Move]:
        if self.outcome(position) is not None:
            return ()
        armies = position.armies
        if position.player is MAXIE:
            return [road for v, roads in enumerate(self._roads) if armies[v] > 0 for road in roads]
        return [road for v, roads in enumerate(self._roads) if armies[v] < 0 for road in roads]

    def successor(self, position: Armies, move: Move) -> Armies:
        armies, player, ply = position
        source, target = move
        sign, opponent = (1, MINNIE) if player is MAXIE else (-1, MAXIE)
        trained = self._trained
        board = [trained[n] for n in armies]
        board[source] = sign
        # Those who meet join or fight. A tie is won by the attacker, who then holds the target with nobody on it.
        board[target] = trained[armies[source] + armies[target]] or sign
        return Armies(tuple(board), opponent, ply + 1)

    def outcome(self, position: Armies) -> Outcome | None:
        lead = sum(position.armies)
        maxie = (sum(map(abs, position.armies)) + lead) // 2
        minnie = maxie - lead
        if not maxie or not minnie:
            return Outcome(MAXIE if maxie else MINNIE, Reason.ELIMINATION)
        goal = self.map.armies_to_win
        if maxie >= goal or minnie >= goal:
            if maxie >= goal and minnie >= goal:
                return Outcome(None, Reason.BOTH_ARMIES)
            return Outcome(MAXIE if maxie >= goal else MINNIE, Reason.ARMIES)
        return Outcome(None, Reason.PLY_LIMIT) if position.ply >= self.map.ply_limit else None

    def recurring(self, position: Armies) -> bytes:
        """The armies and who is to move: all of a position but its ply.

        Bytes, because a server keeps one for each ply of each match in progress: two for each territory, and two.
        """
        return array("h", (*position.armies, position.player.sign)).tobytes()

    def estimate(self, position: Armies) -> int:
        """Maxie's armies less Minnie's (001, section 4.1.3)."""
        return sum(position.armies)

    def broken_rule(self, position: Armies, move: Move) -> str | None:
        source, target = move
        names = self.map.territories
        if not (0 <= source < len(names) and 0 <= target < len(names)):
            return f"the territories are 0 to {len(names) - 1}"
        here = position.armies[source]
        if not (here > 0 if position.player is MAXIE else here < 0):
            owner = "empty" if here == 0 else f"{position.player.opponent}'s"
            return f"{names[source]} is {owner}, and it is {position.player}'s turn"
        if target not in self.map.neighbours[source]:
            near = ", ".join(names[v] for v in self.map.neighbours[source])
            return f"no road from {names[source]} to {names[target]}: it has roads to {near}"
        return None

    def move_to_data(self, move: Move) -> list[Plain]:
        return list(move)

    def move_from_data(self, data: object) -> Move:
        # What comes from the wire is a list; to ask whether something is any kind of sequence takes ten times as long.
        if isinstance(data, str) or not isinstance(data, (list, Sequence)) or len(data) != 2:
            raise BadData("a move of riskless is [source, target], two numbers of territories")
        last = len(self._roads) - 1
        source, target = data
        if type(source) is type(target) is int and 0 <= source <= last and 0 <= target <= last:
            return source, target
        return (whole_number(data[0], "source", 0, last), whole_number(data[1], "target", 0, last))

    def move_to_text(self, move: Move) -> str:
        source, target = (self.map.label(v) for v in move)
        return f"{source} > {target}" if " " in source or " " in target else f"{source} {target}"

    def move_from_text(self, text: str) -> Move:
        """Two territories, by name or number, with `>` or just a blank between; case is ignored."""
        if ">" in text:
            left, _, right = text.partition(">")
            return (self.map.find(left), self.map.find(right))
        words = text.split()
        readings = []
        for cut in range(1, len(words)):
            try:
                pair = (self.map.find(" ".join(words[:cut])), self.map.find(" ".join(words[cut:])))
            except BadData:
                continue
            readings.append(pair)
        if len(set(readings)) == 1:
            return readings[0]
        if len(words) == 2:
            return (self.map.find(words[0]), self.map.find(words[1]))
        why = "can be read in two ways" if readings else "is no move"
        raise BadData(f"{text.strip()!r:.60} {why}: type SOURCE > TARGET, by name or number")

    def position_to_data(self, position: Armies) -> dict[str, Plain]:
        return {
            "armies": list(position.armies),
            "player": position.player.value,
            "ply": position.ply,
        }

    def position_from_data(self, data: object) -> Armies:
        if not isinstance(data, Mapping) or set(data) != {"armies", "player", "ply"}:
            raise BadData("a position of riskless is {armies, player, ply}")
        armies, player = data["armies"], data["player"]
        if isinstance(armies, str) or not isinstance(armies, Sequence) or len(armies) != len(self.map.start):
            raise BadData(f"armies must list {len(self.map.start)} signed numbers, one a territory")
        if player not in ("maxie", "minnie"):
            raise BadData(f"player must be maxie or minnie, not {player!r:.40}")
        cap = self.map.territory_cap
        numbers = tuple(whole_number(n, "armies of a territory", -cap, cap) for n in armies)
        if not any(numbers):
            raise BadData("somebody must have an army: every territory is empty")
        ply = whole_number(data["ply"], "ply", 0, self.map.ply_limit)
        return Armies(numbers, Player(player), ply)

    def position_to_text(self, position: Armies) -> str:
        """Signed armies in territory order, then the player and the ply: `+2 . . -3 maxie 0`."""
        armies = " ".join(f"{n:+d}" if n else "." for n in position.armies)
        return f"{armies} {position.player.value} {position.ply}"

    def position_from_text(self, text: str) -> Armies:
        words = text.split()
        if len(words) != len(self.map.start) + 2:
            raise BadData(
                f"a position here is {len(self.map.start)} signed armies ('.' is empty), the player and "
                f"the ply, as in {self.position_to_text(self.start())!r:.200}"
            )
        *armies, player, ply = words
        try:
            numbers = [0 if word == "." else int(word) for word in armies]
            return self.position_from_data({"armies": numbers, "player": player, "ply": int(ply)})
        except ValueError as error:
            raise BadData(f"no position: {error}") from None

    def picture(self, position: Armies) -> str:
        """One line a territory: number, name, owner and armies, roads."""
        width = max(len(name) for name in self.map.territories)
        lines = [f"ply {position.ply}, {position.player} to move"]
        for v, (name, n) in enumerate(zip(self.map.territories, position.armies, strict=True)):
            owner = f"maxie {n:3d}" if n > 0 else f"minnie{-n:3d}" if n < 0 else "   -     "
            near = ", ".join(self.map.territories[w] for w in self.map.neighbours[v])
            lines.append(f"{v:3d} {name:<{width}}  {owner}   roads to {near}")
        return "\n".join(lines)


__all__ = ["MAX_TERRITORIES", "Armies", "Move", "Riskless", "RisklessMap"]

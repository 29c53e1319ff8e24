"""Riskless: a deterministic Risk on a graph (source 001 in docs/search.md, section 4).

A player moves all armies of one territory to an adjacent one. Then every occupied territory of both players gains one
army, up to the cap. This gain is called training. The map itself is `games.riskless_map.RisklessMap`.

A position has one signed number per territory: n > 0 means n armies of Maxie, n < 0 means -n of Minnie, 0 is empty. One number
is enough, because after training every occupied territory has at least one army. Only inside `successor` does the territory
that the armies leave briefly have 0 armies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from struct import pack
from typing import NamedTuple, Self

from arena.games.core import (
    MAXIE,
    MINNIE,
    BadData,
    Game,
    Outcome,
    PlainData,
    Player,
    RuleEndReason,
    require_integer,
)
from arena.games.riskless_map import RisklessMap

MATCH_LENGTH_FACTOR_WITH_FIGHTS = 4.0
"""Factor by which a match is expected to last longer than it would without fights."""
MIN_EXPECTED_PLIES = 24.0
"""Minimum of the expected plies left, so that engines keep time for a long fight. A nearer ply limit lowers it."""
Move = tuple[int, int]
"""Source and target of a move, both as territory numbers."""


class RisklessPosition(NamedTuple):
    """A position: armies on each territory (Minnie's are negative), the player to move, and the number of plies played.

    A frozen dataclass of three fields would take four times as long to create, which would slow every search.
    """

    armies: tuple[int, ...]
    player: Player
    ply: int


class Riskless(Game[RisklessPosition, Move]):
    """Rules of Riskless on one map. Moves are ordered by their source, then by the map's order of neighbours."""

    name = "riskless"
    ply_limit = None  # the map has one
    title = "Riskless"

    def __init__(self, map: RisklessMap) -> None:
        self.map = map
        self._roads_by_territory = tuple(
            tuple((territory, neighbour) for neighbour in near)
            for territory, near in enumerate(map.neighbours)
        )
        """Moves from each territory, in the order of its neighbours."""
        self._all_roads = frozenset(road for roads in self._roads_by_territory for road in roads)
        self._struct_format = f"{len(map.territories) + 1}h"
        cap, max_sum = map.territory_cap, 2 * map.territory_cap
        # Indexed by signed armies, of one territory or the sum of two. Negative indices reach Minnie's, at the end.
        self._armies_after_training = (
            0,
            *(min(n + 1, cap) for n in range(1, max_sum + 1)),
            *(-min(n + 1, cap) for n in range(max_sum, 0, -1)),
        )

    @classmethod
    def from_setup(cls, setup: Mapping[str, object]) -> Self:
        return cls(RisklessMap.from_data(setup))

    def setup(self) -> dict[str, PlainData]:
        return self._setup_data

    @cached_property
    def _setup_data(self) -> dict[str, PlainData]:
        # Cached, because a server needs it several times in each of thousands of matches on one map.
        return self.map.to_data()

    def start(self) -> RisklessPosition:
        return RisklessPosition(self.map.start, MAXIE, 0)

    def player(self, position: RisklessPosition) -> Player:
        return position.player

    def ply(self, position: RisklessPosition) -> int:
        return position.ply

    def moves(self, position: RisklessPosition) -> Sequence[Move]:
        if self.outcome(position) is not None:
            return ()
        armies = position.armies
        if position.player is MAXIE:
            return [
                road
                for territory, roads in enumerate(self._roads_by_territory)
                if armies[territory] > 0
                for road in roads
            ]
        return [
            road
            for territory, roads in enumerate(self._roads_by_territory)
            if armies[territory] < 0
            for road in roads
        ]

    def play_even_if_over(self, position: RisklessPosition, move: Move) -> RisklessPosition:
        if move in self._all_roads:
            source_armies = position.armies[move[0]]
            if source_armies > 0 if position.player is MAXIE else source_armies < 0:
                return self.successor(position, move)
        return super().play_even_if_over(position, move)  # raises IllegalMove with the reason

    def successor(self, position: RisklessPosition, move: Move) -> RisklessPosition:
        armies, player, ply = position
        source, target = move
        sign, opponent = (1, MINNIE) if player is MAXIE else (-1, MAXIE)
        trained_armies = self._armies_after_training
        armies_after = list(map(trained_armies.__getitem__, armies))
        armies_after[source] = sign
        # Own armies join, enemy armies fight. The attacker wins a tie and holds the target with 0 armies.
        armies_after[target] = trained_armies[armies[source] + armies[target]] or sign
        return RisklessPosition(tuple(armies_after), opponent, ply + 1)

    def outcome(self, position: RisklessPosition) -> Outcome | None:
        lead = sum(position.armies)
        maxie_armies = (sum(map(abs, position.armies)) + lead) // 2
        minnie_armies = maxie_armies - lead
        if not maxie_armies or not minnie_armies:
            return Outcome(MAXIE if maxie_armies else MINNIE, RuleEndReason.ELIMINATION)
        goal = self.map.armies_to_win
        if maxie_armies >= goal or minnie_armies >= goal:
            if maxie_armies >= goal and minnie_armies >= goal:
                return Outcome(None, RuleEndReason.BOTH_ARMIES)
            return Outcome(MAXIE if maxie_armies >= goal else MINNIE, RuleEndReason.ARMIES)
        return Outcome(None, RuleEndReason.PLY_LIMIT) if position.ply >= self.map.ply_limit else None

    def repetition_key(self, position: RisklessPosition) -> bytes:
        """Return the armies and the player to move as bytes, to recognize a position that occurs again at another ply.

        The returned key has two bytes for each territory, and two for the player. The key is small because a server keeps one
        for each ply of each match in progress.
        """
        return pack(self._struct_format, *position.armies, 1 if position.player is MAXIE else -1)

    def estimate(self, position: RisklessPosition) -> int:
        """Return the number of Maxie's armies minus the number of Minnie's."""
        return sum(position.armies)

    def expected_plies(self, position: RisklessPosition) -> float:
        """Return the expected number of plies to the end of the match, at most the rest of the ply limit.

        Without fights, a player reaches the number of armies that wins by gaining one army per occupied territory and
        ply. With fights, the median match between equals took two and a half times as long on the maps italy, world,
        grid:5x5 and ring:12. MATCH_LENGTH_FACTOR_WITH_FIGHTS is higher than that, so that engines keep time for matches longer
        than the median.
        """
        goal, plies = self.map.armies_to_win, float(self.map.ply_limit)
        for sign in (1, -1):
            own_armies = [sign * n for n in position.armies if sign * n > 0]
            plies = min(
                plies, MATCH_LENGTH_FACTOR_WITH_FIGHTS * (goal - sum(own_armies)) / max(1, len(own_armies))
            )
        return min(max(plies, MIN_EXPECTED_PLIES), self.map.ply_limit - position.ply)

    def broken_rule(self, position: RisklessPosition, move: Move) -> str | None:
        source, target = move
        names = self.map.territories
        if not (0 <= source < len(names) and 0 <= target < len(names)):
            return f"the territories are 0 to {len(names) - 1}"
        source_armies = position.armies[source]
        if not (source_armies > 0 if position.player is MAXIE else source_armies < 0):
            owner_text = "empty" if source_armies == 0 else f"{position.player.opponent}'s"
            return f"{names[source]} is {owner_text}, and it is {position.player}'s turn"
        if target not in self.map.neighbours[source]:
            neighbours_text = ", ".join(names[territory] for territory in self.map.neighbours[source])
            return f"no road from {names[source]} to {names[target]}: it has roads to {neighbours_text}"
        return None

    def move_to_data(self, move: Move) -> list[PlainData]:
        return list(move)

    def move_from_data(self, data: object) -> Move:
        # Data from the wire is a list; a check for any kind of sequence takes ten times as long.
        if isinstance(data, str) or not isinstance(data, (list, Sequence)) or len(data) != 2:
            raise BadData(
                f"a move of riskless must be [source, target], two territory indices, not {data!r:.40}"
            )
        max_number = len(self._roads_by_territory) - 1
        source, target = data
        if type(source) is type(target) is int and 0 <= source <= max_number and 0 <= target <= max_number:
            return source, target
        return (
            require_integer(data[0], "source", 0, max_number),
            require_integer(data[1], "target", 0, max_number),
        )

    def move_to_text(self, move: Move) -> str:
        source, target = (self.map.get_territory_name(territory) for territory in move)
        return f"{source} > {target}" if " " in source or " " in target else f"{source} {target}"

    def move_from_text(self, text: str) -> Move:
        """Return the move from two territories, by name or number, separated by `>` or a space; case is ignored."""
        if ">" in text:
            source, _, target = text.partition(">")
            return (self.map.find_territory(source), self.map.find_territory(target))
        words = text.split()
        possible_moves = []
        for cut in range(1, len(words)):
            try:
                pair = (
                    self.map.find_territory(" ".join(words[:cut])),
                    self.map.find_territory(" ".join(words[cut:])),
                )
            except BadData:
                continue
            possible_moves.append(pair)
        if len(set(possible_moves)) == 1:
            return possible_moves[0]
        if len(words) == 2:
            return (self.map.find_territory(words[0]), self.map.find_territory(words[1]))
        why = "can be read in two ways" if possible_moves else "is not a move"
        raise BadData(f"{text.strip()!r:.60} {why}: type SOURCE > TARGET, by name or number")

    def position_to_data(self, position: RisklessPosition) -> dict[str, PlainData]:
        return {
            "armies": list(position.armies),
            "player": position.player.value,
            "ply": position.ply,
        }

    def position_from_data(self, data: object) -> RisklessPosition:
        if not isinstance(data, Mapping) or set(data) != {"armies", "player", "ply"}:
            raise BadData(
                "a position of riskless must be an object with the keys `armies`, `player` and `ply`"
            )
        armies, player = data["armies"], data["player"]
        if isinstance(armies, str) or not isinstance(armies, Sequence) or len(armies) != len(self.map.start):
            raise BadData(
                f"armies must list {len(self.map.start)} signed numbers, one per territory, not {armies!r:.40}"
            )
        if player not in ("maxie", "minnie"):
            raise BadData(f"player must be maxie or minnie, not {player!r:.40}")
        cap = self.map.territory_cap
        numbers = tuple(require_integer(n, "armies of a territory", -cap, cap) for n in armies)
        if not any(numbers):
            raise BadData("at least one territory must have armies")
        ply = require_integer(data["ply"], "ply", 0, self.map.ply_limit)
        return RisklessPosition(numbers, Player(player), ply)

    def position_to_text(self, position: RisklessPosition) -> str:
        """Return the signed armies in territory order, then the player and the ply: `+2 . . -3 maxie 0`."""
        armies = " ".join(f"{n:+d}" if n else "." for n in position.armies)
        return f"{armies} {position.player.value} {position.ply}"

    def position_from_text(self, text: str) -> RisklessPosition:
        words = text.split()
        if len(words) != len(self.map.start) + 2:
            raise BadData(
                f"a position must be {len(self.map.start)} numbers of armies (+ maxie's, - minnie's, . none), "
                f"the player and the ply, e.g. {self.position_to_text(self.start())!r:.200}"
            )
        *armies, player, ply = words
        try:
            numbers = [0 if word == "." else _parse_integer(word, "armies") for word in armies]
            return self.position_from_data(
                {"armies": numbers, "player": player, "ply": _parse_integer(ply, "ply")}
            )
        except ValueError as error:
            raise BadData(f"{text.strip()!r:.200} is not a position: {error}") from None

    def picture(self, position: RisklessPosition) -> str:
        """Return one line per territory: its number, name, owner, armies and roads."""
        width = max(len(name) for name in self.map.territories)
        lines = [f"ply {position.ply}, {position.player} to move"]
        for territory, (name, n) in enumerate(zip(self.map.territories, position.armies, strict=True)):
            owner = f"maxie {n:3d}" if n > 0 else f"minnie{-n:3d}" if n < 0 else "   -     "
            neighbour_names = ", ".join(
                self.map.territories[neighbour] for neighbour in self.map.neighbours[territory]
            )
            lines.append(f"{territory:3d} {name:<{width}}  {owner}   roads to {neighbour_names}")
        return "\n".join(lines)


def _parse_integer(word: str, field_name: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise BadData(f"{field_name} must be a whole number, not {word!r:.20}") from None

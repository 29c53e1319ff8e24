"""Map of a Riskless match: territories, roads, the starting position, and limits such as the number of armies that wins.

A map is checked when it is created, whether it comes from a file, a generator or a network message. The error `BadMap`
names the invalid key, and the code that loads a map file adds the file's name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import cos, pi, sin

from arena.games.core import BadData, PlainData, require_integer
from arena.games.graph import find_reachable_vertices, list_edges

MAX_TERRITORIES = 1000
HIGHEST_TERRITORY_CAP = 1000
"""Maximum of `RisklessMap.territory_cap`, in armies."""
HIGHEST_PLY_LIMIT = 100_000
"""Maximum of `RisklessMap.ply_limit`, in plies."""
MAX_TERRITORY_NAME_LENGTH = 40
"""Maximum length of a territory's name, in characters."""
MAX_COORDINATE = 1e6
"""Maximum absolute value of the coordinates (`RisklessMap.places`) at which a territory is drawn."""


class BadMap(BadData):
    """Raised when a map is invalid.

    key        invalid key of the map's data, such as `neighbours`
    reason     description of the fault, as part of a sentence
    territory  number of the territory at which the value of `key` is invalid; None if the fault is not in a single territory
    """

    def __init__(self, key: str, reason: str, territory: int | None = None) -> None:
        super().__init__(f"{key}: {reason}")
        self.key = key
        self.reason = reason
        self.territory = territory


@dataclass(frozen=True)
class RisklessMap:
    """Map of V territories, joined by roads to a connected graph, with the limits and the start position of a match.

    territories    V names that differ even if case is ignored. A name of digits must be the territory's own number.
    neighbours     for each of the V territories, the numbers of its neighbours; their order is the order of the moves
    territory_cap  maximum number of armies on a territory
    armies_to_win  number of armies with which a player wins: at most V * territory_cap, and more than a player has at the start
    ply_limit      number of plies after which the match is a draw
    start          V signed numbers of armies: Maxie's are positive, Minnie's negative, 0 is an empty territory
    places         V points (x, y) at which the territories are drawn, x to the right and y down, in any unit
    """

    name: str
    territories: tuple[str, ...]
    neighbours: tuple[tuple[int, ...], ...]
    territory_cap: int
    armies_to_win: int
    ply_limit: int
    start: tuple[int, ...]
    places: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        self._check_territory_names()
        self._check_entry_counts()
        self._check_connected_graph()
        self._check_limits()
        self._check_start_armies()

    def _check_territory_names(self) -> None:
        territory_count = len(self.territories)
        if not 2 <= territory_count <= MAX_TERRITORIES:
            raise BadMap(
                "territories", f"there must be 2 to {MAX_TERRITORIES} territories, not {territory_count}"
            )
        seen_names: set[str] = set()
        for number, name in enumerate(self.territories):
            fault = _find_territory_name_fault(name, number, seen_names)
            if fault:
                raise BadMap("territories", fault, number)
            seen_names.add(name.casefold())

    def _check_entry_counts(self) -> None:
        for key, entries in (
            ("neighbours", "lists of neighbours"),
            ("places", "places"),
            ("start", "start entries"),
        ):
            count = len(getattr(self, key))
            if count != self.territory_count:
                raise BadMap(
                    key, f"there must be {self.territory_count} {entries}, one per territory, not {count}"
                )

    def _check_connected_graph(self) -> None:
        territory_count = self.territory_count
        # Sets make this fast even on a complete graph of 1,000 territories, which has a million roads.
        neighbour_sets = [set(neighbours) for neighbours in self.neighbours]
        for territory, neighbours in enumerate(self.neighbours):
            name = self.territories[territory]
            for neighbour in neighbours:
                if not 0 <= neighbour < territory_count:
                    raise BadMap(
                        "neighbours",
                        f"{name} has a road to {neighbour}, but there is no such territory",
                        territory,
                    )
                if neighbour == territory:
                    raise BadMap("neighbours", f"{name} has a road to itself: remove this road", territory)
                if len(neighbours) > len(neighbour_sets[territory]) and neighbours.count(neighbour) > 1:
                    raise BadMap(
                        "neighbours",
                        f"{self._format_road(territory, neighbour)} is given twice: give it once",
                        territory,
                    )
        # last, because a wrong number also leaves a road without its reverse
        for territory, neighbours in enumerate(self.neighbours):
            for neighbour in neighbours:
                if territory not in neighbour_sets[neighbour]:
                    road = self._format_road(territory, neighbour)
                    raise BadMap(
                        "neighbours", f"{road} has no road back: give it in both directions", territory
                    )
        unreachable = set(range(territory_count)) - find_reachable_vertices(self.neighbours, 0)
        if unreachable:
            territory, names = min(unreachable), self.territories
            reason = f"no roads lead from {names[0]} to {names[territory]}: the map must be connected"
            raise BadMap("neighbours", reason, territory)

    def _format_road(self, source: int, target: int) -> str:
        return f"the road from {self.territories[source]} to {self.territories[target]}"

    def _check_limits(self) -> None:
        territory_count = len(self.territories)
        for key, low, high in (
            ("territory_cap", 1, HIGHEST_TERRITORY_CAP),
            ("armies_to_win", 2, territory_count * self.territory_cap),
            ("ply_limit", 1, HIGHEST_PLY_LIMIT),
        ):
            try:
                require_integer(getattr(self, key), "it", low, high)
            except BadData as error:
                hint = (
                    f" (the cap {self.territory_cap} times {territory_count} territories)"
                    if key == "armies_to_win"
                    else ""
                )
                raise BadMap(key, f"{error}{hint}") from None

    def _check_start_armies(self) -> None:
        for territory, armies in enumerate(self.start):
            if abs(armies) > self.territory_cap:
                name = self.territories[territory]
                reason = f"{name} has {abs(armies)} armies, more than the cap of {self.territory_cap}"
                raise BadMap("start", reason, territory)
        for player, sign in (("maxie", 1), ("minnie", -1)):
            army_sum = sum(n for n in (sign * armies for armies in self.start) if n > 0)
            if army_sum == 0:
                raise BadMap("start", f"{player} needs at least one territory with armies")
            if army_sum >= self.armies_to_win:
                raise BadMap(
                    "start",
                    f"{player} starts with {army_sum} armies, which already win: armies_to_win must be larger",
                )

    @property
    def territory_count(self) -> int:
        return len(self.territories)

    def get_territory_name(self, territory: int) -> str:
        """Return the name of `territory`, or the number itself if the map has no such territory."""
        return self.territories[territory] if 0 <= territory < self.territory_count else str(territory)

    def find_territory(self, name_or_number: str) -> int:
        """Return the number of the territory with this name or number. Case is ignored.

        Raises BadData for any other text; the message lists similar names.
        """
        typed_name = " ".join(name_or_number.split())
        if typed_name.isdecimal() and len(typed_name) < 6 and int(typed_name) < self.territory_count:
            return int(typed_name)
        for number, name in enumerate(self.territories):
            if name.casefold() == typed_name.casefold():
                return number
        similar_names = [
            name for name in self.territories if name.casefold().startswith(typed_name.casefold()[:2])
        ]
        hint = ", ".join(similar_names[:6] or [*self.territories[:4], "…"])
        raise BadData(f"no territory is called {typed_name!r:.60}: choose from {hint}")

    def to_data(self) -> dict[str, PlainData]:
        """Return the map as plain data: the `setup` in a match's record and in the messages that start a match."""
        return {
            "map": self.name,
            "territories": list(self.territories),
            "neighbours": [list(near) for near in self.neighbours],
            "territory_cap": self.territory_cap,
            "armies_to_win": self.armies_to_win,
            "ply_limit": self.ply_limit,
            "start": [[("maxie" if n > 0 else "minnie"), abs(n)] if n else None for n in self.start],
            "places": [list(place) for place in self.places],
        }

    @classmethod
    def from_data(cls, data: Mapping[str, object]) -> RisklessMap:
        """Convert data from `to_data` to a map. Raises BadMap if the data is invalid.

        Unknown keys are ignored. Without the key `places` (the coordinates), the territories are laid out in a ring.
        """
        names = tuple(_require_text(name, "territories") for name in _require_list(data, "territories"))
        if len(names) > MAX_TERRITORIES:
            raise BadMap("territories", f"there must be 2 to {MAX_TERRITORIES} territories, not {len(names)}")
        places = _require_list(data, "places") if "places" in data else _make_ring_places(len(names))
        return cls(
            name=_require_text(data.get("map"), "map"),
            territories=names,
            neighbours=tuple(
                tuple(_require_integers(near, "neighbours")) for near in _require_list(data, "neighbours")
            ),
            territory_cap=_require_integer(data.get("territory_cap"), "territory_cap"),
            armies_to_win=_require_integer(data.get("armies_to_win"), "armies_to_win"),
            ply_limit=_require_integer(data.get("ply_limit"), "ply_limit"),
            start=tuple(_parse_start_armies_entry(entry) for entry in _require_list(data, "start")),
            places=tuple(_parse_coordinates(place) for place in places),
        )


def list_roads(map: RisklessMap) -> list[tuple[int, int]]:
    """Return every road once, as the numbers of its two territories, the lower first."""
    return [(source, target) for source, target in list_edges(map.neighbours) if source < target]


def _find_territory_name_fault(territory_name: str, territory: int, other_names: Collection[str]) -> str:
    """Return why `territory_name` cannot be the name of territory `territory`; empty if it can.

    other_names  names of other territories, in lower case (`casefold`)
    """
    if (
        not territory_name
        or len(territory_name) > MAX_TERRITORY_NAME_LENGTH
        or territory_name != " ".join(territory_name.split())
        or not territory_name.isprintable()
    ):
        return f"{territory_name!r:.60} is not a valid name: write 1 to {MAX_TERRITORY_NAME_LENGTH} printable characters"
    if ">" in territory_name:
        return f"{territory_name!r} must not contain '>', which separates source and target"
    if territory_name.isdecimal() and territory_name != str(territory):
        return f"{territory_name!r} reads like the number of a territory, but its own number is {territory}"
    return (
        f"{territory_name!r} is given twice (case is ignored)"
        if territory_name.casefold() in other_names
        else ""
    )


def _make_ring_places(territory_count: int) -> list[object]:
    angles = [2 * pi * territory / max(territory_count, 1) for territory in range(territory_count)]
    return [[round(cos(angle), 4), round(sin(angle), 4)] for angle in angles]


def _require_list(data: Mapping[str, object], key: str) -> list[object]:
    value = data.get(key)
    if not isinstance(value, list | tuple):
        raise BadMap(key, f"must be a list, not {value!r:.40}")
    return list(value)


def _require_text(data: object, key: str) -> str:
    if not isinstance(data, str):
        raise BadMap(key, f"must be text, not {data!r:.40}")
    return data


def _require_integer(data: object, key: str) -> int:
    try:
        return require_integer(data, "it", -(10**6), 10**6)
    except BadData as error:
        raise BadMap(key, str(error)) from None


def _require_integers(data: object, key: str) -> list[int]:
    if isinstance(data, str) or not isinstance(data, Sequence):
        raise BadMap(key, f"must be a list of numbers, not {data!r:.40}")
    return [_require_integer(item, key) for item in data]


def _parse_start_armies_entry(entry: object) -> int:
    if entry is None:
        return 0
    if isinstance(entry, str) or not isinstance(entry, Sequence) or len(entry) != 2:
        raise BadMap("start", f"an entry must be null or [player, armies], not {entry!r:.40}")
    player, armies = entry[0], _require_integer(entry[1], "start")
    if player not in ("maxie", "minnie"):
        raise BadMap("start", f"the player must be maxie or minnie, not {player!r:.40}")
    if armies < 1:
        raise BadMap("start", f"an occupied territory must have at least 1 army, not {armies}")
    return armies if player == "maxie" else -armies


def _parse_coordinates(place: object) -> tuple[float, float]:
    if isinstance(place, str) or not isinstance(place, Sequence) or len(place) != 2:
        raise BadMap("places", f"a place must be [x, y], not {place!r:.40}")
    x, y = place
    for coordinate in (x, y):
        # also rejects NaN and infinities, which cannot be drawn
        if (
            isinstance(coordinate, bool)
            or not isinstance(coordinate, int | float)
            or not abs(coordinate) <= MAX_COORDINATE
        ):
            raise BadMap(
                "places",
                f"a coordinate must be a number from {-MAX_COORDINATE:,.0f} to {MAX_COORDINATE:,.0f}, not {coordinate!r:.40}",
            )
    return (float(x), float(y))

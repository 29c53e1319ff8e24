"""A semester in small, on a virtual clock: twelve owners, a week of pool and events, and the close of the season.

Server, client and store are the real ones. Points, Buchholz, winners and marks are counted again from the finished matches.
"""

from __future__ import annotations

import csv
import gc
import pickle
import shutil
import sqlite3
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from arena.bots.client.settings import ClientSettings
from arena.match.terms import encode_game
from arena.protocol.codes import EndReason
from arena.protocol.timecontrol import TimeControl
from arena.server.core.event_state import EventPlan
from arena.server.core.inputs import AnnounceEvent, ControlEvent
from arena.server.core.settings import OPEN_EVENT, PoolGame
from arena.server.store import migrations
from arena.server.store.aggregates.season_closing import close_season
from arena.server.store.invitations import create_invitations, find_invited_owner, register_name
from testkit.simulation import invariants
from testkit.simulation.arena import SimulatedArena, SimulationPlan
from testkit.simulation.bots import URL, ClientBot
from testkit.simulation.servers import SHARD, replace_machine
from testkit.simulation.world import EPOCH_NS, SECOND, SimulatedProcess
from tests.bots.command_line import arena
from tests.server.databases import one_at_a_time
from tests.server.matches import game_of

pytestmark = pytest.mark.slow

OWNERS = [f"owner {number}" for number in range(12)]
DAY = 24 * 3600 * SECOND
ROUNDS = 4
FINALISTS = 8


class Played(NamedTuple):
    """A match in the store."""

    match: str
    event: str
    maxie: str
    minnie: str
    winner: str | None
    reason: str
    rated: int

    @property
    def two(self) -> frozenset[str]:
        return frozenset((self.maxie, self.minnie))

    def points(self) -> dict[str, float]:
        """Return the points of both bots."""
        if self.winner is None:
            each = 0.0 if self.reason == "no_show" else 0.5
            return dict.fromkeys((self.maxie, self.minnie), each)
        return {self.maxie: float(self.winner == "maxie"), self.minnie: float(self.winner == "minnie")}


class Student(ClientBot):
    """The product's client, which connects in the evening."""

    def __init__(self, arena: Semester, number: int) -> None:
        self.habit = "quitter" if number >= 22 else "client"
        super().__init__(arena, number)
        self.owner = OWNERS[number // 2]
        self.token = ""
        self.event = ""

    def make_settings(self) -> ClientSettings:
        return ClientSettings(URL, self.name, self.token, event=self.event, pool=not self.event, wait=1e6)

    def come(self, event: str) -> None:
        """Connect, for the pool or for an event."""
        self.event, self.is_leaving, self.has_left = event, False, False
        self.start()


class Semester(SimulatedArena):
    """An arena whose server is up only in the evening."""

    def __init__(self) -> None:
        super().__init__(SimulationPlan(1, 0, bots=0, control=0, cluster=False))
        self.students = [Student(self, number) for number in range(2 * len(OWNERS))]
        self.bots = [*self.students]
        self.owner_of = {each.name: each.owner for each in self.students}

    def find_owner(self, name: str) -> str:
        return self.owner_of[name]

    def open(self) -> None:
        """Create the store, start the server, and let the owners register their bots by invitation."""
        with self.store.make_writing_engine(self.store.engine).begin() as connection:
            migrations.create_tables(connection)
        self.servers[0].start()
        self.world.run_for(2 * SECOND)
        registrar = SimulatedProcess(self.world, "registrar")
        registrar.start(self._register())
        self.until(lambda: all(each.token for each in self.students), 60)

    async def _register(self) -> None:
        codes = await create_invitations(self.store.engine, OWNERS, 2, 14 * 24 * 3600)
        for each in self.students:
            owner = await find_invited_owner(self.store.engine, codes[each.owner])
            assert owner == each.owner
            each.token = await register_name(self.store.engine, owner, each.name)

    def until(self, holds: Callable[[], bool], seconds: int) -> None:
        """Run until something holds, for at most so many seconds."""
        for _ in range(seconds):
            if holds():
                return
            self.world.run_for(SECOND)
        raise AssertionError(f"it does not hold after {seconds} s")

    def evening(self, day: int, students: Iterable[Student], event: str = "") -> None:
        """Start the server on the evening of a day after Monday, and connect these bots."""
        self.world.run(day * DAY)
        if not self.servers[0].process.is_alive:
            self.servers[0].restart()
        self.world.run_for(3 * SECOND)
        for each in students:
            each.come(event)

    def night(self) -> None:
        """Let all matches end, and stop the server."""
        here = [each for each in self.students if not each.has_left and hasattr(each, "process")]
        for each in here:
            each.leave()
        self.until(lambda: all(each.has_left for each in here), 120)
        self.world.run_for(5 * SECOND)  # the last matches are counted
        server = self.servers[0]
        server.is_down = True
        server.stop()
        self.until(lambda: not server.process.is_alive, 60)
        self.monitor.check_servers()
        gc.collect()

    def ask(self, request: AnnounceEvent | ControlEvent) -> None:
        """Make a request of the host's, as the commands do."""
        text = msgspec.json.encode(request, enc_hook=encode_game).decode()
        self.store.raw.execute("INSERT INTO requests (server, request) VALUES (?, ?)", (SHARD, text))

    def announce(self, event: str, format: str, rounds: int, **changes: Any) -> None:
        """Ask the server to play an event in a minute."""
        begins = (EPOCH_NS + self.world.now) // SECOND + 60
        plan = EventPlan(
            event=event,
            uid=event,
            start_time=begins,
            closing_time=begins,
            format=format,
            rounds=rounds,
            starts=(PoolGame(game_of(), TimeControl.parse("15/move")),),
            **changes,
        )
        self.ask(AnnounceEvent(plan))
        self.world.run_for(3 * SECOND)

    def kill_server(self) -> None:
        """Kill the server as SIGKILL would, and let the next one start."""
        self.servers[0].kill()
        self.world.run_for(10 * SECOND)

    def played(self, event: str = "", *, finished: bool = True) -> list[Played]:
        """Return the matches of an event in the order in which they began; of all events without a name."""
        columns = "match, event, maxie, minnie, winner, reason, rated"
        rows = self.store.raw.execute(
            f"SELECT {columns} FROM matches WHERE (event = ? OR ? = '') AND (finished IS NOT NULL OR NOT ?)"
            " ORDER BY number",
            (event, event, finished),
        )
        return [Played(*row) for row in rows]

    def plan_of(self, event: str) -> dict[str, Any]:
        """Return the stored plan of an event."""
        row = self.store.raw.execute("SELECT plan FROM ladders WHERE event = ?", (event,)).fetchone()
        plan: dict[str, Any] = msgspec.json.decode(row[0])
        return plan

    def standings(self, season: int) -> list[tuple[Any, ...]]:
        """Return the whole table of a season."""
        query = "SELECT * FROM standings WHERE season = ? ORDER BY game, map, time_control, bot"
        return self.store.raw.execute(query, (season,)).fetchall()


def rounds_of(played: list[Played]) -> list[dict[frozenset[str], list[Played]]]:
    """Return the pairs of each round with their matches. A round ends where one of its bots meets another."""
    rounds: list[dict[frozenset[str], list[Played]]] = []
    for each in played:
        if not rounds or (each.two not in rounds[-1] and any(each.two & pair for pair in rounds[-1])):
            rounds.append({})
        rounds[-1].setdefault(each.two, []).append(each)
    return rounds


def points_of(played: Iterable[Played]) -> dict[str, float]:
    points: defaultdict[str, float] = defaultdict(float)
    for each in played:
        for bot, more in each.points().items():
            points[bot] += more
    return points


def swiss_table(
    played: list[Played], bots: list[str], left: dict[str, int]
) -> dict[str, tuple[float, float]]:
    """Return points and Buchholz. `left`: number of rounds in which a bot that left was paired."""
    points = points_of(played)
    opponents: defaultdict[str, list[str]] = defaultdict(list)
    for number, pairs in enumerate(rounds_of(played)):
        for one, other in map(sorted, pairs):
            opponents[one].append(other)
            opponents[other].append(one)
        out = [
            bot for bot in bots if left.get(bot, ROUNDS) > number and not any(bot in pair for pair in pairs)
        ]
        assert len(out) <= 1, f"at most one bot sits out round {number + 1}: {out}"
        for bot in out:
            points[bot] += 2.0
    return {bot: (points[bot], sum(points[other] for other in opponents[bot])) for bot in bots}


def champion(played: list[Played], seeds: list[str]) -> str:
    """Return the bot that lost no encounter of a knockout. The better seed wins a drawn one."""
    lost = set()
    for two in {each.two for each in played}:
        points = points_of(each for each in played if each.two == two)
        lost.add(max(two, key=lambda bot: (-points[bot], seeds.index(bot))))
    (found,) = set(seeds) - lost
    return found


def semester(arena: Semester) -> list[tuple[Any, ...]]:
    """Play the week, and return the table of the season when it was closed."""
    arena.open()
    for day in (0, 1, 2):
        arena.evening(day, arena.students)
        arena.world.run_for(40 * SECOND)
        arena.night()

    friday, students = 4, arena.students
    arena.world.run(friday * DAY)
    arena.servers[0].restart()
    arena.world.run_for(3 * SECOND)
    arena.announce("weekly", "swiss", ROUNDS)
    arena.evening(friday, students, "weekly")

    def in_round(number: int) -> bool:
        """Return True if at least four matches of a round are over."""
        begun = rounds_of(arena.played("weekly", finished=False))
        over = {each.match for each in arena.played("weekly")}
        return (
            len(begun) >= number and sum(each.match in over for two in begun[-1].values() for each in two) > 3
        )

    arena.until(lambda: bool(arena.played("weekly", finished=False)), 120)
    arena.kill_server()
    for number, quitter in enumerate(students[22:], 1):
        arena.until(partial(in_round, number), 600)
        arena.ask(ControlEvent("weekly", "withdraw", quitter.name))
        quitter.leave()
    arena.until(lambda: in_round(3), 600)
    paired = arena.played("weekly", finished=False)
    arena.kill_server()
    arena.until(lambda: in_round(4), 600)
    now = {each.match: each.two for each in arena.played("weekly")}
    assert {each.match: now[each.match] for each in paired} == {each.match: each.two for each in paired}
    assert {each.two for each in paired} >= set(rounds_of(arena.played("weekly"))[2]), (
        "no pairing has changed"
    )
    arena.until(lambda: arena.plan_of("weekly")["state"]["phase"] == "over", 600)
    arena.night()

    table = swiss_table(arena.played("weekly"), list(arena.plan_of("weekly")["bots"]), left_of(arena))
    best = sorted(table, key=lambda bot: (*table[bot], bot), reverse=True)[:FINALISTS]
    arena.world.run(5 * DAY)
    arena.servers[0].restart()
    arena.world.run_for(3 * SECOND)
    arena.announce("final", "knockout", 1, invited=tuple(best))
    arena.evening(5, [each for each in students if each.name in best], "final")
    arena.until(lambda: len(arena.played("final")) > FINALISTS, 600)
    arena.kill_server()
    arena.until(lambda: arena.plan_of("final")["state"]["phase"] == "over", 900)
    arena.night()

    arena.evening(6, students[:6])
    arena.world.run_for(40 * SECOND)
    with arena.store.make_writing_engine(arena.store.engine).begin() as connection:
        close_season(connection, "autumn")
    arena.monitor.check_season()
    closed = arena.standings(1)
    arena.world.run_for(40 * SECOND)
    arena.night()
    arena.monitor.check_end_state()
    return closed


def left_of(arena: Semester) -> dict[str, int]:
    """Return the number of rounds in which each bot that left was included, as the plan tells."""
    changes = arena.plan_of("weekly")["changes"]
    return {bot: round for bot, round, joins in changes if not joins}


class Week(NamedTuple):
    """A week that was played, as its store tells it: the Swiss on Friday, and the knockout of the best on Saturday."""

    weekly: dict[str, Any]
    final: dict[str, Any]
    swiss: list[Played]
    knockout: list[Played]
    left: dict[str, int]


def play_week(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Week:
    """Play the week, check it, and leave its store as arena.db in the folder."""
    monkeypatch.setitem(invariants.ALLOWED_REASONS, "quitter", frozenset({EndReason.NO_SHOW}))
    monkeypatch.setattr(sys, "unraisablehook", lambda _given: None)  # processes are killed amid their tasks
    arena = Semester()
    with replace_machine(arena):
        try:
            closed = semester(arena)
            check_matches(arena)
            assert arena.standings(1) == closed, "nothing changes a closed season"
            assert arena.standings(2)
            with sqlite3.connect(folder / "arena.db") as copy:
                arena.store.raw.backup(copy)
            weekly, final = arena.plan_of("weekly"), arena.plan_of("final")
            return Week(weekly, final, arena.played("weekly"), arena.played("final"), left_of(arena))
        finally:
            arena.close()


def played_week(run_folder: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Week:
    """Return the week, which is played once a run, and copy its store to arena.db in the folder."""
    played = run_folder / "semester"
    with one_at_a_time(played):
        if not played.exists():
            unfinished = played.with_suffix(".part")
            unfinished.mkdir(exist_ok=True)
            (unfinished / "week").write_bytes(pickle.dumps(play_week(unfinished, monkeypatch)))
            unfinished.rename(played)
    shutil.copy(played / "arena.db", folder)
    week: Week = pickle.loads((played / "week").read_bytes())
    return week


def test_a_semester_in_small(run_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    week = played_week(run_folder, tmp_path, monkeypatch)
    check_tables(f"sqlite:///{tmp_path / 'arena.db'}", week)


def check_matches(arena: Semester) -> None:
    """Check that no match is lost, and that no rated one is between two bots of an owner."""
    played = arena.played()
    assert len(played) == len(arena.played(finished=False)) == len({each.match for each in played})
    assert len(played) == len(arena.monitor.finished)
    assert {each.event for each in played} == {OPEN_EVENT, "weekly", "final"}
    family = [each for each in played if arena.owner_of[each.maxie] == arena.owner_of[each.minnie]]
    assert [each for each in family if each.rated or each.event == OPEN_EVENT] == []
    assert {each.two for each in played if each.event == OPEN_EVENT}
    rounds = rounds_of(arena.played("weekly"))
    assert [len(pairs) for pairs in rounds] == [12, 11, 11, 11], "24 bots, 23 with a bye, and 22"
    assert len({each.two for each in arena.played("final")}) == FINALISTS - 1, "a knockout has one winner"
    assert left_of(arena) == {"quitter-22": 1, "quitter-23": 2}
    assert all(len(two) == 2 for pairs in rounds for two in pairs.values())
    meetings = Counter(pair for pairs in rounds for pair in pairs)
    assert set(meetings.values()) == {1}, "nobody meets somebody again"


def check_tables(db: str, week: Week) -> None:
    """Check what the commands tell of the stopped server's store."""

    def told(*words: str) -> str:
        code, out, err = arena(*words, "--db", db)
        assert code == 0, err
        return out

    weekly, final, swiss, knockout, left = week
    table = swiss_table(swiss, list(weekly["bots"]), left)
    rows = msgspec.json.decode(told("event", "show", "weekly", "--json", "-"))["table"]
    assert {row["bot"]: (row["points"], row["buchholz"]) for row in rows} == table
    assert [table[row["bot"]] for row in rows] == sorted(table.values(), reverse=True)
    rows = msgspec.json.decode(told("event", "show", "final", "--json", "-"))["table"]
    assert len(rows) == FINALISTS
    assert (rows[0]["bot"], rows[0]["reached"]) == (champion(knockout, list(final["bots"])), "champion")

    marks = list(
        csv.DictReader(StringIO(told("marks", "--event", "weekly", "--against", "client-0", "--csv", "-")))
    )
    games = Counter(bot for each in swiss for bot in each.two)
    missed = Counter(
        bot for each in swiss if each.reason == "no_show" for bot in each.two if not each.points()[bot]
    )
    best_first = sorted(table.values(), reverse=True)
    assert [int(mark["rank"]) for mark in marks] == [1 + best_first.index(each) for each in best_first]
    assert {mark["bot"]: float(mark["points"]) for mark in marks} == {
        bot: two[0] for bot, two in table.items()
    }
    assert [float(mark["points"]) for mark in marks] == sorted(
        (two[0] for two in table.values()), reverse=True
    )
    for mark in marks:
        assert (int(mark["games"]), int(mark["forfeits"])) == (games[mark["bot"]], missed[mark["bot"]])

    (season,) = msgspec.json.decode(told("season", "list", "--json", "-"))
    assert season["name"] == "autumn"
    frozen = msgspec.json.decode(told("season", "show", "autumn", "--json", "-"))
    assert {row["bot"] for row in frozen} == set(weekly["bots"])
    told("ratings", "--recompute", "--all")

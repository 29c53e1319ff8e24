"""A small semester on a virtual clock: twelve owners, a week of pool matches and events, and the end of the season.

Server, client and store are real. The test computes points, Buchholz scores, winners and marks again from the matches.
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
from arena.match.terms import encode_game_hook
from arena.protocol.codes import EndReason
from arena.protocol.timecontrol import TimeControl
from arena.server.core.event_state import EventPlan
from arena.server.core.inputs import AnnounceTournament, ChangeTournament
from arena.server.core.settings import OPEN_POOL_EVENT_NAME, GameAtTimeControl
from arena.server.store import migrations
from arena.server.store.aggregates.season_closing import close_season
from arena.server.store.invitations import (
    create_invitations,
    find_invited_owner,
    register_name_and_issue_token,
)
from testkit.simulation import invariants
from testkit.simulation.arena import SimulatedArena, SimulationPlan
from testkit.simulation.bots import SERVER_URL, RealClientBot
from testkit.simulation.servers import SHARD_NAME, patch_servers_environment
from testkit.simulation.world import NS_PER_SECOND, START_UNIX_TIME_NS, SimulatedProcess
from tests.bots.command_line import arena
from tests.server.databases import one_at_a_time
from tests.server.matches import game_of

pytestmark = pytest.mark.slow

OWNERS = [f"owner {number}" for number in range(12)]
DAY = 24 * 3600 * NS_PER_SECOND
ROUNDS = 4
FINALISTS = 8


class StoredMatch(NamedTuple):
    """Finished match in the store."""

    match: str
    event: str
    maxie: str
    minnie: str
    winner: str | None
    reason: str
    rated: int

    @property
    def pair(self) -> frozenset[str]:
        return frozenset((self.maxie, self.minnie))

    def points(self) -> dict[str, float]:
        """Return the points of both bots."""
        if self.winner is None:
            each = 0.0 if self.reason == "no_show" else 0.5
            return dict.fromkeys((self.maxie, self.minnie), each)
        return {self.maxie: float(self.winner == "maxie"), self.minnie: float(self.winner == "minnie")}


class Student(RealClientBot):
    """Bot with the real client. The bot connects only in the evening."""

    def __init__(self, arena: Semester, number: int) -> None:
        self.habit = "quitter" if number >= 22 else "client"
        super().__init__(arena, number)
        self.owner = OWNERS[number // 2]
        self.token = ""
        self.event = ""

    def make_settings(self) -> ClientSettings:
        return ClientSettings(
            SERVER_URL,
            self.name,
            self.token,
            event_name=self.event,
            joins_matchmaking_pool=not self.event,
            connect_wait_seconds=1e6,
        )

    def connect(self, event: str) -> None:
        """Connect for an event, or for the pool if `event` is empty."""
        self.event, self.is_leaving, self.has_left = event, False, False
        self.start()


class Semester(SimulatedArena):
    """Simulated arena whose server runs only in the evening."""

    def __init__(self) -> None:
        super().__init__(SimulationPlan(1, 0, bot_count=0, time_control_index=0, is_cluster=False))
        self.students = [Student(self, number) for number in range(2 * len(OWNERS))]
        self.bots = [*self.students]
        self.owner_of = {each.name: each.owner for each in self.students}

    def find_owner_name(self, name: str) -> str:
        return self.owner_of[name]

    def open(self) -> None:
        """Create the store, start the server, and let the owners register their bots by invitation."""
        with self.store.make_writing_engine(self.store.engine).begin() as connection:
            migrations.create_tables(connection)
        self.servers[0].start()
        self.world.run_for(2 * NS_PER_SECOND)
        registrar = SimulatedProcess(self.world, "registrar")
        registrar.start(self._register())
        self.run_until(lambda: all(each.token for each in self.students), 60)

    async def _register(self) -> None:
        codes = await create_invitations(self.store.engine, OWNERS, 2, 14 * 24 * 3600)
        for each in self.students:
            owner = await find_invited_owner(self.store.engine, codes[each.owner])
            assert owner == each.owner
            each.token = await register_name_and_issue_token(self.store.engine, owner, each.name)

    def run_until(self, condition: Callable[[], bool], seconds: int) -> None:
        """Run the simulation until `condition()` is true, at most for `seconds`."""
        for _ in range(seconds):
            if condition():
                return
            self.world.run_for(NS_PER_SECOND)
        raise AssertionError(f"the condition is false after {seconds} s")

    def begin_evening(self, day: int, students: Iterable[Student], event: str = "") -> None:
        """Start the server on the evening of a day, and connect these bots. `day`: number of days after Monday."""
        self.world.run(day * DAY)
        if not self.servers[0].process.is_alive:
            self.servers[0].restart()
        self.world.run_for(3 * NS_PER_SECOND)
        for each in students:
            each.connect(event)

    def end_evening(self) -> None:
        """Let all matches end, and stop the server."""
        here = [each for each in self.students if not each.has_left and hasattr(each, "process")]
        for each in here:
            each.leave_arena()
        self.run_until(lambda: all(each.has_left for each in here), 120)
        self.world.run_for(5 * NS_PER_SECOND)  # for the tables to count the last matches
        server = self.servers[0]
        server.is_down = True
        server.stop()
        self.run_until(lambda: not server.process.is_alive, 60)
        self.monitor.check_pairing_and_memory()
        gc.collect()

    def send_request_via_store(self, request: AnnounceTournament | ChangeTournament) -> None:
        """Send the server a request of the host through the store, as the `arena` commands do."""
        text = msgspec.json.encode(request, enc_hook=encode_game_hook).decode()
        self.store.raw_connection.execute(
            "INSERT INTO requests (server, request) VALUES (?, ?)", (SHARD_NAME, text)
        )

    def announce(self, event: str, format: str, rounds: int, **changes: Any) -> None:
        """Announce an event that begins in one minute."""
        begins = (START_UNIX_TIME_NS + self.world.now_ns) // NS_PER_SECOND + 60
        plan = EventPlan(
            event_name=event,
            event_uid=event,
            start_unix_s=begins,
            closing_unix_s=begins,
            format_name=format,
            round_count=rounds,
            games=(GameAtTimeControl(game_of(), TimeControl.parse("15/move")),),
            **changes,
        )
        self.send_request_via_store(AnnounceTournament(plan))
        self.world.run_for(3 * NS_PER_SECOND)

    def kill_server(self) -> None:
        """Kill the server as by SIGKILL, and let the next server start."""
        self.servers[0].kill()
        self.world.run_for(10 * NS_PER_SECOND)

    def load_matches(self, event: str = "", *, finished: bool = True) -> list[StoredMatch]:
        """Return the matches of an event, in the order in which they began. An empty `event` stands for all events."""
        columns = "match, event, maxie, minnie, winner, reason, rated"
        rows = self.store.raw_connection.execute(
            f"SELECT {columns} FROM matches WHERE (event = ? OR ? = '') AND (finished IS NOT NULL OR NOT ?)"
            " ORDER BY number",
            (event, event, finished),
        )
        return [StoredMatch(*row) for row in rows]

    def load_plan(self, event: str) -> dict[str, Any]:
        """Return the stored plan of an event."""
        row = self.store.raw_connection.execute(
            "SELECT plan FROM ladders WHERE event = ?", (event,)
        ).fetchone()
        plan: dict[str, Any] = msgspec.json.decode(row[0])
        return plan

    def load_rating_rows(self, season: int) -> list[tuple[Any, ...]]:
        """Return all rows of a season's table."""
        query = "SELECT * FROM standings WHERE season = ? ORDER BY game, map, time_control, bot"
        return self.store.raw_connection.execute(query, (season,)).fetchall()


def group_by_round(played: list[StoredMatch]) -> list[dict[frozenset[str], list[StoredMatch]]]:
    """Return the matches of each pair, round by round. A round ends when one of its bots meets another opponent."""
    rounds: list[dict[frozenset[str], list[StoredMatch]]] = []
    for each in played:
        if not rounds or (each.pair not in rounds[-1] and any(each.pair & pair for pair in rounds[-1])):
            rounds.append({})
        rounds[-1].setdefault(each.pair, []).append(each)
    return rounds


def sum_points(played: Iterable[StoredMatch]) -> dict[str, float]:
    points: defaultdict[str, float] = defaultdict(float)
    for each in played:
        for bot, more in each.points().items():
            points[bot] += more
    return points


def compute_swiss_table(
    played: list[StoredMatch], bots: list[str], left: dict[str, int]
) -> dict[str, tuple[float, float]]:
    """Return the points and the Buchholz score of each bot.

    left  number of rounds before it left, for each bot that left
    """
    points = sum_points(played)
    opponents: defaultdict[str, list[str]] = defaultdict(list)
    for number, pairs in enumerate(group_by_round(played)):
        for one, other in map(sorted, pairs):
            opponents[one].append(other)
            opponents[other].append(one)
        out = [
            bot for bot in bots if left.get(bot, ROUNDS) > number and not any(bot in pair for pair in pairs)
        ]
        assert len(out) <= 1, f"more than one bye in round {number + 1}: {out}"
        for bot in out:
            points[bot] += 2.0
    return {bot: (points[bot], sum(points[other] for other in opponents[bot])) for bot in bots}


def find_champion(played: list[StoredMatch], seeds: list[str]) -> str:
    """Return the bot that lost no encounter of a knockout. The better seed wins a drawn encounter."""
    lost = set()
    for two in {each.pair for each in played}:
        points = sum_points(each for each in played if each.pair == two)
        lost.add(max(two, key=lambda bot: (-points[bot], seeds.index(bot))))
    (found,) = set(seeds) - lost
    return found


def play_semester(arena: Semester) -> list[tuple[Any, ...]]:
    """Play the week, and return the season's table at the close of the season."""
    arena.open()
    for day in (0, 1, 2):
        arena.begin_evening(day, arena.students)
        arena.world.run_for(40 * NS_PER_SECOND)
        arena.end_evening()

    friday, students = 4, arena.students
    arena.world.run(friday * DAY)
    arena.servers[0].restart()
    arena.world.run_for(3 * NS_PER_SECOND)
    arena.announce("weekly", "swiss", ROUNDS)
    arena.begin_evening(friday, students, "weekly")

    def in_round(number: int) -> bool:
        """Return True if at least four matches of round `number`, or of a later one, are over."""
        begun = group_by_round(arena.load_matches("weekly", finished=False))
        over = {each.match for each in arena.load_matches("weekly")}
        return (
            len(begun) >= number and sum(each.match in over for two in begun[-1].values() for each in two) > 3
        )

    arena.run_until(lambda: bool(arena.load_matches("weekly", finished=False)), 120)
    arena.kill_server()
    for number, quitter in enumerate(students[22:], 1):
        arena.run_until(partial(in_round, number), 600)
        arena.send_request_via_store(ChangeTournament("weekly", "withdraw", quitter.name))
        quitter.leave_arena()
    arena.run_until(lambda: in_round(3), 600)
    paired = arena.load_matches("weekly", finished=False)
    arena.kill_server()
    arena.run_until(lambda: in_round(4), 600)
    now = {each.match: each.pair for each in arena.load_matches("weekly")}
    assert {each.match: now[each.match] for each in paired} == {each.match: each.pair for each in paired}
    assert {each.pair for each in paired} >= set(group_by_round(arena.load_matches("weekly"))[2]), (
        "no pairing has changed"
    )
    arena.run_until(lambda: arena.load_plan("weekly")["state"]["phase"] == "over", 600)
    arena.end_evening()

    table = compute_swiss_table(
        arena.load_matches("weekly"), list(arena.load_plan("weekly")["bots"]), load_departures(arena)
    )
    best = sorted(table, key=lambda bot: (*table[bot], bot), reverse=True)[:FINALISTS]
    arena.world.run(5 * DAY)
    arena.servers[0].restart()
    arena.world.run_for(3 * NS_PER_SECOND)
    arena.announce("final", "knockout", 1, invited_bots=tuple(best))
    arena.begin_evening(5, [each for each in students if each.name in best], "final")
    arena.run_until(lambda: len(arena.load_matches("final")) > FINALISTS, 600)
    arena.kill_server()
    arena.run_until(lambda: arena.load_plan("final")["state"]["phase"] == "over", 900)
    arena.end_evening()

    arena.begin_evening(6, students[:6])
    arena.world.run_for(40 * NS_PER_SECOND)
    with arena.store.make_writing_engine(arena.store.engine).begin() as connection:
        close_season(connection, "autumn")
    arena.monitor.check_ratings_after_season_closing()
    closed = arena.load_rating_rows(1)
    arena.world.run_for(40 * NS_PER_SECOND)
    arena.end_evening()
    arena.monitor.check_end_state()
    return closed


def load_departures(arena: Semester) -> dict[str, int]:
    """Return the number of rounds before it left, for each bot that left the event `weekly`."""
    changes = arena.load_plan("weekly")["changes"]
    return {bot: round for bot, round, joins in changes if not joins}


class Week(NamedTuple):
    """Stored events of the played week: the Swiss event on Friday, and the knockout of its best bots on Saturday."""

    weekly: dict[str, Any]
    final: dict[str, Any]
    swiss: list[StoredMatch]
    knockout: list[StoredMatch]
    left: dict[str, int]


def play_week(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Week:
    """Play the week, check its matches, and copy its store to arena.db in the folder."""
    monkeypatch.setitem(invariants.FORFEIT_REASONS_BY_HABIT, "quitter", frozenset({EndReason.NO_SHOW}))
    monkeypatch.setattr(sys, "unraisablehook", lambda _given: None)  # killed processes leave unfinished tasks
    arena = Semester()
    with patch_servers_environment(arena):
        try:
            closed = play_semester(arena)
            check_matches(arena)
            assert arena.load_rating_rows(1) == closed, "later matches do not change a closed season"
            assert arena.load_rating_rows(2)
            with sqlite3.connect(folder / "arena.db") as copy:
                arena.store.raw_connection.backup(copy)
            weekly, final = arena.load_plan("weekly"), arena.load_plan("final")
            return Week(
                weekly,
                final,
                arena.load_matches("weekly"),
                arena.load_matches("final"),
                load_departures(arena),
            )
        finally:
            arena.close()


def load_or_play_week(run_folder: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Week:
    """Return the week, and copy its store to arena.db in the folder. The week is played once in a test run."""
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


def test_a_small_semester(run_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    week = load_or_play_week(run_folder, tmp_path, monkeypatch)
    check_tables(f"sqlite:///{tmp_path / 'arena.db'}", week)


def check_matches(arena: Semester) -> None:
    """Check that no match is lost, and that bots of one owner play no rated match with each other."""
    played = arena.load_matches()
    assert len(played) == len(arena.load_matches(finished=False)) == len({each.match for each in played})
    assert len(played) == len(arena.monitor.finished_matches)
    assert {each.event for each in played} == {OPEN_POOL_EVENT_NAME, "weekly", "final"}
    family = [each for each in played if arena.owner_of[each.maxie] == arena.owner_of[each.minnie]]
    assert [each for each in family if each.rated or each.event == OPEN_POOL_EVENT_NAME] == []
    assert {each.pair for each in played if each.event == OPEN_POOL_EVENT_NAME}
    rounds = group_by_round(arena.load_matches("weekly"))
    assert [len(pairs) for pairs in rounds] == [12, 11, 11, 11], "24 bots, 23 with a bye, and 22"
    assert len({each.pair for each in arena.load_matches("final")}) == FINALISTS - 1, (
        "a knockout has one winner"
    )
    assert load_departures(arena) == {"quitter-22": 1, "quitter-23": 2}
    assert all(len(two) == 2 for pairs in rounds for two in pairs.values())
    meetings = Counter(pair for pairs in rounds for pair in pairs)
    assert set(meetings.values()) == {1}, "no two bots meet twice"


def check_tables(db: str, week: Week) -> None:
    """Check the output of the `arena` commands on the store of the stopped server."""

    def run_command(*words: str) -> str:
        code, out, err = arena(*words, "--db", db)
        assert code == 0, err
        return out

    weekly, final, swiss, knockout, left = week
    table = compute_swiss_table(swiss, list(weekly["bots"]), left)
    rows = msgspec.json.decode(run_command("event", "show", "weekly", "--json", "-"))["table"]
    assert {row["bot"]: (row["points"], row["buchholz"]) for row in rows} == table
    assert [table[row["bot"]] for row in rows] == sorted(table.values(), reverse=True)
    rows = msgspec.json.decode(run_command("event", "show", "final", "--json", "-"))["table"]
    assert len(rows) == FINALISTS
    assert (rows[0]["bot"], rows[0]["reached"]) == (find_champion(knockout, list(final["bots"])), "champion")

    marks = list(
        csv.DictReader(
            StringIO(run_command("marks", "--event", "weekly", "--against", "client-0", "--csv", "-"))
        )
    )
    games = Counter(bot for each in swiss for bot in each.pair)
    missed = Counter(
        bot for each in swiss if each.reason == "no_show" for bot in each.pair if not each.points()[bot]
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

    (season,) = msgspec.json.decode(run_command("season", "list", "--json", "-"))
    assert season["name"] == "autumn"
    frozen = msgspec.json.decode(run_command("season", "show", "autumn", "--json", "-"))
    assert {row["bot"] for row in frozen} == set(weekly["bots"])
    run_command("ratings", "--recompute", "--all")

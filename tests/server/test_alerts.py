"""Each alert of docker/arena.rules.yml fires in the situation that it describes, and not before.

The metrics come from real parts of the server in that situation. Prometheus itself does not run: the class `Watch` computes
the few forms of queries in the rules, between two scrapes.
"""

from __future__ import annotations

import asyncio
import math
import re
import shutil
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec.structs import replace
from prometheus_client.parser import text_string_to_metric_families

from arena.clock import TimeSource
from arena.server.host import open_arena_server
from arena.server.loop_lag import EventLoopLag
from arena.server.metrics import Metrics
from arena.server.roles import add_core_reachable_metric, add_edge_count_metric
from arena.server.settings import make_private_server_settings
from arena.server.store.database import open_store
from arena.server.store.journal.journal import open_journal
from testkit.simulation.bus import SimulatedBroker
from testkit.simulation.world import NS_PER_SECOND
from testkit.virtual_time import VIRTUAL_CLOCK, VirtualLoop
from tests.docs.pages import ROOT
from tests.server.cluster.links import RecordingCore, RecordingEdge, open_broker
from tests.server.core.arena import POOL, Arena
from tests.server.core.test_matches import NoStart
from tests.server.journals import make_open_match
from tests.server.matches import spec
from tests.virtual import virtual

TEXT = (ROOT / "docker" / "arena.rules.yml").read_text(encoding="utf-8")
RULES = dict(re.findall(r"alert: (\w+)\n +expr: (.+)", TEXT))
Sample = tuple[str, frozenset[tuple[str, str]]]
Samples = dict[Sample, float]
METRIC = r'(\w+)(?:\{(\w+)="(\w+)"\})?'


def scrape(*processes: Metrics) -> list[Samples]:
    """Return the metrics that Prometheus scrapes, process by process."""
    return [
        {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(each.render_prometheus_text().decode())
            for sample in family.samples
        }
        for each in processes
    ]


class Usage(NamedTuple):
    """Substitute for the result of `shutil.disk_usage`."""

    total: int
    used: int
    free: int


class Watch:
    """Scrapes of some processes, by which an alert fires or not."""

    def __init__(self, *processes: Metrics) -> None:
        self.processes = processes
        self.scrapes = [scrape(*processes)]

    def fires(self, alert: str) -> bool:
        """Return True if an alert fires after another scrape."""
        self.scrapes.append(scrape(*self.processes))
        return self._compute(RULES[alert])

    def _values(self, metric: re.Match[str], scrapes: list[list[Samples]]) -> list[float]:
        name, label, value = metric.groups()
        return [
            number
            for found in scrapes
            for samples in found
            for (known, labels), number in samples.items()
            if known == name and (label is None or (label, value) in labels) and not math.isnan(number)
        ]

    def _compute(self, query: str) -> bool:
        first, last = self.scrapes[:1], self.scrapes[-1:]

        def quantile(found: re.Match[str]) -> str:
            share, name = float(found[1]), f"{found[2]}_bucket"
            grown: dict[float, float] = {}
            for samples, before in zip(last[0], first[0], strict=True):
                for (known, labels), number in samples.items():
                    if known == name:
                        bound = float(dict(labels)["le"])
                        grown[bound] = grown.get(bound, 0) + number - before.get((known, labels), 0)
            total = grown[math.inf]
            return str(min((b for b, n in grown.items() if total and n >= share * total), default=0.0))

        def increase(found: re.Match[str]) -> str:
            return str(sum(self._values(found, last)) - sum(self._values(found, first)))

        def over(
            by: Callable[[list[float]], float], scrapes: list[list[Samples]]
        ) -> Callable[[re.Match[str]], str]:
            return lambda found: str(
                by(self._values(found, scrapes)) if self._values(found, scrapes) else math.nan
            )

        text = re.sub(
            r"histogram_quantile\(([\d.]+), sum by \(le\) \(rate\((\w+)_bucket\[\w+\]\)\)\)", quantile, query
        )
        text = re.sub(rf"sum\(increase\({METRIC}\[\w+\]\)\)", increase, text)
        text = re.sub(rf"max\(max_over_time\({METRIC}\[\w+\]\)\)", over(max, self.scrapes), text)
        for word, by in (("max", max), ("min", min), ("sum", sum)):
            text = re.sub(rf"{word}\({METRIC}\)", over(by, last), text)
        left, sign, right = re.fullmatch(r"(\S+) (<|>|==) (\S+)", text).groups()  # type: ignore[union-attr]
        return {
            "<": float(left) < float(right),
            ">": float(left) > float(right),
            "==": float(left) == float(right),
        }[sign]


@pytest.fixture
def broker() -> Iterator[SimulatedBroker]:
    with open_broker(1) as broker:
        yield broker


def test_alert_on_an_edge_without_a_core(broker: SimulatedBroker) -> None:
    metrics = Metrics()
    core, edge = RecordingCore(broker, fencing_token=1), RecordingEdge(broker, 5)
    add_core_reachable_metric(metrics, edge.link)
    broker.world.run_for(NS_PER_SECOND)
    watch = Watch(metrics)
    assert not watch.fires("ArenaWithoutCore")
    core.process.kill()
    broker.world.run_for(10 * NS_PER_SECOND)
    assert watch.fires("ArenaWithoutCore")
    RecordingCore(broker, fencing_token=2)
    broker.world.run_for(10 * NS_PER_SECOND)
    assert not watch.fires("ArenaWithoutCore")


def test_alert_on_a_lost_edge(broker: SimulatedBroker) -> None:
    metrics = Metrics()
    core, edges = (
        RecordingCore(broker, fencing_token=1),
        [RecordingEdge(broker, number) for number in (5, 6)],
    )
    add_edge_count_metric(metrics, core.link)
    broker.world.run_for(NS_PER_SECOND)
    watch = Watch(metrics)
    assert not watch.fires("ArenaEdgesAway")
    edges[0].process.kill()
    broker.world.run_for(10 * NS_PER_SECOND)
    assert watch.fires("ArenaEdgesAway")


async def test_alert_on_a_slow_journal(tmp_path: Path) -> None:
    metrics, ticks, pace = Metrics(), count(), [1]
    clock = TimeSource(lambda: next(ticks) * pace[0] * 1_000_000)
    async with (
        open_store(f"sqlite:///{tmp_path}/arena.db") as engine,
        open_journal(
            engine, clock=clock, observe_commit_seconds=metrics.journal_commit_seconds.observe
        ) as journal,
    ):
        watch = Watch(metrics)
        await journal.commit([make_open_match("fast" * 8)])
        assert not watch.fires("ArenaSlowJournal")
        pace[0] = 100
        for number in range(10):
            await journal.commit([make_open_match(f"slow{number}" + 27 * "0")])
        assert watch.fires("ArenaSlowJournal")


@virtual
async def test_alert_on_event_loop_lag() -> None:
    metrics = Metrics()
    loop_lag = EventLoopLag(VIRTUAL_CLOCK, metrics.loop_lag_seconds.observe)
    loop_lag.add_measurement_condition(lambda: True)
    loop_lag.start_measuring()
    watch = Watch(metrics)
    await asyncio.sleep(1)
    assert not watch.fires("ArenaLoopLag")
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    for _ in range(20):
        loop.advance(0.2)
        await asyncio.sleep(0.02)
    assert watch.fires("ArenaLoopLag")
    loop_lag.stop_measuring()


async def test_alert_on_a_nearly_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_arena_server(
        make_private_server_settings(database_url=f"sqlite:///{tmp_path}/arena.db")
    ) as host:
        watch = Watch(host.metrics)
        monkeypatch.setattr(shutil, "disk_usage", lambda _folder: Usage(100, 80, 20))
        assert not watch.fires("ArenaDiskFull")
        monkeypatch.setattr(shutil, "disk_usage", lambda _folder: Usage(100, 91, 9))
        assert watch.fires("ArenaDiskFull")


def test_no_alert_on_the_disk_of_a_database_on_another_machine() -> None:
    assert not Watch(Metrics()).fires("ArenaDiskFull")


async def test_alert_on_a_match_voided_by_a_server_fault() -> None:
    async with open_arena_server() as host:
        watch = Watch(host.metrics)
        assert not watch.fires("ArenaFault")
        await host.shell.play_match(replace(spec("anna", "bert"), game=NoStart()))
        assert watch.fires("ArenaFault")


def test_alert_on_suspended_bots() -> None:
    arena, metrics = Arena(pool=replace(POOL, ready_timeout_ms=200)), Metrics()
    metrics.suspended_bots.set_function(lambda: arena.core.count_suspended_bots(arena.now))
    watch = Watch(metrics)
    arena.connect("anna")
    arena.connect("bert")
    assert not watch.fires("ArenaSuspended")
    arena.wait(29_000)
    assert watch.fires("ArenaSuspended"), "neither bot gets ready for a match"


def test_the_troubleshooting_page_describes_every_alert() -> None:
    page = (ROOT / "docs" / "trouble.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`(Arena\w+)`", page)) == set(RULES)


def test_every_alert_has_a_test_here() -> None:
    names = re.findall(r'fires\("(\w+)"\)', Path(__file__).read_text(encoding="utf-8"))
    assert set(names) == RULES.keys() - {"ArenaDown"}, "`up` is Prometheus's own"

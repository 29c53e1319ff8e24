"""What a host can measure from outside: Prometheus metrics, one registry for each server."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter as Tally
from collections.abc import Iterator
from itertools import accumulate

from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
BOUNDS = (*map(str, SECONDS), "+Inf")


class Durations(Collector):
    """A histogram of seconds that one thread counts, without the locks of the client's own: 3 µs for each move and commit."""

    def __init__(self, name: str, about: str) -> None:
        """The metric's name, and what it says of it."""
        self._name = name
        self._about = about
        self._counts = [0] * len(BOUNDS)
        self._seconds = 0.0

    def observe(self, seconds: float) -> None:
        """Something took so long."""
        self._counts[bisect_left(SECONDS, seconds)] += 1
        self._seconds += seconds

    def collect(self) -> Iterator[HistogramMetricFamily]:
        buckets = list(zip(BOUNDS, accumulate(self._counts), strict=True))
        yield HistogramMetricFamily(self._name, self._about, buckets=buckets, sum_value=self._seconds)


class _Messages(Collector):
    """How many messages came, by their type; counted by one thread."""

    def __init__(self) -> None:
        self.seen: Tally[type] = Tally()

    def collect(self) -> Iterator[CounterMetricFamily]:
        messages = CounterMetricFamily("arena_messages", "Messages from clients, by type", labels=["type"])
        for kind, count in self.seen.items():
            messages.add_metric([kind.__name__.lower()], count)
        yield messages


class Metrics:
    """The metrics of one server."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.bots = Gauge("arena_bots", "Bots that are connected", registry=self.registry)
        self.matches = Gauge("arena_matches", "Matches in progress", registry=self.registry)
        self.finished = Counter(
            "arena_matches_finished", "Matches that ended, by reason", ["reason"], registry=self.registry
        )
        self.rejections = Counter(
            "arena_rejections", "What was refused, by error code", ["code"], registry=self.registry
        )
        self.lines_cut = Counter(
            "arena_lines_cut", "Moves of bots' main lines that were not kept", registry=self.registry
        )
        self.taken_over = Counter(
            "arena_servers_taken_over",
            "Servers whose matches this one has taken over",
            registry=self.registry,
        )
        self.servers = Gauge(
            "arena_servers", "Servers of the arena that are heard, this one too", registry=self.registry
        )
        self.distant = Gauge("arena_matches_elsewhere", "Matches on other servers", registry=self.registry)
        self.paused = Gauge(
            "arena_matches_paused",
            "Matches of bots of here that stand still because servers do not hear each other",
            registry=self.registry,
        )
        self.matchmaker = Gauge(
            "arena_matchmaker", "Whether this server matches the bots of the arena", registry=self.registry
        )
        self.bus = Gauge("arena_bus", "Whether this server hears the bus", registry=self.registry)
        self.journal_seconds = Durations(
            "arena_journal_seconds", "From the beginning of a commit of the journal to its end"
        )
        self.loop_seconds = Durations("arena_loop_delay_seconds", "By how much the event loop was late")
        self.move_seconds = Durations("arena_move_seconds", "From a move's arrival to its announcement")
        self._messages = _Messages()
        for each in (self.journal_seconds, self.loop_seconds, self.move_seconds, self._messages):
            self.registry.register(each)

    def message(self, message: object) -> None:
        """Count a message from a client."""
        self._messages.seen[type(message)] += 1

    def page(self) -> bytes:
        """All metrics in the text form that Prometheus scrapes."""
        return generate_latest(self.registry)

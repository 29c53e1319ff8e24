"""What a host can measure from outside: Prometheus metrics, one registry for each server."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter as Tally
from collections.abc import Iterator
from itertools import accumulate

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)


class _EachMove(Collector):
    """What is counted for every move: by one thread and without the client's locks, which cost 5 µs a move."""

    def __init__(self) -> None:
        self.messages: Tally[type] = Tally()
        self._counts = [0] * (len(SECONDS) + 1)
        self._seconds = 0.0

    def observe(self, seconds: float) -> None:
        """A move was announced so long after its arrival."""
        self._counts[bisect_left(SECONDS, seconds)] += 1
        self._seconds += seconds

    def collect(self) -> Iterator[CounterMetricFamily | HistogramMetricFamily]:
        messages = CounterMetricFamily("arena_messages", "Messages from clients, by type", labels=["type"])
        for kind, count in self.messages.items():
            messages.add_metric([kind.__name__.lower()], count)
        yield messages
        bounds = [*map(str, SECONDS), "+Inf"]
        yield HistogramMetricFamily(
            "arena_move_seconds",
            "From a move's arrival to its announcement",
            buckets=list(zip(bounds, accumulate(self._counts), strict=True)),
            sum_value=self._seconds,
        )


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
        self.journal_seconds = Histogram(
            "arena_journal_seconds",
            "From an event's appending to its commit",
            buckets=SECONDS,
            registry=self.registry,
        )
        self.loop_seconds = Histogram(
            "arena_loop_delay_seconds",
            "By how much the event loop was late",
            buckets=SECONDS,
            registry=self.registry,
        )
        self._moves = _EachMove()
        self.registry.register(self._moves)

    def message(self, message: object) -> None:
        """Count a message from a client."""
        self._moves.messages[type(message)] += 1

    def moved(self, seconds: float) -> None:
        """A move was announced so long after its arrival."""
        self._moves.observe(seconds)

    def page(self) -> bytes:
        """All metrics in the text form that Prometheus scrapes."""
        return generate_latest(self.registry)

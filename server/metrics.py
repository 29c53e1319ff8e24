"""Metrics of a server, for Prometheus."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter as Tally
from collections.abc import Iterator
from itertools import accumulate

from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

HISTOGRAM_BUCKET_BOUNDS_SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
"""Upper bounds of the buckets of every histogram, in seconds; a last bucket has no bound."""
HISTOGRAM_BUCKET_LABELS = (*map(str, HISTOGRAM_BUCKET_BOUNDS_SECONDS), "+Inf")
"""Labels of the buckets of every histogram, as Prometheus expects them: the upper bounds as text."""


class DurationHistogram(Collector):
    """Histogram of durations in seconds, for use in one thread.

    The histogram of prometheus_client takes locks, which cost 3 µs per move.
    """

    def __init__(self, name: str, help_text: str) -> None:
        """Create an empty histogram. `name` and `help_text` describe it to Prometheus."""
        self._name = name
        self._help_text = help_text
        self._counts = [0] * len(HISTOGRAM_BUCKET_LABELS)
        self._seconds = 0.0

    def observe_duration(self, seconds: float) -> None:
        """Count one duration."""
        self._counts[bisect_left(HISTOGRAM_BUCKET_BOUNDS_SECONDS, seconds)] += 1
        self._seconds += seconds

    def collect(self) -> Iterator[HistogramMetricFamily]:
        buckets = list(zip(HISTOGRAM_BUCKET_LABELS, accumulate(self._counts), strict=True))
        yield HistogramMetricFamily(self._name, self._help_text, buckets=buckets, sum_value=self._seconds)


GARBAGE_COLLECTOR_PAUSES = DurationHistogram(
    "arena_collector_seconds", "Pauses for Python's garbage collector, in seconds"
)
"""Histogram of the pauses for Python's garbage collector. All servers of a process share it, as they share the collector."""


class _MessageCounter(Collector):
    """Counter of messages from clients by type, for use in one thread."""

    def __init__(self) -> None:
        self.counts_by_type: Tally[type] = Tally()

    def collect(self) -> Iterator[CounterMetricFamily]:
        messages = CounterMetricFamily("arena_messages", "Messages from clients, by type", labels=["type"])
        for kind, count in self.counts_by_type.items():
            messages.add_metric([kind.__name__.lower()], count)
        yield messages


class Metrics:
    """Metrics of one server process, in a registry of its own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.bots = Gauge("arena_bots", "Bots that are connected", registry=self.registry)
        self.matches = Gauge("arena_matches", "Matches in progress", registry=self.registry)
        self.suspended = Gauge("arena_suspended", "Bots that are suspended", registry=self.registry)
        self.disk_free = Gauge(
            "arena_disk_free_ratio",
            "Free share of the disk that holds the store's file, 0 to 1",
            registry=self.registry,
        )
        self.disk_free.set(math.nan)  # for a database on another machine
        self.finished = Counter(
            "arena_matches_finished", "Matches that ended, by reason", ["reason"], registry=self.registry
        )
        self.rejections = Counter(
            "arena_rejections",
            "Messages and clients that were refused, by error code",
            ["code"],
            registry=self.registry,
        )
        self.lines_cut = Counter(
            "arena_lines_cut", "Moves cut from main lines that bots sent", registry=self.registry
        )
        self.journal_seconds = DurationHistogram(
            "arena_journal_seconds", "Time of a commit to the journal, in seconds"
        )
        self.loop_seconds = DurationHistogram(
            "arena_loop_delay_seconds", "Delay of the event loop, in seconds"
        )
        self.move_seconds = DurationHistogram(
            "arena_move_seconds", "Time from a move's arrival to its `accepted` message, in seconds"
        )
        messages = _MessageCounter()
        self.messages = messages.counts_by_type
        """Number of messages from clients, by class of message."""
        histograms = (self.journal_seconds, self.loop_seconds, self.move_seconds, GARBAGE_COLLECTOR_PAUSES)
        for metric in (*histograms, messages):
            self.registry.register(metric)

    def render_prometheus_text(self) -> bytes:
        """Return all metrics in the text form that Prometheus scrapes."""
        return generate_latest(self.registry)

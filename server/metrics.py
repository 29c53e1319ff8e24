"""Metrics of a server, such as counts of messages, for Prometheus."""

from __future__ import annotations

import math
from collections import Counter as Tally
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

HISTOGRAM_BUCKET_BOUNDS_SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
"""Upper bounds of the buckets of every histogram, in seconds; a last bucket has no bound."""


def _make_histogram(metric_name: str, help_text: str, registry: CollectorRegistry | None) -> Histogram:
    """Return an empty histogram of durations in seconds."""
    return Histogram(metric_name, help_text, buckets=HISTOGRAM_BUCKET_BOUNDS_SECONDS, registry=registry)


GARBAGE_COLLECTOR_PAUSES = _make_histogram(
    "arena_collector_seconds", "Pauses for Python's garbage collector, in seconds", None
)
"""Histogram of the pauses for Python's garbage collector. All servers of a process share it, as they share the collector."""


class _MessageCounter(Collector):
    """Counter of messages from clients by type. It takes no lock, so only one thread may use it."""

    def __init__(self) -> None:
        self.counts_by_type: Tally[type] = Tally()

    def collect(self) -> Iterator[CounterMetricFamily]:
        messages = CounterMetricFamily("arena_messages", "Messages from clients, by type", labels=["type"])
        for kind, count in self.counts_by_type.items():
            messages.add_metric([kind.__name__.lower()], count)
        yield messages


class Metrics:
    """Metrics of one server process, in a Prometheus registry of its own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.connected_bots = Gauge("arena_bots", "Bots that are connected", registry=self.registry)
        self.current_matches = Gauge("arena_matches", "Matches in progress", registry=self.registry)
        self.suspended_bots = Gauge("arena_suspended", "Bots that are suspended", registry=self.registry)
        self.free_disk_share = Gauge(
            "arena_disk_free_ratio",
            "Free share of the disk that holds the store's file, 0 to 1",
            registry=self.registry,
        )
        self.free_disk_share.set(math.nan)  # for a database on another machine
        self.finished_matches = Counter(
            "arena_matches_finished", "Matches that ended, by reason", ["reason"], registry=self.registry
        )
        self.rejections = Counter(
            "arena_rejections",
            "Messages and clients that were refused, by error code",
            ["code"],
            registry=self.registry,
        )
        self.trimmed_moves = Counter(
            "arena_lines_cut", "Moves cut from main lines that bots sent", registry=self.registry
        )
        self.journal_commit_seconds = _make_histogram(
            "arena_journal_seconds", "Time of a commit to the journal, in seconds", self.registry
        )
        self.loop_lag_seconds = _make_histogram(
            "arena_loop_delay_seconds", "Delay of the event loop, in seconds", self.registry
        )
        self.move_seconds = _make_histogram(
            "arena_move_seconds",
            "Time from a move's arrival to its `accepted` message, in seconds",
            self.registry,
        )
        messages = _MessageCounter()
        self.message_counts = messages.counts_by_type
        """Number of messages from clients, by class of message."""
        for metric in (messages, GARBAGE_COLLECTOR_PAUSES):
            self.registry.register(metric)

    def render_prometheus_text(self) -> bytes:
        """Return all metrics in the text form that Prometheus scrapes."""
        return generate_latest(self.registry)

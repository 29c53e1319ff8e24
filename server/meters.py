"""What a host can measure from outside: Prometheus metrics, one registry for each server."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)


class Meters:
    """The metrics of one server."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.bots = Gauge("arena_bots", "Bots that are connected", registry=self.registry)
        self.matches = Gauge("arena_matches", "Matches in progress", registry=self.registry)
        self.finished = Counter(
            "arena_matches_finished", "Matches that ended, by reason", ["reason"], registry=self.registry
        )
        self.messages = Counter(
            "arena_messages", "Messages from clients, by type", ["type"], registry=self.registry
        )
        self._by_type: dict[type, Counter] = {}
        self.rejections = Counter(
            "arena_rejections", "What was refused, by error code", ["code"], registry=self.registry
        )
        self.move_seconds = Histogram(
            "arena_move_seconds",
            "From a move's arrival to its announcement",
            buckets=SECONDS,
            registry=self.registry,
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

    def message(self, message: object) -> None:
        """Count a message from a client."""
        kind = type(message)
        counter = self._by_type.get(kind)
        if counter is None:
            counter = self._by_type[kind] = self.messages.labels(kind.__name__.lower())
        counter.inc()

    def page(self) -> bytes:
        """All metrics in the text form that Prometheus scrapes."""
        return generate_latest(self.registry)

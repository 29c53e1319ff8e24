"""The metrics page, read by the parser of the Prometheus client."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

from arena.protocol.messages import Ready
from arena.server.metrics import Metrics


def samples(page: bytes) -> dict[tuple[str, tuple[str, ...]], float]:
    """Return the value of each sample, by its name and the values of its labels."""
    return {
        (sample.name, tuple(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(page.decode())
        for sample in family.samples
    }


def test_two_servers_in_one_process_have_separate_counts() -> None:
    one, other = Metrics(), Metrics()
    one.message_counts[Ready] += 1
    assert samples(one.render_prometheus_text())["arena_messages_total", ("ready",)] == 1
    assert ("arena_messages_total", ("ready",)) not in samples(other.render_prometheus_text())

"""All metrics that docker/grafana and docker/prometheus.yml query are measured by a server."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from arena.protocol.codes import FORFEIT_REASONS, EndReason, ErrorCode
from arena.server.metrics import Metrics

DOCKER = Path(__file__).parents[2] / "docker"
DASHBOARD = json.loads((DOCKER / "grafana/dashboards/arena.json").read_text(encoding="utf-8"))
EXPRESSIONS = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
SAMPLES = {
    "counter": ("_total",),
    "gauge": ("",),
    "histogram": ("_bucket", "_count", "_sum"),
}
LABELS = {"messages": "type", "matches_finished": "reason", "rejections": "code"}
"""The label of each metric that has one of its own."""


def measured() -> set[str]:
    """Return the names of all samples that a server may show."""
    names = {
        f"{family.name}{ending}"
        for family in Metrics().registry.collect()
        if family.type in SAMPLES
        for ending in SAMPLES[family.type]
    }
    return names | {"arena_core", "arena_edges"}  # of several processes: tests/server/test_alerts.py


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_every_query_asks_for_what_is_measured(expression: str) -> None:
    names = re.findall(r"arena_\w+", expression)
    assert names
    assert set(names) <= measured()


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_every_query_sorts_by_a_label_of_its_metric(expression: str) -> None:
    (metric,) = re.findall(r"arena_(\w+?)(?:_total|_bucket|_count)?\b", expression)
    sorted_by = set(re.findall(r"by \((\w+)\)", expression)) | set(re.findall(r'(\w+)=~?"', expression))
    assert sorted_by <= {LABELS.get(metric), "le" if "_bucket" in expression else None}


def test_the_forfeits_are_those_that_the_server_counts_as_such() -> None:
    (kinds,) = {found for text in EXPRESSIONS for found in re.findall(r'reason=~"(.*?)"', text)}
    assert set(kinds.split("|")) == {reason.value for reason in FORFEIT_REASONS}
    named = {found for text in EXPRESSIONS for found in re.findall(r'reason="(.*?)"', text)}
    assert named == {EndReason.SERVER_FAULT.value}


def test_labels_are_those_that_the_server_sets() -> None:
    metrics = Metrics()
    metrics.finished_matches.labels(EndReason.LINE.value).inc()
    metrics.rejections.labels(ErrorCode.STALE_PLY.value).inc()
    metrics.message_counts[Metrics] += 1
    results = {
        family.name.removeprefix("arena_"): set(sample.labels)
        for family in metrics.registry.collect()
        for sample in family.samples
        if family.type == "counter" and sample.name.endswith("_total")
    }
    assert {name: {label} for name, label in LABELS.items()} == {k: v for k, v in results.items() if v}


def test_the_first_questions_of_a_host_have_panels() -> None:
    """Moves per second, how late they are, matches, forfeits by kind, and the journal."""
    whole = " ".join(EXPRESSIONS)
    for metric in ("messages_total", "move_seconds", "matches", "matches_finished", "journal_seconds"):
        assert f"arena_{metric}" in whole


def test_panels_do_not_lie_on_each_other_and_all_ask_the_provided_source() -> None:
    source = (DOCKER / "grafana/provisioning/datasources/prometheus.yml").read_text(encoding="utf-8")
    (uid,) = re.findall(r"^ +uid: (\w+)$", source, re.MULTILINE)
    places: list[dict[str, Any]] = [panel["gridPos"] for panel in DASHBOARD["panels"]]
    assert {panel["datasource"]["uid"] for panel in DASHBOARD["panels"]} == {uid}
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(places)
    for above, below in pairwise(places):
        assert above["x"] + above["w"] <= 24
        assert (below["x"] == above["x"] + above["w"] and below["y"] == above["y"]) or (
            below["x"] == 0 and below["y"] == above["y"] + above["h"]
        )


def test_the_source_knows_how_often_the_server_is_asked() -> None:
    """Else rates over short times are empty."""
    intervals = re.findall(r"scrape_interval: (\w+)", (DOCKER / "prometheus.yml").read_text(encoding="utf-8"))
    source = (DOCKER / "grafana/provisioning/datasources/prometheus.yml").read_text(encoding="utf-8")
    assert intervals == re.findall(r"timeInterval: (\w+)", source)

"""The plain pages: health, readiness, metrics, and nothing else."""

from __future__ import annotations

from http import HTTPStatus

import pytest

from server.meters import Meters
from server.pages import Pages


@pytest.mark.parametrize("path", ["/healthz", "/healthz?verbose=1", "/readyz"])
def test_a_server_that_runs_says_so(path: str) -> None:
    page = Pages(Meters())(path)
    assert page is not None
    assert page[0] is HTTPStatus.OK


def test_a_server_that_drains_is_alive_but_not_ready() -> None:
    pages = Pages(Meters())
    pages.draining = True
    alive, ready = pages("/healthz"), pages("/readyz")
    assert alive is not None
    assert ready is not None
    assert (alive[0], ready[0]) == (HTTPStatus.OK, HTTPStatus.SERVICE_UNAVAILABLE)


def test_the_metrics_are_a_page_that_prometheus_reads() -> None:
    page = Pages(Meters())("/metrics")
    assert page is not None
    assert "version=0.0.4" in page[1]
    assert b"arena_bots" in page[2]


@pytest.mark.parametrize(
    "path", ["", "/healthz/", "/../etc/passwd", "/metrics/x", "*", "http://elsewhere/healthz"]
)
def test_there_is_no_other_page(path: str) -> None:
    assert Pages(Meters())(path) is None

"""The profile `metrics` of the compose file: the containers' measurements are scraped, stored and results."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from testkit.tools import mark_requires
from tests.docker.compose import ANY_PORT, ROOT, Compose, compose_project, docker, stand_in, wait_for

pytestmark = [
    mark_requires("docker"),
]

IMAGES: dict[str, str] = dict(
    re.findall(
        r"^  (prometheus|grafana):\n(?:    .*\n)*?    image: (\S+)$",
        (ROOT / "docker-compose.yml").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
)

PanelResults = dict[str, list[list[dict[str, list[str]]]]]
"""Results of the queries of each panel."""


@pytest.fixture(scope="module")
def images() -> Iterator[None]:
    here = Path(__file__).parent
    with (
        stand_in(IMAGES["prometheus"], here / "prometheus"),
        stand_in(IMAGES["grafana"], here / "grafana"),
    ):
        if docker("run", "--rm", "--entrypoint", "ls", IMAGES["grafana"], "/").count("server.py") == 0:
            pytest.skip("the real Grafana is here, which answers no queries to a test")
        yield


@pytest.fixture
def compose(images: None, tmp_path: Path) -> Iterator[Compose]:
    run = compose_project(f"arena-metrics-{os.getpid()}")
    # with a whole core each, the bots would keep the machine busy until Prometheus has asked twice
    slow = {"BOT_CPUS": "0.1"}
    always = {"LISTEN": ANY_PORT, "GRAFANA": ANY_PORT, "RECORD": str(tmp_path), "BOTS": "2", **slow}

    def with_profile(*words: str, **environment: str) -> str:
        return run("--profile", "metrics", *words, **{**always, **environment})

    yield with_profile
    with_profile("down", "--volumes", "--timeout", "5")


def value(panels: PanelResults, panel: str, query: int = 0) -> float:
    """Return the value of a panel's query; 0 if it has none."""
    results = panels[panel][query]
    return float(results[0]["value"][1]) if results else 0.0


def test_the_dashboard_shows_a_ladder_in_play(compose: Compose) -> None:
    services = ("server", "random", "greedy", "prometheus", "grafana")
    compose("up", "--build", "--detach", *services, GAME="tictactoe", ROUNDS="100000")
    address = compose("port", "grafana", "3000").strip()
    assert address.startswith("127.0.0.1:"), "only this machine sees it"

    def nonzero_results() -> PanelResults | None:
        try:
            with urlopen(f"http://{address}/", timeout=500) as answer:
                panels: PanelResults = json.load(answer)
        except (URLError, ConnectionError):
            return None  # it is not up yet
        lively = ("Moves per second", "Journal: commits per second", "Finished matches per minute")
        return panels if all(value(panels, panel) > 0 for panel in lively) else None

    panels = wait_for("dashboard that shows moves", nonzero_results)
    assert value(panels, "Bots and matches") == 2
    for panel in ("Time to accept a move", "Journal: duration of a commit"):
        assert 0 < value(panels, panel, 0) <= value(panels, panel, 1) < 2
    assert value(panels, "Forfeits by end reason") == 0
    for service in ("prometheus", "grafana"):
        container = compose("ps", "--quiet", service).strip()
        limits = docker(
            "inspect", "--format", "{{.HostConfig.ReadonlyRootfs}} {{.HostConfig.Memory}}", container
        )
        assert limits.split() == ["true", str(2**29)]
        assert docker("inspect", "--format", "{{.RestartCount}}", container).strip() == "0"

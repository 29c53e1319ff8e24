"""Pages of results: RESULTS.md follows its raw results, and each page has a place for each figure of the programs."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from benchmarks import cluster, cluster_kill, growth, server, simulation, size, spectators
from benchmarks.engine import delay, saved_results, threads
from benchmarks.hostile import rounds
from benchmarks.kit import full_speed
from benchmarks.kit.results import (
    BENCHMARKS_FOLDER,
    CLUSTER_PAGE,
    RESULTS_PAGE,
    SERVER_PAGE,
    SIMULATION_PAGE,
    ResultsPage,
)
from testkit.simulation.defects import DEFECTS

PAGES = {RESULTS_PAGE, SERVER_PAGE, CLUSTER_PAGE, SIMULATION_PAGE}
PROMISES = {
    "threads.speedup": f"at least {threads.MIN_TWO_THREAD_SPEEDUP:g} ×",
    "delay.loop": f"at most {delay.MAX_P99_DELAY_MS:g} ms",
    **{
        f"speed.ratio {bots}": f"at most {ratio:g} ×"
        for bots, ratio in full_speed.MAX_CPU_RATIO_BY_BOT_COUNT.items()
    },
    "lone.answer": f"at most {server.MAX_EXTRA_LATENCY_MS:g} ms longer than a commit to the disk",
    "paced.p99": f"p99 at most {server.MAX_P99_MS:g} ms, and no forfeits",
    "paced.idle": f"at most {server.MAX_IDLE_KIB:g} KiB",
    "paced.playing": f"at most {server.MAX_PLAYING_KIB:g} KiB",
    "growth.ratio connections": (
        f"with {growth.MIN_CONNECTIONS_WITH_CONSTANT_MOVE_COST} to {growth.CONNECTION_COUNTS[-1]:,} connections, "
        f"compared with {growth.MIN_CONNECTIONS_WITH_CONSTANT_MOVE_COST} connections | at most {growth.MAX_CPU_RATIO:g} ×"
    ),
    **{
        f"growth.ratio {store.lower()}": (
            f"with {growth.STORED_MATCH_COUNTS[0]} to {growth.STORED_MATCH_COUNTS[-1]:,} finished matches on {store}, "
            f"compared with {growth.STORED_MATCH_COUNTS[0]} match | at most {growth.MAX_CPU_RATIO:g} ×"
        )
        for store in ("SQLite", "PostgreSQL")
    },
    "growth.start": (
        f"with {growth.STORED_MATCH_COUNTS[-1]:,} finished matches, also after a kill | under {growth.MAX_START_SECONDS:g} s"
    ),
    "size.p95": f"with {size.LARGEST_STORE_MATCH_COUNT:,} stored matches and six clients at once | under {size.MAX_P95_MS:g} ms",
    "size.match": f"under {size.MAX_MATCH_BYTES / 1000:g} KB",
    "spectators.ratio": (
        f"with {spectators.SPECTATOR_COUNT} spectators | at most {spectators.MAX_P99_RATIO:g} × the p99 without spectators"
    ),
    **{
        f"hostile.ratio {each}": (
            f"the median ratio below {rounds.MAX_MEDIAN_P99_RATIO:g}, "
            f"and at most one round with a ratio of {rounds.MAX_P99_RATIO:g} or more"
        )
        for each in ("requests", "attacks")
    },
    "hostile.growth": f"less than {rounds.MAX_MEMORY_RATIO:g} ×",
    "cost.ratio": f"at most {cluster.MAX_CPU_RATIO_TO_SINGLE_PROCESS:g} × that of one process",
    "failures.effect": (
        f"effect of {cluster_kill.INJECTED_FAILURE_COUNT} failures during matches of Riskless on italy | "
        "no acknowledged move lost, no match doubled, no wrong forfeit"
    ),
    "failures.recovery": f"p99 within {cluster_kill.MAX_P99_RECOVERY_SECONDS:g} s",
    "planted.cpu": f"each of {len(DEFECTS)} defects | at most {simulation.MAX_DEFECT_SEARCH_SECONDS:g} s",
}
"""Promises by the place of their verdict, in the words of the pages, with the sizes and bounds of the programs."""


def test_the_pages_promise_the_bounds_of_the_programs() -> None:
    lines = [line for page in PAGES for line in page.path.read_text("utf-8").splitlines()]
    for place, promise in PROMISES.items():
        (row,) = [line for line in lines if f"<!-- {place} -->" in line]
        assert f"{promise} | <!--" in row


def test_the_figures_of_results_are_what_the_raw_results_give() -> None:
    assert RESULTS_PAGE.path.read_text(encoding="utf-8") == saved_results.render_results_page()


def test_the_rows_of_results_are_those_of_the_programs() -> None:
    data = {name: saved_results.load_results(name).data for name in saved_results.BENCHMARK_NAMES}
    assert tuple(data["delay"]["ms"]) == delay.DELAY_ROW_TITLES
    assert list(data["threads"]["faster"]) == list(
        threads.make_search_settings((1, 2, data["threads"]["cores"]))
    )


def test_each_figure_has_a_place_on_a_page() -> None:
    places = {
        name for page in PAGES for name in re.findall(r"<!-- (\w+\.[\w ]+) -->", page.path.read_text("utf-8"))
    }
    parts = {name.partition(".")[0] for name in places}
    code = "".join(path.read_text("utf-8") for path in BENCHMARKS_FOLDER.rglob("*.py"))
    figures = {
        re.sub(r"\{.*\}", ".*", name)
        for name in re.findall(r'"([a-z]+\.[\w {}]+)"', code)
        if name.partition(".")[0] in parts
    }
    measured = {f"{part}.measured" for part in re.findall(r'publish\(\s*"(\w+)"', code)}
    assert {
        name for name in figures | measured if not any(re.fullmatch(name, place) for place in places)
    } == set()
    assert len(places) > 30


def test_a_figure_replaces_only_the_text_of_its_place(tmp_path: Path) -> None:
    page = ResultsPage(tmp_path / "PAGE.md")
    page.path.write_text("p99: <!-- a.p99 -->1 ms<!-- /a.p99 --> of 2 ms", encoding="utf-8")
    assert page.fill_placeholders({"a.p99": "3 ms"}) == "p99: <!-- a.p99 -->3 ms<!-- /a.p99 --> of 2 ms"
    with pytest.raises(ValueError, match="no placeholder <!-- a"):
        page.fill_placeholders({"a.p50": "3 ms"})


def test_figures_of_another_size_than_the_promised_one_are_not_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    parser = SERVER_PAGE.make_parser("Program that measures.")
    parser.add_argument("--most-matches", type=int, default=100)

    def parse(*arguments: str) -> dict[str, object]:
        monkeypatch.setattr(sys, "argv", ["program", *arguments])
        return vars(SERVER_PAGE.parse_arguments(parser))

    assert parse("--most-matches", "10") == {"most_matches": 10, "write": False}
    assert parse("--most-matches", "100", "--write") == {"most_matches": 100, "write": True}
    with pytest.raises(SystemExit):
        parse("--most-matches", "10", "--write")
    assert "leave out --most-matches or --write: SERVER.md" in capsys.readouterr().err

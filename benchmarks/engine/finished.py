"""Results of experiments whose programs were removed, each with its conditions."""

from __future__ import annotations

from typing import Any

from benchmarks.kit.measure import Section


def make_section(data: dict[str, Any]) -> Section:
    """Return the section of RESULTS.md with the result of each experiment. `data["rows"]`: rows of its table."""
    return Section(
        "Finished experiments",
        "These experiments are finished, and no program of the project measures them again. The scripts of the experiments up to "
        "2026-11-23 were removed after commit c0f4c8c, which still contains the scripts and the full tables. The scripts of later "
        "experiments were never part of the project. Differences in Elo have their 95 % interval in brackets.",
        ["measured on", "condition", "found"],
        data["rows"],
    )

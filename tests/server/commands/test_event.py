"""`arena event`: what the commands refuse, and what they tell."""

from __future__ import annotations

import pytest

from tests.bots.command_line import fails


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--rating", "1800-1200"), "--rating: no rating is in 1800-1200: write the lower bound first"),
        (("--rating", "1800"), "--rating: write 1200-1800, 1500- or -1800, not '1800'"),
        (("--at", "soon"), "'soon' is not a time"),
        (("--at", "2020-01-01 20:00"), "--at: 2020-01-01 20:00 is over"),
        (("--every", "month"), "--every: must be day or week, not 'month'"),
        (("--zone", "Berlin"), "no time zone is called 'Berlin'"),
        (("--format", "league"), "--format: must be one of"),
        (("--format", "arena", "--for", "2s"), "--for: must be from 1 minute to 1 day"),
        (("--map", "nowhere"), "--map: "),
    ],
)
def test_what_is_no_event_is_bad_usage(words: tuple[str, ...], why: str) -> None:
    at = () if "--at" in words else ("--at", "20:00")
    fails(why, 2, "event", "new", "cup", *at, *words)

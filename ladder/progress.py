"""How a ladder goes, as its page is told it."""

from __future__ import annotations

from arena.games.riskless import Riskless
from arena.ladder.event import Ladder
from arena.rating.pentanomial import pair_counts
from arena.rating.sprt import Sprt
from arena.rating.standings import pair_scores
from arena.server.web.progress import Due, EventProgress, SprtProgress

MOST_DUE = 30
"""Matches that are shown as due; the schedule of many bots is longer than anybody reads."""


def progress_of(ladder: Ladder, test: Sprt | None = None) -> EventProgress:
    """A ladder, and the sequential test that may end it. O(n² log n) for n bots, O(m) for m matches with a test."""
    plan = ladder.plan
    maps = list(plan.maps) if plan.game == Riskless.name else []
    heads = ladder.schedule.heads()[:MOST_DUE] if ladder.schedule is not None else []
    return EventProgress(
        event=plan.event,
        kind=ladder.kind,
        game=plan.game,
        maps=maps,
        format=plan.format,
        rounds=plan.rounds,
        time_control=str(plan.time_control),
        bots={bot.name: bot.what for bot in plan.bots},
        played=len(ladder.played),
        matches=ladder.matches,
        due=[
            Due(head.maxie, head.minnie, maps[head.pair.start] if maps else "", head.pair.round + 1)
            for head in heads
        ],
        sprt=_sprt(ladder, test) if test is not None and len(ladder.bots) == 2 else None,
    )


def _sprt(ladder: Ladder, test: Sprt) -> SprtProgress:
    pairs = pair_counts(pair_scores(ladder.bots[0], ladder.played))
    return SprtProgress(
        elo0=test.elo0,
        elo1=test.elo1,
        model=test.model,
        llr=test.llr(pairs),
        lower=test.lower,
        upper=test.upper,
        verdict=test.verdict(pairs).value,
        pairs=sum(pairs),
    )

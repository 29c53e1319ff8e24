"""Progress of a ladder (local tournament), as the web page of the ladder shows it."""

from __future__ import annotations

from arena.ladder.ladder import Ladder
from arena.maps.game_on_map import has_maps
from arena.rating.pentanomial import PairScoreCounts
from arena.rating.sprt import Sprt
from arena.server.web.event_progress import EventProgress, SprtProgress, UnplayedMatch

MAX_LISTED_UNPLAYED_MATCHES = 30
"""Maximum number of unplayed matches that the ladder's web page lists."""


def make_ladder_progress(ladder: Ladder) -> EventProgress:
    """Return the progress of a ladder, including that of its sequential test (SPRT) if the ladder has one.

    Takes O(n² log n) time for n bots, and with a test also O(m) for m played matches.
    """
    plan = ladder.plan
    maps = list(plan.maps) if has_maps(plan.game) else []
    next_pairings = (
        ladder.schedule.list_startable_pairings()[:MAX_LISTED_UNPLAYED_MATCHES]
        if ladder.schedule is not None
        else []
    )
    return EventProgress(
        event=plan.event_name,
        event_kind=ladder.event_kind,
        game=plan.game,
        map_names=maps,
        format_name=plan.format,
        round_count=plan.rounds,
        time_control=str(plan.time_control),
        program_by_bot={bot.name: bot.description for bot in plan.bots},
        played_match_count=len(ladder.played_matches),
        total_match_count=ladder.total_matches,
        unplayed_matches=[UnplayedMatch.from_pairing(pairing, maps) for pairing in next_pairings],
        sprt=None if ladder.sprt is None else _make_sprt_progress(ladder.sprt, ladder.count_pair_scores()),
    )


def _make_sprt_progress(sprt: Sprt, pairs: PairScoreCounts) -> SprtProgress:
    return SprtProgress(
        elo0=sprt.elo0,
        elo1=sprt.elo1,
        elo_model=sprt.model,
        llr=sprt.compute_llr(pairs),
        lower_llr_bound=sprt.lower_llr_bound,
        upper_llr_bound=sprt.upper_llr_bound,
        test_state=sprt.decide(pairs).value,
        pair_count=sum(pairs),
    )

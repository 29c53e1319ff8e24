from __future__ import annotations

from uuid import UUID

from msgspec.structs import replace

from arena.ladder.ladder import Ladder
from arena.ladder.plan import LadderPlan, make_engine_bot_plan
from arena.ladder.reports.result_lines import make_draws_warning
from arena.maps.game_on_map import MAPS_WITH_FEW_DRAWS
from arena.protocol.codes import EndReason
from tests.rating.pairs import make_round_robin
from tests.server.matches import game_of, record


def ladder(map: str, drawn: int, matches: int = 4) -> Ladder:
    """Return an event on a map, or of tic-tac-toe without a map."""
    game = "riskless" if map else "tictactoe"
    plan = LadderPlan(
        (make_engine_bot_plan("anna"), make_engine_bot_plan("bert")), game=game, maps=(map or "m2",)
    )
    ladder = Ladder(plan, [game_of(game)])
    ladder.build_schedule(UUID(int=1))
    pairings = [
        each for pair in make_round_robin(ladder.bot_names, matches, 1, 0) for each in pair.make_pairings()
    ]
    for number, pairing in enumerate(pairings[:matches]):
        winner, reason = (None, EndReason.PLY_LIMIT) if number < drawn else ("maxie", EndReason.LINE)
        drawn_or_won = record(
            str(number),
            maxie=pairing.maxie,
            minnie=pairing.minnie,
            winner=winner,  # type: ignore[arg-type]
            reason=reason,
            game=game,
        )
        ladder.add_match(pairing, replace(drawn_or_won, setup={"map": map} if map else {}))
    return ladder


def test_an_event_of_draws_is_warned_of_with_maps_that_decide() -> None:
    warning = make_draws_warning(ladder("m2", 3))
    assert warning is not None
    assert warning.startswith("3 of 4 matches were drawn (over half on m2), so the table says little about")
    assert f"`--map {MAPS_WITH_FEW_DRAWS[0]}`" in warning
    other = make_draws_warning(ladder(MAPS_WITH_FEW_DRAWS[0], 3))
    assert other is not None
    assert f"`--map {MAPS_WITH_FEW_DRAWS[0]}`" not in other
    assert f"`--map {MAPS_WITH_FEW_DRAWS[1]}`" in other


def test_a_game_without_maps_is_advised_to_take_openings() -> None:
    warning = make_draws_warning(ladder("", 4))
    assert warning is not None
    assert "--openings" in warning
    assert "--map" not in warning


def test_half_of_the_matches_drawn_is_not_too_many_and_a_stopped_ladder_has_no_warning() -> None:
    assert make_draws_warning(ladder("m2", 2)) is None
    stopped = ladder("m2", 4)
    stopped.is_stopped = True
    assert make_draws_warning(stopped) is None

from uuid import UUID

import pytest
from msgspec.structs import replace

from arena.ladder.event import Ladder
from arena.ladder.plan import LadderPlan, engine_bot
from arena.ladder.reports.draws import draws_in_words, warning_of_draws
from arena.maps.setup import DECIDING
from arena.protocol.codes import EndReason
from arena.rating.draws import Draws
from tests.ladder.pairs import round_robin
from tests.server.matches import game_of, record


def ladder(map: str, drawn: int, matches: int = 4) -> Ladder:
    """An event on a map, or of tic-tac-toe where it has none."""
    game = "riskless" if map else "tictactoe"
    plan = LadderPlan((engine_bot("anna"), engine_bot("bert")), game=game, maps=(map or "m2",))
    made = Ladder(plan, [game_of(game)])
    made.begin(UUID(int=1))
    pairings = [each for pair in round_robin(made.bots, matches, 1, 0) for each in pair.matches()]
    for number, pairing in enumerate(pairings[:matches]):
        winner, reason = (None, EndReason.PLY_LIMIT) if number < drawn else ("maxie", EndReason.LINE)
        ended = record(
            str(number),
            maxie=pairing.maxie,
            minnie=pairing.minnie,
            winner=winner,  # type: ignore[arg-type]
            reason=reason,
            game=game,
        )
        made.add(pairing, replace(ended, setup={"map": map} if map else {}))
    return made


@pytest.mark.parametrize(
    ("draws", "told"),
    [
        (Draws(0, 0, 0), "drawn: 0 of 0 matches (0%)"),
        (Draws(40, 12, 0), "drawn: 12 of 40 matches (30%)"),
        (Draws(40, 12, 5), "drawn: 12 of 40 matches (30%), 5 of them by repetition"),
    ],
)
def test_the_share_is_told_in_words(draws: Draws, told: str) -> None:
    assert draws_in_words(draws) == told


def test_an_event_of_draws_is_warned_of_with_maps_that_decide() -> None:
    warning = warning_of_draws(ladder("m2", 3))
    assert warning is not None
    assert warning.startswith(
        "3 of 4 matches were drawn (over half on m2), so that the table tells little of"
    )
    assert f"`--map {DECIDING[0]}`" in warning
    other = warning_of_draws(ladder(DECIDING[0], 3))
    assert other is not None
    assert f"`--map {DECIDING[0]}`" not in other
    assert f"`--map {DECIDING[1]}`" in other


def test_a_game_without_maps_is_advised_to_take_openings() -> None:
    warning = warning_of_draws(ladder("", 4))
    assert warning is not None
    assert "--openings" in warning
    assert "--map" not in warning


def test_half_is_not_too_much_and_what_was_stopped_is_not_judged() -> None:
    assert warning_of_draws(ladder("m2", 2)) is None
    stopped = ladder("m2", 4)
    stopped.stop()
    assert warning_of_draws(stopped) is None

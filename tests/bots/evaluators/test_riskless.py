from __future__ import annotations

from hypothesis import given

from arena.bots.evaluators import riskless
from arena.bots.evaluators.catalogue import evaluator_for, make_dynamic_position_predicate
from arena.bots.search.search_values import ESTIMATE_LIMIT
from arena.games.core import Player
from arena.games.riskless import Riskless, RisklessPosition
from tests.bots.search.problems import Case, riskless_cases
from tests.solved.conftest import make_path_map

PATH = Riskless(make_path_map(5, 6, 20, 50))


def compute_features(*armies: int, player: Player = Player.MAXIE) -> dict[str, int]:
    found = riskless.make_feature_function(PATH)(RisklessPosition(armies, player, 0))
    return dict(zip(riskless.FEATURE_NAMES, found, strict=True))


def test_features_of_riskless_by_hand() -> None:
    assert compute_features(6, 5, -3, -1, 2) == {
        "armies": 13 - 4,
        # Maxie needs 7 more armies on 3 territories, Minnie 16 on 2: Maxie's share of 20 is 16 × 3 / (16 × 3 + 7 × 2)
        "race": 20 * (48 - 14) // 62,
        "goal": 169 // 20 - 16 // 20,
        "borders": (5 + 2) - (3 + 1),  # b and e; c and d
        "territories": 3 - 2,
        "waste": 1,  # a is at the cap
        "safe": 1 - 0,  # a: its one neighbour is Maxie's
        "reach": 0,  # no territory is empty
        "attacks": 2,  # b could take c, e could take d
        "exposed": 0,  # nobody could take b, and d's 1 not e
    }


def test_the_player_to_move_decides_between_attacked_and_exposed() -> None:
    maxies, minnies = (compute_features(0, 4, -2, 0, 0, player=player) for player in Player)
    assert (maxies["attacks"], maxies["exposed"]) == (1, 0)
    assert (minnies["attacks"], minnies["exposed"]) == (0, -1)
    assert maxies["reach"] == 0, "a is next to Maxie's b, d to Minnie's c"


def test_a_race_is_a_share_of_the_goal() -> None:
    assert riskless.compute_race_feature(100, 50, 5, 50, 5) == 0
    assert riskless.compute_race_feature(100, 100, 5, 50, 5) == 100
    assert riskless.compute_race_feature(100, 60, 5, 50, 10) == -riskless.compute_race_feature(
        100, 50, 10, 60, 5
    )
    # 40 armies at 10 a ply take 4 plies, 40 at 5 a ply 8
    assert riskless.compute_race_feature(90, 50, 10, 50, 5) == 90 * (8 - 4) // 12
    assert riskless.compute_race_feature(90, 0, 0, 0, 0) == 0


def test_a_territory_counts_its_share_of_the_goal() -> None:
    units = dict(zip(riskless.FEATURE_NAMES, riskless.compute_feature_weight_factors(PATH.map), strict=True))
    assert units["territories"] == units["exposed"] == 20 / 5
    assert units["armies"] == units["race"] == 1


@given(case=riskless_cases())
def test_riskless_is_fair(case: Case) -> None:
    """The mirror image of a position, sides exchanged, has the opposite value."""
    position = case.position
    mirror = RisklessPosition(tuple(-n for n in position.armies), position.player.opponent, position.ply)
    for name in ("plain", "features"):
        evaluate = evaluator_for(case.game, name)
        assert evaluate(position) == -evaluate(mirror)
        assert abs(evaluate(position)) <= ESTIMATE_LIMIT


def test_great_armies_under_attack_make_a_position_dynamic() -> None:
    """Only c, which b can take, holds a fifth or more of Minnie's armies; her other territories are smaller or safe."""
    dynamic = riskless.make_attack_predicate(PATH)
    assert dynamic(RisklessPosition((1, 5, -3, -1, -6), Player.MAXIE, 0))
    assert not dynamic(RisklessPosition((1, 5, -2, -6, -6), Player.MAXIE, 0)), "c has less than a fifth"
    assert not dynamic(RisklessPosition((1, 2, -3, -1, -6), Player.MAXIE, 0)), "b cannot take it"
    assert dynamic(RisklessPosition((1, 2, -3, -1, -6), Player.MINNIE, 0)), (
        "c can take b, which has two of three"
    )
    assert not dynamic(RisklessPosition((5, 0, -3, -1, -6), Player.MAXIE, 0)), "nobody stands beside an enemy"


@given(case=riskless_cases())
def test_a_position_is_dynamic_for_either_player_to_move(case: Case) -> None:
    position = case.position
    mirror = RisklessPosition(tuple(-n for n in position.armies), position.player.opponent, position.ply)
    dynamic = make_dynamic_position_predicate(case.game)
    assert dynamic is not None
    assert dynamic(position) == dynamic(mirror)

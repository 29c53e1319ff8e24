from arena.protocol.codes import EndReason
from arena.protocol.record import Record
from arena.protocol.values import Seat
from arena.rating.breakdown import make_result_breakdown
from arena.rating.pairing import Pairing
from tests.rating.pairs import make_round_robin
from tests.server.matches import record


def make_results(*winners: Seat | None) -> list[tuple[Pairing, Record]]:
    """Return pairings of anna and bert with a record for each, won by these seats in order."""
    pairings = [
        each
        for pair in make_round_robin(["anna", "bert"], len(winners), 1, 0)
        for each in pair.make_pairings()
    ]
    return [
        (
            pairing,
            record(
                str(number), maxie=pairing.maxie, minnie=pairing.minnie, winner=winner, reason=EndReason.LINE
            ),
        )
        for number, (pairing, winner) in enumerate(zip(pairings, winners, strict=False))
    ]


def test_the_first_move_and_the_seats() -> None:
    scores = make_result_breakdown(["anna", "bert"], make_results("maxie", "maxie", "maxie", None))
    assert (scores.first_move.match_count, scores.first_move.mean_score) == (4, 0.875)
    assert scores.first_move.elo is not None
    assert scores.first_move.elo > 0
    maxie = [part for part in scores.by_seat if part.group == "maxie"]
    assert sum(part.wins for part in maxie) == 3
    assert sum(part.match_count for part in scores.by_seat) == 8
    assert {part.group for part in scores.by_map} == {"tictactoe"}
    assert all(part.wins == other.losses for part, other in zip(*[iter(scores.by_opponent)] * 2, strict=True))


def test_pairs_are_counted_for_each_two_bots() -> None:
    [head_to_head] = make_result_breakdown(
        ["anna", "bert"], make_results("maxie", "maxie", "minnie", "minnie")
    ).duels
    assert (head_to_head.bot, head_to_head.opponent) == ("anna", "bert")
    assert head_to_head.pairs == (0, 0, 2, 0, 0), "each pair has one win and one loss"
    assert head_to_head.superiority == 0.5


def test_void_matches_count_nowhere() -> None:
    void = [
        (pairing, record(reason=EndReason.SERVER_FAULT, winner=None)) for pairing, _ in make_results("maxie")
    ]
    scores = make_result_breakdown(["anna", "bert"], void)
    assert not scores.by_seat
    assert scores.first_move.elo is None
    assert scores.duels[0].superiority is None

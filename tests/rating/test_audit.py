"""Audit of invented matches: cheating is found, and honest matches give no findings."""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.protocol.codes import EndReason
from arena.protocol.record import RECORD_FORMAT, Record, RecordedMove, Result
from arena.protocol.values import Players, Seat
from arena.rating.audit import (
    Audit,
    AuditFinding,
    compute_binomial_tail_probability,
    compute_hypergeometric_tail_probability,
)
from arena.rating.elo import compute_expected_score

BOTS = [f"bot{n:02}" for n in range(12)]
ELO = {bot: 60.0 * n for n, bot in enumerate(BOTS)}


def make_record(
    maxie: str,
    minnie: str,
    winner: Seat | None,
    reason: EndReason = EndReason.LINE,
    moves: Sequence[int] = (),
) -> Record:
    made = [RecordedMove(move, 1.0) for move in moves]
    players, result = Players(maxie, minnie), Result(winner, reason)
    return Record(
        RECORD_FORMAT, "m", "e", "riskless", {}, players, "1+0", "2026-11-20T12:00:00Z", made, result
    )


def audit_honest_matches(seed: int, rounds: int = 10) -> Audit:
    """Return an audit of matches between all BOTS, won by chance according to ELO. A third of the losses are resignations."""
    chance, audit = random.Random(seed), Audit()
    for first in BOTS:
        for second in BOTS:
            for _ in range(rounds if first != second else 0):
                wins = chance.random() < compute_expected_score(ELO[first] - ELO[second])
                reason = EndReason.RESIGNATION if chance.random() < 1 / 3 else EndReason.LINE
                moves = [chance.randrange(100) for _ in range(30)]
                audit.add_match(
                    make_record(first, second, "maxie" if wins else "minnie", reason, moves), is_rated=True
                )
    return audit


def list_finding_keys(found: list[AuditFinding]) -> list[tuple[str, str, str]]:
    return [(each.check, each.bot, each.opponent) for each in found]


@pytest.mark.parametrize("seed", range(5))
def test_honest_matches_give_no_findings(seed: int) -> None:
    assert audit_honest_matches(seed).list_findings() == []


def test_a_strong_bot_that_lets_a_weak_one_win_is_found() -> None:
    audit = audit_honest_matches(1)
    for _ in range(30):
        audit.add_match(make_record(BOTS[0], BOTS[11], "maxie"), is_rated=True)
    (found,) = audit.list_findings()
    assert list_finding_keys([found]) == [("result", BOTS[0], BOTS[11])]
    assert found.chance is not None
    assert found.chance < 1e-6
    assert found.sample_size == 50


def test_unrated_void_and_walkover_results_are_ignored() -> None:
    audit = audit_honest_matches(2)
    for _ in range(30):
        audit.add_match(make_record(BOTS[0], BOTS[11], "maxie"), is_rated=False)
        audit.add_match(make_record(BOTS[0], BOTS[11], None, EndReason.SERVER_FAULT), is_rated=True)
        audit.add_match(make_record(BOTS[0], BOTS[11], "maxie", EndReason.NO_SHOW), is_rated=True)
    assert audit.list_findings() == []


def test_two_bots_that_met_nobody_else_give_no_finding() -> None:
    audit = Audit()
    for _ in range(40):
        audit.add_match(make_record("anna", "bert", "maxie"), is_rated=True)
    assert audit.list_findings() == []


def test_a_bot_that_resigns_to_one_opponent_alone_is_found() -> None:
    audit = Audit()
    for other in BOTS[1:]:
        for number in range(10):
            reason = EndReason.RESIGNATION if other == BOTS[3] and number < 8 else EndReason.LINE
            audit.add_match(make_record(BOTS[0], other, "minnie", reason), is_rated=True)
    assert list_finding_keys(audit.list_findings()) == [("resignation", BOTS[0], BOTS[3])]


def test_identical_play_is_found_unless_both_bots_have_one_owner() -> None:
    audit, chance = Audit(), random.Random(3)
    for _ in range(3):
        moves = [chance.randrange(100) for _ in range(30)]
        for name in ("anna", "bert"):
            audit.add_match(make_record(name, "carl", "maxie", moves=moves), is_rated=False)
            audit.add_match(
                make_record(name, "carl", "maxie", moves=moves[:10]), is_rated=False
            )  # short matches may be identical by chance
    (found,) = audit.list_findings()
    assert list_finding_keys([found]) == [("identical", "anna", "bert")]
    assert found.detail.startswith("3 matches")
    assert audit.list_findings(lambda one, other: {one, other} == {"anna", "bert"}) == []


@given(st.integers(1, 40), st.floats(0.01, 0.99), st.integers(0, 41))
def test_the_binomial_tail_equals_the_exact_sum(n: int, p: float, k: int) -> None:
    exact = sum(comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k, n + 1))
    assert compute_binomial_tail_probability(n, p, k) == pytest.approx(exact, rel=1e-9, abs=1e-300)


@given(st.integers(1, 12), st.integers(0, 12), st.integers(1, 12), st.integers(0, 12))
def test_the_hypergeometric_tail_equals_a_count_of_all_draws(
    total: int, marked: int, drawn: int, k: int
) -> None:
    marked, drawn = min(marked, total), min(drawn, total)
    ways = [
        (each & ((1 << marked) - 1)).bit_count() for each in range(1 << total) if each.bit_count() == drawn
    ]
    exact = sum(each >= k for each in ways) / len(ways)
    assert compute_hypergeometric_tail_probability(total, marked, drawn, k) == pytest.approx(exact)


def test_a_shared_address_is_found_if_both_bots_played() -> None:
    audit = Audit()
    audit.add_match(make_record("bert", "anna", "maxie"), is_rated=True)
    audit.add_match(make_record("bert", "carl", "maxie"), is_rated=True)
    audit.add_shared_address("bert", "anna", ["2026-11-24", "2026-11-26"])
    audit.add_shared_address("anna", "carl", ["2026-11-26"])
    audit.add_shared_address("anna", "dora", ["2026-11-26"])
    assert [
        (each.check, each.bot, each.opponent, each.sample_size, each.detail) for each in audit.list_findings()
    ] == [
        ("address", "anna", "bert", 1, "played from the same address on 2026-11-26 and 1 day before it"),
        ("address", "anna", "carl", 0, "played from the same address on 2026-11-26"),
    ]

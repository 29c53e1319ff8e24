from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.games.core import BadData, IllegalMove, Outcome, Player, RuleEndReason
from arena.games.riskless import Riskless, RisklessPosition
from arena.games.riskless_map import RisklessMap
from arena.maps.loader import load_map
from tests.games.riskless_oracle import Oracle
from tests.games.setups import MAPS, random_match
from tests.games.strategies import positions_of, riskless_maps

FIGURE = json.loads((Path(__file__).parents[1] / "data" / "riskless_figure2.json").read_text())


def signed(state: list[str]) -> tuple[int, ...]:
    return tuple(0 if s == "-" else int(s[1:]) * (1 if s[0] == "R" else -1) for s in state)


def path(*start: int, cap: int = 5, armies_to_win: int | None = None, ply_limit: int = 50) -> Riskless:
    """Return a map of territories a, b, c … in a row, with this start."""
    size = len(start)
    return Riskless(
        RisklessMap(
            name="row",
            territories=tuple("abcdefgh"[:size]),
            neighbours=tuple(tuple(w for w in (v - 1, v + 1) if 0 <= w < size) for v in range(size)),
            territory_cap=cap,
            armies_to_win=armies_to_win or cap * size,
            ply_limit=ply_limit,
            start=start,
            places=tuple((float(v), 0.0) for v in range(size)),
        )
    )


# the rules


def test_figure_2_replays() -> None:
    game = Riskless(load_map("path4"))
    position = game.start()
    assert position.armies == signed(FIGURE["start"])
    for each in FIGURE["plies"]:
        assert game.outcome(position) is None
        assert game.player(position) is (Player.MAXIE if each["player"] == "R" else Player.MINNIE)
        position = game.play(position, tuple(each["move"]))
        assert (game.ply(position), position.armies) == (each["ply"], signed(each["state"]))
    assert game.outcome(position) == Outcome(Player.MAXIE, RuleEndReason.ELIMINATION)


# against the oracle


def agree(game: Riskless, position: RisklessPosition) -> None:
    """Check the moves, every successor and the outcome of a position against the oracle."""
    oracle = Oracle(game.map)
    held = oracle.held(position.armies)
    verdict = oracle.verdict(held, position.ply)
    outcome = game.outcome(position)
    assert (outcome and (outcome.winner, outcome.reason)) == verdict
    mover = position.player.value
    legal = [] if verdict else oracle.legal(held, mover)
    assert list(game.moves(position)) == legal
    for move in legal:
        after = game.successor(position, move)
        assert oracle.held(after.armies) == oracle.after(held, mover, *move)
        assert (after.player, after.ply) == (position.player.opponent, position.ply + 1)


@given(data=st.data(), map=riskless_maps())
def test_any_position_of_any_map_agrees_with_the_oracle(data: st.DataObject, map: RisklessMap) -> None:
    game = Riskless(map)
    agree(game, data.draw(positions_of(map)))
    for position in random_match(game, data.draw(st.integers(0, 2**16)), limit=20).positions:
        agree(game, position)


@pytest.mark.parametrize("name", MAPS)
def test_matches_on_the_maps_agree_with_the_oracle(name: str) -> None:
    game = Riskless(load_map(name))
    positions = random_match(game, seed=7).positions
    for position in (*positions[:: max(1, len(positions) // 40)], positions[-1]):
        agree(game, position)


@given(data=st.data(), map=riskless_maps())
def test_every_pair_of_territories_is_legal_or_has_a_reason_why_not(
    data: st.DataObject, map: RisklessMap
) -> None:
    game = Riskless(map)
    position = data.draw(positions_of(map))
    legal = set(game.moves(position))
    for source in range(-1, map.territory_count + 1):
        for target in range(-1, map.territory_count + 1):
            why = game.explain_illegal_move(position, (source, target))
            assert (why is None) == ((source, target) in legal)
            if why is not None:
                with pytest.raises(IllegalMove) as refused:
                    game.play(position, (source, target))
                assert (refused.value.why, len(refused.value.legal)) == (why, len(legal))


# words


@pytest.mark.parametrize(
    ("armies", "move", "why"),
    [
        ((1, 0, -1), (1, 0), "b is empty, and it is maxie's turn"),
        ((1, 0, -1), (2, 1), "c is minnie's, and it is maxie's turn"),
        ((1, 0, -1), (0, 2), "no road from a to c: it has roads to b"),
        ((1, 0, -1), (0, 0), "no road from a to a: it has roads to b"),
        ((1, 0, -1), (0, 3), "the territories are 0 to 2"),
        ((1, 0, -1), (-1, 0), "the territories are 0 to 2"),
        ((1, 0, 0), (0, 1), "the match is over"),
    ],
)
def test_a_refusal_says_why(armies: tuple[int, ...], move: tuple[int, int], why: str) -> None:
    game = path(1, 0, -1)
    with pytest.raises(IllegalMove) as refused:
        game.play(RisklessPosition(armies, Player.MAXIE, 0), move)
    assert refused.value.why == why


@pytest.mark.parametrize(
    "typed",
    [
        "Western United States > Central America",
        "western united states>central america",
        "Western United States Central America",
        "  western   united states   8 ",
        "6 Central America",
        "6 8",
        "6>8",
    ],
)
def test_a_move_can_be_typed_in_many_ways(typed: str) -> None:
    assert Riskless(load_map("world")).move_from_text(typed) == (6, 8)


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("", "type SOURCE > TARGET"),
        ("Alaska", "type SOURCE > TARGET"),
        ("Alaska Albertta", "no territory is called 'Albertta': choose from Alaska, Alberta"),
        ("Alaska > 42", "no territory is called '42'"),
        ("Alaska Alberta Ontario", "type SOURCE > TARGET"),
        ("Alaska > Alberta > Ontario", "no territory is called 'Alberta > Ontario'"),
    ],
)
def test_other_words_are_no_move(typed: str, why: str) -> None:
    with pytest.raises(BadData, match=why):
        Riskless(load_map("world")).move_from_text(typed)


def test_words_that_can_be_read_in_two_ways_are_refused() -> None:
    start = (1, -1, 0, 0)
    game = Riskless(
        RisklessMap(
            name="doubtful",
            territories=("New", "New York", "York", "York York"),
            neighbours=((1, 2, 3), (0, 2, 3), (0, 1, 3), (0, 1, 2)),
            territory_cap=5,
            armies_to_win=20,
            ply_limit=50,
            start=start,
            places=((0, 0), (1, 0), (0, 1), (1, 1)),
        )
    )
    with pytest.raises(BadData, match="two ways"):
        game.move_from_text("New York York")
    for source in range(4):
        for target in range(4):
            assert game.move_from_text(game.move_to_text((source, target))) == (source, target)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("+1 . maxie 0", "3 numbers of armies"),
        ("+1 . -1 nobody 0", "player must be maxie or minnie"),
        ("+1 . -1 maxie 51", "ply must be a whole number from 0 to 50"),
        ("+6 . -1 maxie 0", "whole number from -5 to 5"),
        ("+1 . x maxie 0", "is not a position: armies must be a whole number, not 'x'"),
        ("+1 . -1 maxie x", "is not a position: ply must be a whole number, not 'x'"),
        (". . . maxie 0", "at least one territory must have armies"),
    ],
)
def test_positions_that_cannot_be_say_why(text: str, why: str) -> None:
    with pytest.raises(BadData, match=why):
        path(1, 0, -1).position_from_text(text)


def test_a_position_is_written_as_in_the_documents() -> None:
    game = path(2, 0, -3)
    assert game.position_to_text(game.start()) == "+2 . -3 maxie 0"
    assert game.position_from_text("2 0 -3 minnie 4") == RisklessPosition((2, 0, -3), Player.MINNIE, 4)
    assert game.picture(game.start()).split("\n") == [
        "ply 0, maxie to move",
        "  0 a  maxie   2   roads to b",
        "  1 b     -        roads to a, c",
        "  2 c  minnie  3   roads to b",
    ]


def test_a_setup_is_made_once() -> None:
    game = Riskless(load_map("m2"))
    assert game.setup() is game.setup()
    assert game.setup() == game.map.to_data()

"""Suite of properties for every registered game, on every built-in map and some generated maps."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from functools import partial, reduce
from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.games.catalogue import BUILT_IN_GAMES, make_game
from arena.games.core import AnyGame, IllegalMove, Outcome, Player
from tests.games.setups import EVERY_GAME, random_match
from tests.games.strategies import plain, refusal, spoiled
from tests.properties import examples

every_game = pytest.mark.parametrize("game", EVERY_GAME.values(), ids=EVERY_GAME)
seeds = st.integers(0, 2**32 - 1)


def carried(data: Any) -> list[Any]:
    """Return `data` after a round trip over the wire and in a record."""
    by_wire = msgpack.unpackb(msgpack.packb(data))
    by_record = json.loads(json.dumps(data, allow_nan=False))
    return [by_wire, by_record]


def sample(positions: tuple[Any, ...], most: int = 12) -> list[Any]:
    """Return the first, the last and some other positions of a match."""
    step = max(1, len(positions) // most)
    return [*positions[::step], positions[-1]]


def test_the_suite_includes_every_registered_game() -> None:
    assert {game.name for game in EVERY_GAME.values()} == set(BUILT_IN_GAMES)
    assert all(name == game.name for name, game in BUILT_IN_GAMES.items())


@every_game
@examples(4)
@given(seed=seeds)
def test_a_random_match_fulfils_the_contract_of_games(game: AnyGame, seed: int) -> None:
    match = random_match(game, seed)
    assert game.player(match.positions[0]) is Player.MAXIE
    for ply, position in enumerate(match.positions):
        assert game.ply(position) == ply
        moves, outcome = game.moves(position), game.outcome(position)
        assert (not moves) == (outcome is not None), "over means no moves, in play means some"
        assert len(set(moves)) == len(moves), "no move is there twice"
        assert list(game.moves(position)) == list(moves), "the same moves in the same order"
        assert isinstance(game.player(position), Player)
        assert isinstance(game.estimate(position), int)
    last = game.outcome(match.positions[-1])
    assert isinstance(last, Outcome)
    assert reduce(game.play, match.moves, game.start()) == match.positions[-1]


@every_game
@examples(4)
@given(seed=seeds)
def test_legal_moves_apply_and_change_nothing_else(game: AnyGame, seed: int) -> None:
    for position in sample(random_match(game, seed).positions):
        before = (hash(position), repr(position))
        for move in game.moves(position):
            assert game.explain_illegal_move(position, move) is None
            after = game.play(position, move)
            assert after == game.successor(position, move)
            assert hash(after) == hash(game.successor(position, move))
            assert game.ply(after) == game.ply(position) + 1
        assert (hash(position), repr(position)) == before


@every_game
@examples(4)
@given(seed=seeds)
def test_every_other_move_is_refused_with_a_reason(game: AnyGame, seed: int) -> None:
    match = random_match(game, seed)
    pool = list(dict.fromkeys(match.moves))[:60]
    for position in sample(match.positions):
        legal = game.moves(position)
        for move in pool:
            if move in legal:
                continue
            why = game.explain_illegal_move(position, move)
            assert why
            with pytest.raises(IllegalMove) as refused:
                game.play(position, move)
            assert refused.value.why == why
            assert refused.value.move == game.move_to_text(move)
            assert refused.value.legal == tuple(game.move_to_text(each) for each in legal)
            assert "\n" not in str(refused.value)


@every_game
@examples(4)
@given(seed=seeds)
def test_moves_go_to_data_and_text_and_back(game: AnyGame, seed: int) -> None:
    for position in sample(random_match(game, seed).positions):
        texts = set()
        for move in game.moves(position):
            for data in carried(game.move_to_data(move)):
                assert game.move_from_data(data) == move
            text = game.move_to_text(move)
            texts.add(text)
            for typed in (text, text.upper(), f"  {text} "):
                assert game.move_from_text(typed) == move
        assert len(texts) == len(game.moves(position)), "no two moves read alike"


@every_game
@examples(4)
@given(seed=seeds)
def test_positions_go_to_data_and_text_and_back(game: AnyGame, seed: int) -> None:
    for position in sample(random_match(game, seed).positions):
        for data in carried(game.position_to_data(position)):
            assert game.position_from_data(data) == position
        text = game.position_to_text(position)
        assert "\n" not in text
        assert game.position_from_text(f" {text} ") == position
        assert game.picture(position).strip()


@every_game
def test_the_setup_makes_the_same_game(game: AnyGame) -> None:
    match = random_match(game, seed=1, limit=50)
    for setup in carried(game.setup()):
        again = make_game(game.name, setup)
        assert again.setup() == game.setup()
        assert again.start() == game.start()
        assert reduce(again.play, match.moves, again.start()) == match.positions[-1]


@every_game
def test_positions_are_frozen(game: AnyGame) -> None:
    position: Any = game.start()
    names = position._fields if hasattr(position, "_fields") else [each.name for each in fields(position)]
    assert names
    for name in names:
        with pytest.raises(AttributeError):
            setattr(position, name, getattr(position, name))


@every_game
@examples(30)
@given(data=st.data())
def test_any_data_is_valid_or_refused(game: AnyGame, data: st.DataObject) -> None:
    """Any data from the network or a keyboard is converted to a valid value, or refused with a message of one line."""
    position = game.start()
    move = game.moves(position)[0]
    setups = spoiled(dict(game.setup())).filter(lambda setup: isinstance(setup, dict))
    texts = st.text(max_size=30) | st.text("0123456789 abc>.+-/XO", max_size=30)
    attempts: list[tuple[Callable[[Any], Any], Callable[[Any], Any], st.SearchStrategy[Any]]] = [
        (game.move_from_data, game.move_to_data, plain | spoiled(game.move_to_data(move))),
        (game.position_from_data, game.position_to_data, plain | spoiled(game.position_to_data(position))),
        (partial(make_game, game.name), lambda made: made.setup(), setups),
        (game.move_from_text, game.move_to_text, texts),
        (game.position_from_text, game.position_to_text, texts),
    ]
    for read, write, source in attempts:
        sent = data.draw(source)
        error = refusal(partial(read, sent))
        if error is None:
            kept = write(read(sent))
            assert write(read(kept)) == kept
        else:
            assert "\n" not in error
            assert len(error) < 500

from arena.bots.engines.repetition import SeenPositions
from arena.games.riskless import Riskless, RisklessPosition
from arena.games.tictactoe import TicTacToe
from arena.maps.loader import load_map

GAME = Riskless(load_map("m2"))
START = GAME.start()
MOVE, *OTHERS = GAME.moves(START)
AFTER = GAME.play(START, MOVE)


def seen_positions(*positions: RisklessPosition) -> SeenPositions:
    """Return SeenPositions of a match with these positions, whose plies are renumbered from 0."""
    seen = SeenPositions(GAME)
    for ply, position in enumerate(positions):
        seen.add(position._replace(ply=ply))
    return seen


def test_a_move_draws_if_its_position_has_occurred_twice() -> None:
    assert seen_positions(START, AFTER, START).split_moves_by_repetition(START, expects_win=False) == (
        GAME.moves(START),
        [],
    )
    assert seen_positions(AFTER, AFTER, START).split_moves_by_repetition(START, expects_win=False) == (
        OTHERS,
        [MOVE],
    )
    assert seen_positions(AFTER, START).split_moves_by_repetition(START, expects_win=False) == (None, ())


def test_moves_that_were_taken_back_do_not_count() -> None:
    seen = seen_positions(START, AFTER, START, AFTER, START)
    seen.add(START._replace(ply=2))
    assert seen.split_moves_by_repetition(START, expects_win=False) == (GAME.moves(START), [])


def test_a_player_ahead_avoids_moves_after_which_the_opponent_can_repeat() -> None:
    seen = seen_positions(START, AFTER, START)
    assert seen.split_moves_by_repetition(START, expects_win=True) == (OTHERS, [])
    assert seen.split_moves_by_repetition(START, expects_win=False) == (GAME.moves(START), [])


def test_moves_to_avoid_are_searched_if_there_are_no_others() -> None:
    replies = [GAME.play(START, move) for move in GAME.moves(START)]
    seen = seen_positions(START, *(each for reply in replies for each in (reply, START)))
    assert seen.split_moves_by_repetition(START, expects_win=True) == (GAME.moves(START), [])


def test_all_moves_may_draw() -> None:
    replies = [GAME.play(START, move) for move in GAME.moves(START)]
    assert seen_positions(*replies, *replies, START).split_moves_by_repetition(START, expects_win=True) == (
        [],
        GAME.moves(START),
    )


def test_a_game_without_repetition_has_no_such_move() -> None:
    game = TicTacToe()
    seen = SeenPositions(game)
    for _ in range(3):
        seen.add(game.start())
    assert seen.split_moves_by_repetition(game.start(), expects_win=True) == (None, ())

"""Check of a custom game's rules by random matches, in which each position is tested.

`RULE_DESCRIPTIONS` lists the tested rules. A violation names the rule, the observed behaviour, and the moves that lead
there, so that the game's author can replay them.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from arena.games.basics import MAXIE, Outcome, Player
from arena.games.core import Game
from arena.games.digest import compute_rules_digest

MAX_RANDOM_MATCH_PLIES = 10_000
"""Number of plies after which a random match counts as endless."""
MAX_EXCERPT_CHARACTERS = 60
"""Maximum length of a value that an error message quotes, in characters."""
MAX_CELL_MARK_CHARACTERS = 4
"""Maximum number of characters of a mark, the text that `Game.marks` gives for a cell."""

RULE_DESCRIPTIONS = {
    "start": "Maxie moves first, at ply 0; from_setup(setup()) returns an equal game",
    "moves": "the moves of a position are distinct, hashable, and in the same order at each call",
    "end": "moves is empty exactly if outcome is not None, and every match ends",
    "outcome": "outcome returns None or an Outcome, whose reason is in words",
    "turns": "each move is one ply; a player may move twice in a row unless the game has a kernel",
    "successor": "successor changes neither the position nor the move, and its result depends on nothing else",
    "legality": "every move in moves is accepted, and every other move is rejected",
    "move data": "move_from_data restores the move from its data",
    "move text": "move_from_text restores the move from its text; different moves have different texts",
    "position data": "position_from_data and position_from_text restore the position; its text is one line",
    "board": "marks has one mark per cell, and squares returns cells of the board",
    "estimate": "estimate returns a whole number",
    "digest": "the digest of the rules is the same each time",
}
"""Required behaviour of a game, by the name of the rule."""


class RuleViolation(Exception):
    """Violation of a rule by a game. Raised and caught inside this module, and returned by `check_rules`.

    rule    name of the rule in RULE_DESCRIPTIONS
    reason  description of the violation, in one line
    """

    def __init__(self, rule: str, reason: str) -> None:
        super().__init__(reason)
        self.rule = rule
        self.reason = reason
        self.moves: tuple[str, ...] = ()
        """Moves from the start that lead to the violation, as text."""


def check_rules(
    game: Game[Any, Any],
    choose_index: Callable[[int], int],
    match_count: int,
    on_match_end: Callable[[int], None] = lambda _plies: None,
) -> list[RuleViolation]:
    """Play random matches, and return the violations that they show: the first one of each rule.

    choose_index  function: `choose_index(n)` returns a random number from 0 to n - 1
    match_count   number of random matches
    on_match_end  function that is called after each match with its number of plies
    """
    violations_by_rule: dict[str, RuleViolation] = {}

    def record_violation(violation: RuleViolation, moves: Sequence[str] = ()) -> None:
        violation.moves = tuple(moves)
        violations_by_rule.setdefault(violation.rule, violation)

    digest_violation: RuleViolation | None = None
    for check_rule in (_check_start_and_setup, _check_digest_is_repeatable):
        try:
            check_rule(game)
        except RuleViolation as violation:
            if check_rule is _check_digest_is_repeatable and violation.__cause__ is not None:
                digest_violation = violation
            else:
                record_violation(violation)
    known_moves: dict[Any, None] = {}
    for _ in range(match_count):
        if not _play_and_check_random_match(game, choose_index, record_violation, known_moves, on_match_end):
            break
    # A violation of another rule may also make the digest raise an error. Then only the other rule is reported.
    if digest_violation is not None and not violations_by_rule:
        record_violation(digest_violation)
    return list(violations_by_rule.values())


def _play_and_check_random_match(
    game: Game[Any, Any],
    choose_index: Callable[[int], int],
    record_violation: Callable[[RuleViolation, Sequence[str]], None],
    known_moves: dict[Any, None],
    on_match_end: Callable[[int], None],
) -> bool:
    """Play one random match, and record the violations that it shows. Return True if the match was played to its end.

    choose_index      function: `choose_index(n)` returns a random number from 0 to n - 1
    record_violation  called with each violation and the moves that lead to it
    known_moves       moves seen so far, which are tried as illegal moves in other positions; new ones are added
    on_match_end      called after the match with its number of plies

    After a result of False, further matches would only show the same violation.
    """
    played_moves: list[str] = []
    try:
        position = _call_game_method("start", game.start)
        for ply in range(MAX_RANDOM_MATCH_PLIES):
            for check_rule in (
                _check_mover_and_ply,
                _check_estimate,
                _check_position_conversions,
                _check_board_drawing,
            ):
                try:
                    check_rule(game, position, ply)
                except RuleViolation as violation:
                    record_violation(violation, played_moves)
            moves = _check_and_list_moves(game, position)
            if not moves:
                on_match_end(ply)
                return True
            for check_moves_rule in (
                _check_move_legality,
                _check_move_data_conversion,
                _check_move_text_conversion,
                _check_move_squares,
            ):
                try:
                    check_moves_rule(game, position, moves, known_moves)
                except RuleViolation as violation:
                    record_violation(violation, played_moves)
            move = moves[choose_index(len(moves))]
            position = _check_and_make_successor(game, position, move, ply)
            played_moves.append(_format_move(game, move))
    except RuleViolation as violation:
        record_violation(violation, played_moves)
        return False
    why = f"a random match is not over after {MAX_RANDOM_MATCH_PLIES:,} plies: give the game an end, as a limit of plies"
    record_violation(RuleViolation("end", why), played_moves)
    return False


def _check_start_and_setup(game: Game[Any, Any]) -> None:
    start = _call_game_method("start", game.start)
    player, ply = _call_game_method("start", game.player, start), _call_game_method("start", game.ply, start)
    if player is not MAXIE or ply != 0:
        raise RuleViolation(
            "start",
            f"at the start position it is {player}'s turn at ply {ply!r}: it must be Maxie's turn at ply 0",
        )
    setup = _call_game_method("start", game.setup)
    rebuilt_game = _call_game_method("start", type(game).from_setup, json.loads(_to_json("start", setup)))
    if rebuilt_game.start() != start or rebuilt_game.setup() != setup:
        raise RuleViolation(
            "start",
            f"from_setup({_make_excerpt(setup)}) makes a game with another start() or setup() than the game with this setup: "
            "both must be the same",
        )


def _check_digest_is_repeatable(game: Game[Any, Any]) -> None:
    if _call_game_method("digest", compute_rules_digest, game) != compute_rules_digest(game):
        raise RuleViolation(
            "digest",
            "the rules gave two results for the same calls: they must not depend on chance or on earlier calls",
        )


def _check_mover_and_ply(game: Game[Any, Any], position: Any, ply: int) -> None:
    player, reported_ply = (
        _call_game_method("turns", game.player, position),
        _call_game_method("turns", game.ply, position),
    )
    if not isinstance(player, Player):
        raise RuleViolation(
            "turns", f"player(position) is {_make_excerpt(player)}: it must be MAXIE or MINNIE"
        )
    if reported_ply != ply or isinstance(reported_ply, bool) or not isinstance(reported_ply, int):
        raise RuleViolation(
            "turns",
            f"ply(position) is {_make_excerpt(reported_ply)} after {ply} moves: it must be the number of moves",
        )


def _check_estimate(game: Game[Any, Any], position: Any, _ply: int) -> None:
    estimate = _call_game_method("estimate", game.estimate, position)
    if isinstance(estimate, bool) or not isinstance(estimate, int):
        raise RuleViolation(
            "estimate", f"estimate(position) is {_make_excerpt(estimate)}: it must be a whole number"
        )


def _check_position_conversions(game: Game[Any, Any], position: Any, _ply: int) -> None:
    rule = "position data"
    try:
        hash(position)
    except TypeError as error:
        raise RuleViolation(
            rule,
            f"a position must be hashable: use @dataclass(frozen=True), and tuples instead of lists: {error}",
        ) from None
    data = json.loads(_to_json(rule, _call_game_method(rule, game.position_to_data, position)))
    parsed_position = _call_game_method(rule, game.position_from_data, data)
    if parsed_position != position:
        raise RuleViolation(
            rule,
            f"position_to_data({_make_excerpt(position)}) is {_make_excerpt(data)}, but position_from_data makes {_make_excerpt(parsed_position)} of it",
        )
    if hash(parsed_position) != hash(position):
        raise RuleViolation(
            rule,
            f"two equal positions have different hashes, but must have the same one: {_make_excerpt(position)}",
        )
    text = _call_game_method(rule, game.position_to_text, position)
    if not isinstance(text, str) or "\n" in text or not text.strip():
        raise RuleViolation(
            rule, f"position_to_text(position) is {_make_excerpt(text)}: it must be one line of text"
        )
    parsed_position = _call_game_method(rule, game.position_from_text, f" {text} ")
    if parsed_position != position:
        raise RuleViolation(
            rule,
            f"position_from_text({_make_excerpt(text)}) is {_make_excerpt(parsed_position)}, not the position that has this text, {_make_excerpt(position)}",
        )


def _check_board_drawing(game: Game[Any, Any], position: Any, _ply: int) -> None:
    if game.board is not None:
        _check_cell_marks(game, position, game.board.cell_count)
    if not str(_call_game_method("board", game.picture, position)).strip():
        raise RuleViolation("board", "picture(position) is empty: it must draw the board")


def _check_cell_marks(game: Game[Any, Any], position: Any, cell_count: int) -> None:
    marks = _call_game_method("board", game.marks, position)
    if len(marks) != cell_count:
        hint = "" if marks else ": write marks, which returns one mark for each cell"
        raise RuleViolation("board", f"marks(position) has {len(marks)} marks for {cell_count} cells{hint}")
    invalid_marks = [
        mark
        for mark in marks
        if not isinstance(mark, str)
        or (not isinstance(mark, Player) and len(mark) > MAX_CELL_MARK_CHARACTERS)
    ]
    if invalid_marks:
        raise RuleViolation(
            "board",
            f"a mark is {_make_excerpt(invalid_marks[0])}: it must be a Player, or a text of at most {MAX_CELL_MARK_CHARACTERS} characters",
        )


def _check_and_list_moves(game: Game[Any, Any], position: Any) -> Sequence[Any]:
    outcome = _call_game_method("outcome", game.outcome, position)
    if outcome is not None and not isinstance(outcome, Outcome):
        raise RuleViolation(
            "outcome", f"outcome(position) is {_make_excerpt(outcome)}: it must be None or an Outcome"
        )
    if outcome is not None and outcome.winner is not None and not isinstance(outcome.winner, Player):
        raise RuleViolation(
            "outcome",
            f"the winner is {_make_excerpt(outcome.winner)}: it must be MAXIE, MINNIE or None for a draw",
        )
    moves = list(_call_game_method("moves", game.moves, position))
    if outcome is not None and moves:
        raise RuleViolation(
            "end",
            f"outcome(position) is {outcome}, but moves(position) has {len(moves)} moves: it must be empty when the match is over",
        )
    if outcome is None and not moves:
        raise RuleViolation(
            "end", "moves(position) is empty, but outcome(position) is None: return who wins, or a draw"
        )
    if list(_call_game_method("moves", game.moves, position)) != moves:
        raise RuleViolation(
            "moves",
            "moves(position) returned other moves, or another order, the second time: it must return the same each time",
        )
    if len(_call_game_method("moves", set, moves)) != len(moves):
        raise RuleViolation(
            "moves", "moves(position) contains the same move twice: it must list each move once"
        )
    return moves


def _check_and_make_successor(game: Game[Any, Any], position: Any, move: Any, ply: int) -> Any:
    texts_before = repr(position), repr(move)
    position_after = _call_game_method("successor", game.successor, position, move)
    if (repr(position), repr(move)) != texts_before:
        raise RuleViolation(
            "successor",
            f"successor has changed its argument: {texts_before[0][:MAX_EXCERPT_CHARACTERS]} is now {_make_excerpt(position)}; it must return a new position",
        )
    second_result = _call_game_method("successor", game.successor, position, move)
    if second_result != position_after:
        raise RuleViolation(
            "successor",
            f"successor(position, move) returned {_make_excerpt(position_after)}, then {_make_excerpt(second_result)}: "
            "equal arguments must give equal positions",
        )
    if _call_game_method("turns", game.ply, position_after) != ply + 1:
        raise RuleViolation(
            "turns",
            f"ply(position) is {_make_excerpt(game.ply(position_after))} after {ply + 1} moves: it must be the number of moves",
        )
    moves_twice = (
        _call_game_method("turns", game.player, position_after) is game.player(position)
        and _call_game_method("outcome", game.outcome, position_after) is None
    )
    if moves_twice and _call_game_method("turns", game.compiled) is not None:
        raise RuleViolation(
            "turns",
            f"the player of move {ply + 1} also makes the next one: with a compiled kernel, players must take turns",
        )
    return position_after


def _check_move_legality(
    game: Game[Any, Any], position: Any, moves: Sequence[Any], known_moves: dict[Any, None]
) -> None:
    for move in moves:
        why = _call_game_method("legality", game.explain_illegal_move, position, move)
        if why is not None:
            raise RuleViolation(
                "legality",
                f"{_format_move(game, move)} is in moves(position), but the game refuses it: {why}",
            )
    for move in list(known_moves)[:50]:
        if (
            move not in moves
            and _call_game_method("legality", game.explain_illegal_move, position, move) is None
        ):
            raise RuleViolation(
                "legality", f"{_format_move(game, move)} is not in moves(position), but the game accepts it"
            )
    if len(known_moves) < 500:
        known_moves.update(dict.fromkeys(moves))


def _check_move_data_conversion(
    game: Game[Any, Any], _position: Any, moves: Sequence[Any], _known_moves: dict[Any, None]
) -> None:
    for move in moves:
        data = json.loads(_to_json("move data", _call_game_method("move data", game.move_to_data, move)))
        restored_move = _call_game_method("move data", game.move_from_data, data)
        call_text = f"move_from_data({_make_excerpt(data)})"
        if restored_move != move:
            raise RuleViolation(
                "move data",
                f"{call_text} must return {_make_excerpt(move)}, not {_make_excerpt(restored_move)}",
            )
        if hash(restored_move) != hash(move):
            raise RuleViolation(
                "move data",
                f"{call_text} is equal to {_make_excerpt(move)}, but has another hash: equal moves must have equal hashes",
            )


def _check_move_text_conversion(
    game: Game[Any, Any], _position: Any, moves: Sequence[Any], _known_moves: dict[Any, None]
) -> None:
    move_by_text: dict[str, Any] = {}
    for move in moves:
        text = _call_game_method("move text", game.move_to_text, move)
        if not isinstance(text, str) or not text.strip() or "\n" in text:
            raise RuleViolation(
                "move text",
                f"move_to_text({_make_excerpt(move)}) is {_make_excerpt(text)}: it must be one line of text",
            )
        if text in move_by_text:
            raise RuleViolation(
                "move text",
                f"the moves {_make_excerpt(move)} and {_make_excerpt(move_by_text[text])} have the same text {text!r:.40}: move_to_text must tell them apart",
            )
        move_by_text[text] = move
    for text, move in move_by_text.items():
        restored_move = _call_game_method("move text", game.move_from_text, f" {text} ")
        if restored_move != move:
            raise RuleViolation(
                "move text",
                f"move_from_text({text!r:.40}) is {_make_excerpt(restored_move)}, not the move that has this text, {_make_excerpt(move)}",
            )


def _check_move_squares(
    game: Game[Any, Any], position: Any, moves: Sequence[Any], _known_moves: dict[Any, None]
) -> None:
    cell_count = game.board.cell_count if game.board is not None else 0
    for move in moves:
        squares = _call_game_method("board", game.squares, position, move)
        if not all(isinstance(cell, int) and 0 <= cell < cell_count for cell in squares):
            raise RuleViolation(
                "board",
                f"squares(position, {_make_excerpt(move)}) is {_make_excerpt(squares)}: the cells are 0 to {cell_count - 1}",
            )


def _call_game_method(rule: str, game_method: Callable[..., Any], *arguments: Any) -> Any:
    """Call a method of the game and return its result. If it raises an exception, raise a RuleViolation that names the line.

    rule  name of the rule that such an exception breaks
    """
    try:
        return game_method(*arguments)
    except RuleViolation:
        raise
    except Exception as error:
        message = str(error).partition("\n")[0]
        name = getattr(game_method, "__name__", "a method")
        raise RuleViolation(
            rule, f"{name} raised {type(error).__name__}: {message}{_format_error_line(error)}"
        ) from error


def _format_error_line(error: Exception) -> str:
    """Return ` (FILE, line N)`: the last line outside this package that the error passed through, usually in the game's file.

    Return an empty text if there is no such line.
    """
    own_folder = __file__.rpartition("/")[0]
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(own_folder)
    ]
    return f" ({frames[-1].filename.rpartition('/')[2]}, line {frames[-1].lineno})" if frames else ""


def _to_json(rule: str, data: Any) -> str:
    try:
        return json.dumps(data, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise RuleViolation(rule, f"{_make_excerpt(data)} is not plain data: {error}") from None


def _format_move(game: Game[Any, Any], move: Any) -> str:
    try:
        return game.move_to_text(move)
    except Exception:  # noqa: BLE001 - the rule `move text` reports what is wrong
        return _make_excerpt(move)


def _make_excerpt(quoted_value: Any) -> str:
    text = repr(quoted_value)
    return text if len(text) <= MAX_EXCERPT_CHARACTERS else f"{text[:MAX_EXCERPT_CHARACTERS]}…"

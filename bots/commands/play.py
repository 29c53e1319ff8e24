"""`arena play`: play against an engine at the terminal."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal

import typer

from arena.atomic_file import append_line_to_path
from arena.bots.api.bot import Match, Thinking
from arena.bots.client.local_match import LocalMatch
from arena.bots.client.state.moves import InvalidMoveValue
from arena.bots.commands.lookup import load_engine, load_game
from arena.bots.engines.registry import Engine, find_incompatibility_reason
from arena.console import (
    AdjudicateOption,
    CommandError,
    GameOption,
    MapOption,
    RecordOption,
    TimeOption,
    UsageError,
    explain_write_errors,
    is_option_given,
    out,
    parse_time_control_option,
    require_game_with_maps,
)
from arena.cores import list_usable_cores
from arena.games.core import AnyGame, GameError, Player
from arena.maps.game_on_map import DEFAULT_MAP
from arena.maps.terminal import print_position
from arena.match.adjudication import explain_missing_tablebase
from arena.protocol.adjudication import DEFAULT_ADJUDICATION, Adjudication, BadAdjudication
from arena.protocol.record import format_record_line
from arena.protocol.timecontrol import TimeControl

MOVE_PROMPT_HELP = """\
Type a move in the form that `moves` lists, or one of these words:
  moves    the legal moves
  show     the position again
  undo     take back your last move and the engine's answer
  resign   resign the match
  quit     leave the match unfinished (also Ctrl-D)"""


def play(
    context: typer.Context,
    engine: Annotated[
        str,
        typer.Argument(metavar="ENGINE", help="Engine to play against, e.g. greedy or alphabeta:depth=4."),
    ] = "alphabeta",
    seat: Annotated[
        Literal["maxie", "minnie"],
        typer.Option("--seat", metavar="maxie|minnie", help="Your seat; maxie moves first, minnie second."),
    ] = "maxie",
    game: GameOption = "riskless",
    map: MapOption = DEFAULT_MAP,
    tc: TimeOption = "1/move",
    record: RecordOption = None,
    adjudicate: AdjudicateOption = str(DEFAULT_ADJUDICATION),
) -> None:
    """Play against an engine at the terminal.

    You have unlimited time; --tc sets the clocks that the engine sees.

    Example: arena play alphabeta --map world --seat minnie
    """
    control = parse_time_control_option(tc)
    try:
        adjudication = Adjudication.parse(adjudicate)
    except BadAdjudication as error:
        raise UsageError(f"--adjudicate: {error}") from None
    opponent = load_engine(engine)
    loaded_game = load_game(game, map)
    if is_option_given(context, "map"):
        require_game_with_maps(game, type(loaded_game))
    reason = find_incompatibility_reason(engine, loaded_game)
    if reason is not None:
        raise UsageError(reason)
    reason = explain_missing_tablebase(adjudication, loaded_game)
    if reason is not None:
        raise UsageError(f"--adjudicate: the rule `table` cannot be used: {reason}")
    match = _open_match(opponent, loaded_game, Player(seat), control, adjudication)
    try:
        is_finished = _play_moves(
            match, loaded_game, Player(seat), lambda: print_position(loaded_game, match.position, out)
        )
    except KeyboardInterrupt:
        typer.echo("\nStopped: the match is unfinished.")
        raise typer.Exit(130) from None
    finally:
        match.end_and_close_bot()
    if record is not None:
        _save_record(match, record, is_finished=is_finished)


def _open_match(
    opponent: Engine,
    game: AnyGame,
    seat: Player,
    time_control: TimeControl,
    adjudication: Adjudication | None,
) -> LocalMatch:
    """Return a match between the user, who plays as `seat`, and the engine `opponent`. Raises CommandError if this fails."""
    maxie, minnie = ("you", opponent.name) if seat is Player.MAXIE else (opponent.name, "you")
    engine = opponent.describe(len(list_usable_cores()))
    match = Match(
        game,
        seat.opponent,
        maxie=maxie,
        minnie=minnie,
        time_control=time_control,
        threads=engine.threads or len(list_usable_cores()),
    )
    typer.echo(f"{opponent.name} prepares …")
    try:
        return LocalMatch(opponent.make_bot, match, engine, adjudication)
    except Exception as error:
        raise CommandError(
            f"{opponent.name} cannot play this match: {type(error).__name__}: {error}"
        ) from error


def _play_moves(match: LocalMatch, game: AnyGame, seat: Player, show_position: Callable[[], None]) -> bool:
    """Play until the match is over. Return True, or False if the user quits earlier.

    seat           seat of the user
    show_position  prints the current position
    """
    with suppress(ImportError):
        import readline  # noqa: F401, PLC0415 - adds line editing and history to input()
    typer.echo(f"You are {seat}. Type a move, or help.\n")
    show_position()
    while (result := match.result) is None:
        if game.player(match.position) is not seat:
            _play_engine_move(match, game)
            show_position()
            continue
        try:
            line = input(f"{seat} > ").strip()
        except EOFError:
            line = "quit"
            typer.echo()
        match line.lower():
            case "":
                pass
            case "help" | "?":
                typer.echo(MOVE_PROMPT_HELP)
            case "moves":
                typer.echo(", ".join(game.move_to_text(move) for move in game.moves(match.position)))
            case "show":
                show_position()
            case "undo":
                if match.undo():
                    show_position()
                else:
                    typer.echo("There is nothing to take back.")
            case "resign":
                match.resign(seat)
                typer.echo("You resign.")
                return True
            case "quit" | "exit":
                typer.echo("Bye: the match is unfinished.")
                return False
            case _:
                if _play_typed_move(match, game, line):
                    show_position()
    outcome_text = "You win" if result.winner == seat else "You lose" if result.winner else "A draw"
    typer.echo(f"{outcome_text}: {result.detail}.")
    return True


def _play_typed_move(match: LocalMatch, game: AnyGame, typed_text: str) -> bool:
    try:
        match.play_move(game.move_from_text(typed_text))
    except GameError as error:
        typer.echo(str(error))
        return False
    return True


def _play_engine_move(match: LocalMatch, game: AnyGame) -> None:
    name = match.match.maxie if match.match.seat is Player.MAXIE else match.match.minnie
    try:
        move, thinking = match.play_bot_move()
    except (GameError, InvalidMoveValue) as error:
        raise CommandError(f"{name} made an illegal move at ply {len(match.moves)}: {error}") from None
    except Exception as error:
        raise CommandError(
            f"{name} failed at ply {len(match.moves)}: {type(error).__name__}: {error}"
        ) from error
    typer.echo(f"\n{name} plays {game.move_to_text(move)}{_format_analysis(game, thinking)}\n")


def _format_analysis(game: AnyGame, thinking: Thinking | None) -> str:
    if thinking is None:
        return ""
    parts = []
    if thinking.depth is not None:
        parts.append(f"depth {thinking.depth}")
    if thinking.value is not None:
        parts.append(f"value {thinking.value:g}")
    if thinking.nodes is not None:
        parts.append(f"{thinking.nodes:,} nodes")
    if len(thinking.line) > 1:
        parts.append("then " + ", ".join(game.move_to_text(move) for move in thinking.line[1:6]))
    return f" ({'; '.join(parts)})" if parts else ""


def _save_record(match: LocalMatch, path: Path, *, is_finished: bool) -> None:
    if not is_finished:
        typer.echo("Nothing is recorded: the match is unfinished.")
        return
    with explain_write_errors(path):
        append_line_to_path(path, format_record_line(match.to_record()))
    typer.echo(f"The match is in {path}.")

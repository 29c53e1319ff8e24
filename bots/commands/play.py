"""`arena play`: a person at the terminal plays an engine."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal

import typer

from arena.bots.api.match import Match
from arena.bots.api.thinking import Thinking
from arena.bots.client.local import Local
from arena.bots.client.state.moves import BadChoice
from arena.bots.commands.options import load_engine, load_game
from arena.bots.engines.registry import Engine, refusal
from arena.console import (
    AdjudicateOption,
    Failure,
    GameOption,
    MapOption,
    Misuse,
    RecordOption,
    TimeOption,
    out,
)
from arena.cores import cores
from arena.games.core import AnyGame, GameError, Player
from arena.maps.board import print_position
from arena.maps.setup import DEFAULT_MAP
from arena.match.adjudication import lacks_table
from arena.protocol.adjudication import DEFAULT_RULES, Adjudication, BadAdjudication
from arena.protocol.record import to_line
from arena.protocol.timecontrol import BadTimeControl, TimeControl

HELP = """\
Type a move, as `moves` lists them, or one of these words:
  moves    the legal moves
  show     the position again
  undo     take back your last move and the answer to it
  resign   give up
  quit     leave without an end (Ctrl-D does the same)"""


def register(app: typer.Typer) -> None:
    """Add `arena play`."""
    app.command("play")(play)


def play(
    engine: Annotated[str, typer.Argument(help="The engine to play against.")] = "alphabeta",
    seat: Annotated[
        Literal["maxie", "minnie"],
        typer.Option("--seat", metavar="maxie|minnie", help="Yours; maxie begins."),
    ] = "maxie",
    game: GameOption = "riskless",
    map: MapOption = DEFAULT_MAP,
    tc: TimeOption = "1/move",
    record: RecordOption = None,
    adjudicate: AdjudicateOption = str(DEFAULT_RULES),
) -> None:
    """Play an engine at the terminal. You have all the time you want; --tc is the engine's.

    Example: arena play alphabeta --map world --seat minnie
    """
    try:
        control = TimeControl.parse(tc)
    except BadTimeControl as error:
        raise Misuse(f"--tc: {error}") from None
    try:
        adjudication = Adjudication.parse(adjudicate)
    except BadAdjudication as error:
        raise Misuse(f"--adjudicate: {error}") from None
    opponent = load_engine(engine)
    rules = load_game(game, map)
    why = refusal(engine, rules)
    if why is not None:
        raise Misuse(why)
    lacking = lacks_table(adjudication, rules)
    if lacking is not None:
        raise Misuse(f"--adjudicate: {lacking}")
    if record is not None:
        _check_writable(record)
    local = _open(opponent, rules, Player(seat), control, adjudication)
    try:
        ended = _converse(local, rules, Player(seat), lambda: print_position(rules, local.position, out))
    except KeyboardInterrupt:
        typer.echo("\nStopped: the match has no end.")
        raise
    finally:
        local.close()
    if record is not None:
        _keep(local, record, ended=ended)


def _open(
    opponent: Engine, game: AnyGame, seat: Player, control: TimeControl, adjudication: Adjudication | None
) -> Local:
    maxie, minnie = ("you", opponent.name) if seat is Player.MAXIE else (opponent.name, "you")
    engine = opponent.about(len(cores()))
    match = Match(
        game,
        seat.opponent,
        maxie=maxie,
        minnie=minnie,
        time_control=control,
        threads=engine.threads or len(cores()),
    )
    typer.echo(f"{opponent.name} prepares …")
    try:
        return Local(opponent.make, match, engine, adjudication)
    except Exception as error:
        raise Failure(f"{opponent.name} cannot play this: {type(error).__name__}: {error}") from error


def _converse(local: Local, game: AnyGame, seat: Player, show: Callable[[], None]) -> bool:
    """Play to the end. False when the person left before."""
    with suppress(ImportError):
        import readline  # noqa: F401, PLC0415 - so that the line can be edited, and the last ones come back
    typer.echo(f"You are {seat}. Type a move, or help.\n")
    show()
    while (result := local.result) is None:
        if game.player(local.position) is not seat:
            _answer(local, game)
            show()
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
                typer.echo(HELP)
            case "moves":
                typer.echo(", ".join(game.move_to_text(move) for move in game.moves(local.position)))
            case "show":
                show()
            case "undo":
                if local.undo():
                    show()
                else:
                    typer.echo("There is nothing to take back.")
            case "resign":
                local.resign(seat)
                typer.echo("You resign.")
                return True
            case "quit" | "exit":
                typer.echo("Bye: the match has no end.")
                return False
            case _:
                if _move(local, game, line):
                    show()
    won = "You win" if result.winner == seat else "You lose" if result.winner else "A draw"
    typer.echo(f"{won}: {result.detail}.")
    return True


def _move(local: Local, game: AnyGame, line: str) -> bool:
    try:
        local.play(game.move_from_text(line))
    except GameError as error:
        typer.echo(str(error))
        return False
    return True


def _answer(local: Local, game: AnyGame) -> None:
    name = local.match.maxie if local.match.seat is Player.MAXIE else local.match.minnie
    try:
        move, thinking = local.answer()
    except (GameError, BadChoice) as error:
        raise Failure(
            f"{name} made no move that the rules allow at ply {len(local.moves)}: {error}"
        ) from None
    except Exception as error:
        raise Failure(f"{name} failed at ply {len(local.moves)}: {type(error).__name__}: {error}") from error
    typer.echo(f"\n{name} plays {game.move_to_text(move)}{_figures(game, thinking)}\n")


def _figures(game: AnyGame, thinking: Thinking | None) -> str:
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


def _check_writable(path: Path) -> None:
    try:
        path.open("a").close()
    except OSError as error:
        raise Failure(f"cannot write {path}: {error.strerror}") from None


def _keep(local: Local, path: Path, *, ended: bool) -> None:
    if not ended:
        typer.echo("Nothing is recorded: the match has no end.")
        return
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(to_line(local.record()) + "\n")
    except OSError as error:
        raise Failure(f"cannot write {path}: {error.strerror}") from None
    typer.echo(f"The match is in {path}.")

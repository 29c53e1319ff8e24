"""The command `arena tune`: learn an evaluator's weights by self-play."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import Progress

from arena.bots.commands.lookup import load_game
from arena.bots.evaluators.catalogue import get_feature_function_and_names
from arena.bots.evaluators.linear import EVALUATOR_FILES_FOLDER, BadWeights, load_weights
from arena.bots.evaluators.outcomes import format_outcomes_file
from arena.console import (
    SeedOption,
    UsageError,
    get_progress_console,
    hide_progress,
    out,
    validate_output_file,
    write_text,
)
from arena.games.core import Game
from arena.games.riskless import Riskless
from arena.games.tictactoe import TicTacToe
from arena.lab.commands.map_loading import load_map_for_compiled_search
from arena.lab.variants import TRAINING_MAPS

if TYPE_CHECKING:
    from arena.lab.tuning import FitResult

WEIGHT_UNITS_COMMENT_BY_GAME = {
    Riskless.name: "Hundredths of an army per unit of each feature. bots/evaluators/riskless.py defines the features and their "
    "units on a map.",
    TicTacToe.name: "Hundredths of an open line per unit of each feature. bots/evaluators/tictactoe.py defines the features.",
}
"""Comment for the top of a weights file, which explains the unit of the weights, by the game's name."""
OUTCOMES_FILE_COMMENT = "Wins, draws and losses of the player to move, by category of positions. bots/evaluators/outcomes.py defines the categories."

AddProgressBar = Callable[[str, int], Callable[[], None]]
"""Function that adds a progress bar with a title and a number of steps, and returns a function to call after each step."""


def tune_command(
    game: Annotated[
        str,
        typer.Option(
            "--game", metavar="NAME", help="Game whose evaluator is trained: riskless or tictactoe."
        ),
    ] = Riskless.name,
    maps: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="MAP",
            help="Map to train on, e.g. world:cap=20,goal=240; may be repeated; default: twelve training maps.",
        ),
    ] = None,
    matches: Annotated[
        int,
        typer.Option(
            "--matches",
            metavar="N",
            min=5,
            max=100_000,
            help="Number of matches per map and generation.",
        ),
    ] = 60,
    generations: Annotated[
        int,
        typer.Option(
            "--generations",
            metavar="N",
            min=1,
            max=100,
            help="Number of generations, each of self-play and a fit of new weights.",
        ),
    ] = 2,
    nodes: Annotated[
        int,
        typer.Option(
            "--nodes",
            metavar="N",
            min=50,
            max=10_000_000,
            help="Nodes per move of self-play; the search that estimates positions gets ten times as many.",
        ),
    ] = 800,
    initial_weights_file: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="File of weights to start from; default: all 0 (with --outcomes: the game's shipped weights).",
        ),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(
            "--without",
            metavar="FEATURE",
            help="Feature to leave out of the evaluator (its weight stays 0); may be repeated.",
        ),
    ] = None,
    outcomes: Annotated[
        bool,
        typer.Option(
            "--outcomes",
            help="Train the evaluator `outcomes` (average result of positions that look alike), not `features`.",
        ),
    ] = False,
    output: Annotated[
        Path,
        typer.Option(
            "--out", metavar="FILE", callback=validate_output_file, help="Output file for the weights."
        ),
    ] = Path("weights.toml"),
    seed: SeedOption = 1,
) -> None:
    """Learn an evaluator's weights by self-play.

    Each generation plays matches from random openings that its weights consider nearly even. A deeper search then
    estimates the chance of winning in some positions of each match. The generation fits the weights to these chances,
    mixed with the results of the matches.

    The same command and seed give the same weights. The file is written after each generation, so Ctrl-C loses only the
    generation in progress. The default maps do not include those on which this project measures weights.

    Example: arena tune --generations 3 --out mine.toml, then
    arena match alphabeta:evaluator=mine.toml alphabeta:evaluator=plain

    Example: arena tune --game tictactoe --matches 200 --nodes 50

    Example: arena tune --outcomes --out mine-outcomes.toml, then arena match greedy:evaluator=mine-outcomes.toml greedy
    """
    from arena.lab.tuning import count_outcomes_by_category  # noqa: PLC0415 - an extra, and slow to load

    if game not in WEIGHT_UNITS_COMMENT_BY_GAME:
        raise UsageError(
            f"--game: {game} has no features to tune; choose {' or '.join(WEIGHT_UNITS_COMMENT_BY_GAME)}"
        )
    if game != Riskless.name and maps:
        raise UsageError(f"--map applies only to riskless: {game} has no maps")
    map_names = maps or (TRAINING_MAPS if game == Riskless.name else ())
    games: list[Game[Any, Any]] = [Riskless(load_map_for_compiled_search(name)) for name in map_names] or [
        load_game(game, "")
    ]
    _, feature_names = get_feature_function_and_names(games[0])
    initial_weights = _load_initial_weights(
        initial_weights_file or (EVALUATOR_FILES_FOLDER / f"{game}.toml" if outcomes else None), feature_names
    )
    _check_omitted_features(feature_names, without or ())
    initial_weights |= dict.fromkeys(without or (), 0)
    if str(output) == "-":
        raise UsageError("--out -: give a file, because the progress is on standard output")
    start_seconds = time.process_time()

    def describe_tuning_run(generation_count: int) -> list[str]:
        """Return lines about this run for the output file: CPU time so far, a command that repeats the run, and the maps."""
        command = [
            "arena tune",
            *(["--outcomes"] if outcomes else []),
            *([f"--game {game}"] if game != Riskless.name else []),
            *(f"--map {name}" for name in maps or ()),
            f"--matches {matches}",
            *([f"--generations {generation_count}"] if not outcomes else []),
            *(f"--without {name}" for name in without or ()),
            f"--nodes {nodes} --seed {seed}",
            *([f"--from {initial_weights_file.name}"] if initial_weights_file else []),
        ]
        verb = "Counted" if outcomes else "Learned by self-play"
        end = ", by" if outcomes else "; another search would learn other weights:"
        lines = [f"{verb} in {time.process_time() - start_seconds:,.0f} s of CPU time{end}"]
        return [*lines, f"  {' '.join(command)}", *([f"on {', '.join(map_names)}"] if map_names else [])]

    with Progress(console=get_progress_console(), transient=True) as bar:

        def add_progress_bar(title: str, total: int) -> Callable[[], None]:
            return partial(bar.advance, bar.add_task(title, total=total))

        if outcomes:
            outcomes_by_category = count_outcomes_by_category(
                games,
                initial_weights,
                match_count=matches,
                nodes_per_move=nodes,
                seed=seed,
                on_progress=add_progress_bar("matches", matches * len(games)),
            )
            comments = [OUTCOMES_FILE_COMMENT, *describe_tuning_run(generations)]
            comments.append(f"in matches of {format_weights(initial_weights)}")
            write_text(format_outcomes_file(comments, outcomes_by_category), output)
        else:
            steps: list[str] = []
            fits = _learn_weights(
                games,
                initial_weights,
                add_progress_bar,
                generation_count=generations,
                match_count=matches,
                nodes_per_move=nodes,
                seed=seed,
                untrained_features=without or (),
            )
            for generation, fit in enumerate(fits, 1):
                steps.append(_describe_generation(generation, fit))
                # Written after each generation, because Ctrl-C may end the command before the last one.
                comments = [
                    WEIGHT_UNITS_COMMENT_BY_GAME[game],
                    *describe_tuning_run(generation),
                    f"from {format_weights(initial_weights) if any(initial_weights.values()) else 'nothing: all 0'}",
                    *steps,
                ]
                write_text(format_weights_file(fit.weights, comments), output)
                with hide_progress(bar):
                    out.print(steps[-1])
    out.print(f"{'outcomes' if outcomes else 'weights'} in {output}")


def _check_omitted_features(feature_names: Sequence[str], omitted_features: Sequence[str]) -> None:
    """Raise UsageError if `omitted_features` (option --without) contains an unknown name, or all features."""
    for name in omitted_features:
        if name not in feature_names:
            raise UsageError(f"--without {name}: no such feature; choose from {', '.join(feature_names)}")
    if set(omitted_features) == set(feature_names):
        raise UsageError("--without names all features: leave at least one to the evaluator")


def _load_initial_weights(initial_weights_file: Path | None, feature_names: Sequence[str]) -> dict[str, int]:
    if initial_weights_file is None:
        return dict.fromkeys(feature_names, 0)
    try:
        return dict(load_weights(initial_weights_file, feature_names))
    except BadWeights as problem:
        raise UsageError(f"--from: {problem}") from None


def _learn_weights(
    games: Sequence[Game[Any, Any]],
    weights: Mapping[str, int],
    add_progress_bar: AddProgressBar,
    *,
    generation_count: int,
    match_count: int,
    nodes_per_move: int,
    seed: int,
    untrained_features: Sequence[str],
) -> Iterator[FitResult]:
    """Yield the new weights after each generation of self-play, with the quality of their fit.

    weights             weights with which the first generation plays
    add_progress_bar    function that adds the progress bar of one generation
    match_count         number of matches of each game in a generation
    nodes_per_move      number of nodes searched for each move
    untrained_features  names of the features whose weights stay unchanged
    """
    from arena.lab.tuning import fit_weights, play_training_matches  # noqa: PLC0415 - an extra, and slow to load

    for generation in range(1, generation_count + 1):
        samples = play_training_matches(
            games,
            weights,
            match_count=match_count,
            nodes_per_move=nodes_per_move,
            seed=seed + generation - 1,
            on_progress=add_progress_bar(f"generation {generation}", match_count * len(games)),
        )
        fit = fit_weights(samples, weights, untrained_features)
        weights = fit.weights
        yield fit


def _describe_generation(generation: int, fit: FitResult) -> str:
    """Return a line about a generation and the quality of its fit, for the terminal and the weights file."""
    return (
        f"generation {generation}: {fit.match_count} matches, {fit.sample_count:,} positions; loss in bits "
        f"{fit.loss_before:.3f} -> {fit.loss_after:.3f}, held out {fit.held_out_loss_before:.3f} -> "
        f"{fit.held_out_loss_after:.3f}; {format_weights(fit.weights)}"
    )


def format_weights(weights: Mapping[str, int]) -> str:
    """Return weights as a line of text, such as `armies 100, attacks -3`."""
    return ", ".join(f"{name} {value}" for name, value in weights.items())


def format_weights_file(weights: Mapping[str, int], comments: Sequence[str]) -> str:
    """Return the text of a weights file: a comment for each line in `comments`, then the weights."""
    return "\n".join(
        [
            *(f"# {line}" for line in comments),
            "[weights]",
            *(f"{name} = {weight}" for name, weight in weights.items()),
            "",
        ]
    )

"""`arena tune`: learn an evaluator's weights by self-play."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import Progress

from arena.bots.commands.game_option import load_game
from arena.bots.evaluators.catalogue import features_of
from arena.bots.evaluators.outcomes import outcomes_text
from arena.bots.evaluators.weights import FOLDER, BadWeights, load_weights
from arena.console import Failure, Misuse, SeedOption, err, out
from arena.games.core import Game
from arena.games.riskless import Riskless
from arena.games.tictactoe import TicTacToe
from arena.lab.commands.compiled_map import compiled_map
from arena.lab.variants import TRAINING

UNITS = {
    Riskless.name: "Hundredths of an army for each unit of a feature; bots/evaluators/riskless.py says what they count, and how "
    "they are made to fit a map.",
    TicTacToe.name: "Hundredths of an open line; bots/evaluators/tictactoe.py says what the features count.",
}
CATEGORIES = "For each category of positions how often who was to move won, drew and lost; bots/evaluators/outcomes.py says which."

Task = Callable[[str, int], Callable[[], None]]
"""Begins a part of the work, of so many steps; what it returns is called after each."""


def register(app: typer.Typer) -> None:
    """Add `arena tune`."""
    app.command("tune")(tune_command)


def tune_command(
    game: Annotated[
        str, typer.Option("--game", metavar="NAME", help="riskless or tictactoe: whose evaluator learns.")
    ] = Riskless.name,
    maps: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="MAP",
            help="A map to play on, as in world, world:cap=20,goal=240 or planar:24:7; several times for several. Else a set "
            "of maps that differ in size, cap and goal.",
        ),
    ] = None,
    matches: Annotated[
        int, typer.Option("--matches", metavar="N", min=5, max=100_000, help="On each map, each generation.")
    ] = 60,
    generations: Annotated[
        int,
        typer.Option(
            "--generations", metavar="N", min=0, max=100, help="Each plays with the last one's weights."
        ),
    ] = 2,
    rounds: Annotated[
        int,
        typer.Option(
            "--climb", metavar="N", min=0, max=100_000, help="Rounds of matches that move the weights then."
        ),
    ] = 0,
    nodes: Annotated[
        int,
        typer.Option("--nodes", metavar="N", min=50, max=10_000_000, help="Nodes of a search for each move."),
    ] = 800,
    first: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE", help="The weights to begin with; else none: all 0."),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(
            "--without",
            metavar="FEATURE",
            help="A feature whose weight stays 0, or as --from has it; several times for several.",
        ),
    ] = None,
    outcomes: Annotated[
        bool,
        typer.Option(
            "--outcomes",
            help="Learn no weights but the expected outcome of each category of positions, from matches of the weights that "
            "ship, or of --from.",
        ),
    ] = False,
    to: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where the learned weights go.")] = Path(
        "weights.toml"
    ),
    seed: SeedOption = 1,
) -> None:
    """Learn the weights of an evaluator's features by self-play, from nothing, and write them with how they were made.

    Every generation plays matches from random openings and, in Riskless, from armies scattered anywhere, and fits
    the weights to how the matches ended: a few hundredths of a second a match. With --climb the weights then go where
    they win: a round lets weights moved a step one way play those moved the other way, two pairs on each map, and takes
    a second or two. A weight that is 0 stays so there. Nothing is learned from the held-out maps, on which
    weights are measured. The same command and seed learn the same weights.

    Example: arena tune --generations 3 --climb 100 --out mine.toml, then
    arena match alphabeta:evaluator=mine.toml alphabeta:evaluator=plain

    Example: arena tune --game tictactoe --matches 200 --nodes 50

    Example: arena tune --outcomes --out mine-outcomes.toml, then arena match greedy:evaluator=mine-outcomes.toml greedy
    """
    from arena.lab.tuning.fit import count_outcomes  # noqa: PLC0415 - an extra, and slow to load

    if game != Riskless.name and maps:
        raise Misuse(f"--map is an option of Riskless: {game} has no maps")
    names = maps or (TRAINING if game == Riskless.name else ())
    games: list[Game[Any, Any]] = [Riskless(compiled_map(name)) for name in names] or [load_game(game, "")]
    known = features_of(games[0])
    if known is None:
        raise Misuse(f"--game: {game} has no features to weigh")
    begun = _first_weights(first or (FOLDER / f"{game}.toml" if outcomes else None), known[1])
    _check(known[1], begun, generations, rounds, without or (), outcomes=outcomes)
    command = " ".join(
        [
            "arena tune",
            *(["--outcomes"] if outcomes else []),
            *([f"--game {game}"] if game != Riskless.name else []),
            *(f"--map {name}" for name in maps or ()),
            *([f"--matches {matches}"] if generations else []),
            *([f"--generations {generations}"] if not outcomes else []),
            *([f"--climb {rounds}"] if rounds else []),
            *(f"--without {name}" for name in without or ()),
            f"--nodes {nodes} --seed {seed}",
            *([f"--from {first.name}"] if first else []),
        ]
    )
    began = time.process_time()
    with Progress(console=err, transient=True) as bar:

        def task(what: str, total: int) -> Callable[[], None]:
            return partial(bar.advance, bar.add_task(what, total=total))

        if outcomes:
            progress = task("matches", matches * len(games))
            found = count_outcomes(games, begun, matches=matches, nodes=nodes, seed=seed, progress=progress)
        else:
            plan = _Plan(games, generations, matches, rounds, nodes, seed, tuple(without or ()))
            weights, steps = _learn(plan, begun, task)
    seconds = f"{time.process_time() - began:,.0f} s of one processor's time"
    on = [f"on {', '.join(names)}"] if names else []
    if outcomes:
        lines = [f"Counted in {seconds}, by", f"  {command}", *on, f"in matches of {listed(begun)}"]
        _write(outcomes_text([CATEGORIES, *lines], found), to, "outcomes")
        return
    lines = [
        f"Learned by self-play in {seconds}; another search would learn other weights:",
        f"  {command}",
        *on,
        f"from {listed(begun) if any(begun.values()) else 'nothing: all 0'}",
        *steps,
    ]
    _write(weights_text(known[1], weights, [UNITS[game], *lines]), to, "weights")


def _check(
    names: Sequence[str],
    begun: Mapping[str, int],
    generations: int,
    rounds: int,
    without: Sequence[str],
    *,
    outcomes: bool,
) -> None:
    """Raise Misuse for options that do not go together."""
    if outcomes and rounds:
        raise Misuse("--outcomes counts matches: it goes without --climb")
    if outcomes:
        return
    for name in set(without) - set(names):
        raise Misuse(f"--without {name}: there is no such feature, but {', '.join(names)}")
    if generations:
        return
    if not rounds:
        raise Misuse("--generations 0 learns nothing without --climb")
    if without:
        raise Misuse("--without needs --generations: --climb alone keeps weights of 0 as they are")
    if not any(begun.values()):
        raise Misuse("--climb keeps weights of 0 as they are: without --generations it needs --from")


def _write(text: str, to: Path, what: str) -> None:
    try:
        to.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Failure(f"cannot write {to}: {error.strerror}") from None
    out.print(f"{what} in {to}", highlight=False, soft_wrap=True)


def _first_weights(first: Path | None, names: Sequence[str]) -> Mapping[str, int]:
    if first is None:
        return dict.fromkeys(names, 0)
    try:
        return load_weights(first, names)
    except BadWeights as problem:
        raise Misuse(f"--from: {problem}") from None


@dataclass(frozen=True)
class _Plan:
    """Games to learn from, and how much."""

    games: Sequence[Game[Any, Any]]
    generations: int
    matches: int
    rounds: int
    nodes: int
    seed: int
    without: Sequence[str]


def _learn(plan: _Plan, weights: Mapping[str, int], task: Task) -> tuple[Mapping[str, int], list[str]]:
    """The weights after all generations and the climb, and a line on each step."""
    from arena.lab.tuning.climb import climb  # noqa: PLC0415 - an extra, and slow to load
    from arena.lab.tuning.fit import fit, self_play  # noqa: PLC0415

    steps: list[str] = []
    for generation in range(1, plan.generations + 1):
        samples = self_play(
            plan.games,
            weights,
            matches=plan.matches,
            nodes=plan.nodes,
            seed=plan.seed + generation - 1,
            progress=task(f"generation {generation}", plan.matches * len(plan.games)),
        )
        fitted = fit(samples, list(weights), weights, plan.without)
        weights = fitted.weights
        steps.append(
            f"generation {generation}: {fitted.matches} matches, {fitted.samples:,} positions; loss in bits "
            f"{fitted.before:.3f} -> {fitted.after:.3f}, held out {fitted.held_out_before:.3f} -> "
            f"{fitted.held_out_after:.3f}; {listed(weights)}"
        )
        out.print(steps[-1], highlight=False, soft_wrap=True)
    if plan.rounds:
        climbed = climb(
            plan.games,
            weights,
            rounds=plan.rounds,
            nodes=plan.nodes,
            seed=plan.seed,
            progress=task("climb", plan.rounds),
        )
        weights, parts = climbed.weights, len(climbed.stages)
        for number, stage in enumerate(climbed.stages, 1):
            steps.append(f"climb, round {climbed.rounds * number // parts}: {listed(stage)}")
        steps.append(
            f"climb: {climbed.rounds} rounds, {climbed.pairs:,} pairs; mean of the second half: {listed(weights)}"
        )
        out.print(steps[-1], highlight=False, soft_wrap=True)
    return weights, steps


def listed(weights: Mapping[str, int]) -> str:
    """Weights on one line."""
    return ", ".join(f"{name} {value}" for name, value in weights.items())


def weights_text(names: Sequence[str], weights: Mapping[str, int], lines: Sequence[str]) -> str:
    """The weights file: the weights, and above them how they were made."""
    return "\n".join(
        [*(f"# {line}" for line in lines), "[weights]", *(f"{name} = {weights[name]}" for name in names), ""]
    )

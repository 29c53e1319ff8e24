"""`arena tune`: learn an evaluator's weights by self-play."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import Progress

from bots.commands.game_option import load_game
from bots.evaluators.riskless import NAMES
from bots.evaluators.weights import FOLDER, BadWeights, load_weights
from console import Failure, JsonOption, Misuse, SeedOption, err, out, write_json
from games.riskless import Riskless

if TYPE_CHECKING:
    from bots.compiled.climb import Climb
    from bots.compiled.tune import Fit

MAPS = ["m1", "m2", "grid:5x5", "usa", "world"]


def register(app: typer.Typer) -> None:
    """Add `arena tune`."""
    app.command("tune")(tune_command)


def tune_command(
    maps: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="MAP", help="A map to play on; several times for several."),
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
            "--climb",
            metavar="N",
            min=0,
            max=100_000,
            help="Rounds of matches that move the weights afterwards.",
        ),
    ] = 0,
    nodes: Annotated[
        int,
        typer.Option("--nodes", metavar="N", min=50, max=10_000_000, help="Nodes of a search for each move."),
    ] = 800,
    first: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE", help="The weights to begin with; else those that ship."),
    ] = None,
    to: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where the learned weights go.")] = Path(
        "weights.toml"
    ),
    seed: SeedOption = 1,
    json: JsonOption = None,
) -> None:
    """Learn the weights of Riskless's features by self-play, and write them with how they were made.

    Every generation plays matches from random openings and from armies scattered anywhere, and fits
    the weights to how the matches ended. A tenth of a second a match on a small map, a second on a
    large one. With --climb the weights then go where they win: a round lets weights moved a step one way
    play those moved the other way, two pairs on each map, and takes a second or two. A weight that is 0
    stays so there.

    Example: arena tune --map m2 --map world --matches 100 --out mine.toml, then
    arena match alphabeta:evaluator=mine.toml alphabeta:evaluator=plain
    """
    try:
        from bots.compiled.climb import climb  # noqa: PLC0415 - an extra, and slow to load
        from bots.compiled.tune import fit, self_play  # noqa: PLC0415
    except ModuleNotFoundError as missing:
        raise Failure(f"arena tune needs the extra `engine`: {missing}") from None
    names = maps or MAPS
    games = [_riskless(name) for name in names]
    try:
        weights = load_weights(first or FOLDER / "riskless.toml", NAMES)
    except BadWeights as problem:
        raise Misuse(f"--from: {problem}") from None
    if not generations and not rounds:
        raise Misuse("--generations 0 learns nothing without --climb")
    begun = weights = {name: weights[name] for name in NAMES}
    if rounds and not weights[NAMES[0]]:
        raise Misuse(f"--climb keeps the weight of {NAMES[0]} as the unit: it must not be 0")
    fits: list[Fit] = []
    climbed: Climb | None = None
    with Progress(console=err, transient=True) as bar:
        for generation in range(generations):
            task = bar.add_task(f"generation {generation + 1}", total=matches * len(games))
            samples = self_play(
                games,
                weights,
                matches=matches,
                nodes=nodes,
                seed=seed + generation,
                progress=partial(bar.advance, task),
            )
            fits.append(fit(samples, NAMES, weights))
            weights = fits[-1].weights
            out.print(describe(generation + 1, fits[-1]), highlight=False, soft_wrap=True)
        if rounds:
            task = bar.add_task("climb", total=rounds)
            step = partial(bar.advance, task)
            climbed = climb(games, weights, rounds=rounds, nodes=nodes, seed=seed, progress=step)
            weights = climbed.weights
            out.print(told(climbed), highlight=False, soft_wrap=True)
    command = " ".join(
        [
            "arena tune",
            *(f"--map {name}" for name in names),
            *([f"--matches {matches}"] if generations else []),
            f"--generations {generations}",
            *([f"--climb {rounds}"] if rounds else []),
            f"--nodes {nodes} --seed {seed}",
            *([f"--from {first.name}"] if first else []),
        ]
    )
    steps = [describe(number, each) for number, each in enumerate(fits, 1)]
    if climbed is not None:
        steps += [*climbed_stages(climbed), told(climbed)]
    text = weights_text(command, begun, steps, weights)
    try:
        to.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Failure(f"cannot write {to}: {error.strerror}") from None
    out.print(f"weights in {to}", highlight=False, soft_wrap=True)
    if json is not None:
        rows = [fit_data(each) for each in fits]
        if climbed is not None:
            rows.append({"weights": dict(climbed.weights), "rounds": climbed.rounds, "pairs": climbed.pairs})
        write_json(rows, json)


def _riskless(name: str) -> Riskless:
    from bots.compiled.limits import MAX_CAP, MAX_TERRITORIES, fits  # noqa: PLC0415

    game = load_game("riskless", name)
    if not isinstance(game, Riskless):
        raise Misuse(f"--map: {name} is no map of riskless")
    if not fits(game):
        raise Misuse(
            f"--map: {name} is too large to tune on: at most {MAX_TERRITORIES} territories, cap {MAX_CAP}"
        )
    return game


def describe(generation: int, fit: Fit) -> str:
    """One line on a generation: the games, the losses, the weights."""
    return (
        f"generation {generation}: {fit.matches} matches, {fit.samples:,} positions; loss in bits "
        f"{fit.before:.3f} -> {fit.after:.3f}, held out {fit.held_out_before:.3f} -> "
        f"{fit.held_out_after:.3f}; {_listed(fit.weights)}"
    )


def _listed(weights: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {value}" for name, value in weights.items())


def fit_data(fit: Fit) -> dict[str, object]:
    """A generation as plain data."""
    return {
        "weights": dict(fit.weights),
        "matches": fit.matches,
        "samples": fit.samples,
        "loss": fit.after,
        "loss_before": fit.before,
        "held_out_loss": fit.held_out_after,
        "held_out_loss_before": fit.held_out_before,
    }


def climbed_stages(climbed: Climb) -> list[str]:
    """A line for each tenth of the rounds: where the weights stood."""
    parts = len(climbed.stages)
    return [
        f"climb, round {climbed.rounds * number // parts}: {_listed(stage)}"
        for number, stage in enumerate(climbed.stages, 1)
    ]


def told(climbed: Climb) -> str:
    """What came of the climb, on one line."""
    return (
        f"climb: {climbed.rounds} rounds, {climbed.pairs:,} pairs; mean of the second half: "
        f"{_listed(climbed.weights)}"
    )


def weights_text(
    command: str, begun: Mapping[str, int], steps: Sequence[str], weights: Mapping[str, int]
) -> str:
    """The weights file: the weights, and above them how they were made."""
    lines = [
        "# Hundredths of an army for each unit of a feature; bots/evaluators/riskless.py says what they count.",
        "# Learned by self-play; another search plays other matches, and so learns other weights:",
        f"#   {command}",
        f"# from {_listed(begun)}",
        *(f"# {step}" for step in steps),
        "[weights]",
        *(f"{name} = {value}" for name, value in weights.items()),
    ]
    return "\n".join(lines) + "\n"

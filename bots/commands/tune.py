"""`arena tune`: learn an evaluator's weights by self-play, or from the truth of solved maps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import Progress

from bots.commands.game_option import load_game
from bots.commands.tune_solved import duels, learn, solutions_of
from bots.evaluators.riskless import NAMES
from bots.evaluators.weights import FOLDER, BadWeights, load_weights
from console import Failure, JsonOption, Misuse, SeedOption, err, out, write_json
from games.riskless import Riskless

if TYPE_CHECKING:
    from bots.compiled.climb import Climb
    from bots.compiled.tune import Fit

MAPS = ["m1", "m2", "grid:5x5", "usa", "world"]
SOLVED = ["path4", "m1"]
"""What is learned from with --from-solved, unless maps are named."""
HELD_OUT = ["m2", "italy"]


def register(app: typer.Typer) -> None:
    """Add `arena tune`."""
    app.command("tune")(tune_command)


def tune_command(
    maps: Annotated[
        list[str] | None, typer.Option("--map", help="A map to play on; several times for several.")
    ] = None,
    matches: Annotated[
        int, typer.Option("--matches", min=5, max=100_000, help="On each map, each generation.")
    ] = 60,
    generations: Annotated[
        int, typer.Option("--generations", min=0, max=100, help="Each plays with the last one's weights.")
    ] = 2,
    rounds: Annotated[
        int,
        typer.Option(
            "--climb", min=0, max=100_000, help="Rounds of matches that move the weights afterwards."
        ),
    ] = 0,
    nodes: Annotated[
        int, typer.Option("--nodes", min=50, max=10_000_000, help="Nodes of a search for each move.")
    ] = 800,
    first: Annotated[
        Path | None, typer.Option("--from", help="The weights to begin with; else those that ship.")
    ] = None,
    from_solved: Annotated[
        bool,
        typer.Option(
            "--from-solved",
            help="Fit to what the positions of the matches are truly worth: every --map is a solved one.",
        ),
    ] = False,
    held_out: Annotated[
        list[str] | None,
        typer.Option(
            "--held-out",
            metavar="MAP",
            help="--from-solved: a map that was not learned from, to play on against self-play; several times for several.",
        ),
    ] = None,
    pairs: Annotated[
        int,
        typer.Option(
            "--pairs",
            min=0,
            max=100_000,
            help="--from-solved: pairs on each of these maps; 0: none are played.",
        ),
    ] = 50,
    to: Annotated[Path, typer.Option("--out", help="Where the learned weights go.")] = Path("weights.toml"),
    seed: SeedOption = 1,
    json: JsonOption = None,
) -> None:
    """Learn the weights of Riskless's features by self-play, and write them with how they were made.

    Every generation plays matches from random openings and from armies scattered anywhere, and fits
    the weights to how the matches ended. A tenth of a second a match on a small map, a second on a
    large one. With --climb the weights then go where they win: a round lets weights moved a step one way
    play those moved the other way, two pairs on each map, and takes a second or two. A weight that is 0
    stays so there.

    With --from-solved the maps are solved ones (`arena solve`), and the weights are fitted to the exact values of the matches'
    positions. The same matches also teach weights from how they ended; then both play on maps that were not learned from,
    which tells what the truth of small maps is worth elsewhere.

    Example: arena tune --map m2 --map world --matches 100 --out mine.toml, then
    arena match alphabeta:evaluator=mine.toml alphabeta:evaluator=plain

    Example: arena tune --from-solved --map path4 --map m1 --matches 300 --generations 1 --held-out m2 --pairs 100
    """
    try:
        import bots.compiled.tune  # noqa: F401, PLC0415 - an extra, and slow to load
    except ModuleNotFoundError as missing:
        raise Failure(f"arena tune needs the extra `engine`: {missing}") from None
    names = maps or (SOLVED if from_solved else MAPS)
    games = [_riskless(name) for name in names]
    if not from_solved and (held_out or (not generations and not rounds)):
        raise Misuse(
            "--held-out is an option of --from-solved"
            if held_out
            else "--generations 0 learns nothing without --climb"
        )
    begun = _first_weights(first, climbing=rounds > 0)
    given = _Given(games, begun, generations, matches, rounds, nodes, seed)
    if from_solved:
        unseen = [name for name in HELD_OUT if name not in names]
        others = _others(held_out or unseen, games) if pairs else []
        learned = _from_truth(given, others, pairs)
    else:
        others = []
        learned = _from_play(given)
    command = " ".join(
        [
            "arena tune",
            *(["--from-solved"] if from_solved else []),
            *(f"--map {name}" for name in names),
            *([f"--matches {matches}"] if generations else []),
            f"--generations {generations}",
            *([f"--climb {rounds}"] if rounds else []),
            f"--nodes {nodes} --seed {seed}",
            *(f"--held-out {game.map.name}" for game in others),
            *([f"--pairs {pairs}"] if from_solved else []),
            *([f"--from {first.name}"] if first else []),
        ]
    )
    how = "from the truth of solved maps" if from_solved else "by self-play"
    text = weights_text(command, begun, learned.steps, learned.weights, how)
    try:
        to.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Failure(f"cannot write {to}: {error.strerror}") from None
    out.print(f"weights in {to}", highlight=False, soft_wrap=True)
    if json is not None:
        write_json(learned.rows, json)


@dataclass(frozen=True)
class _Given:
    """What is learned from, and how much."""

    games: Sequence[Riskless]
    weights: Mapping[str, int]
    generations: int
    matches: int
    rounds: int
    nodes: int
    seed: int


@dataclass(frozen=True)
class _Learned:
    """The weights, how they came about a line each, and the same as plain data."""

    weights: Mapping[str, int]
    steps: Sequence[str]
    rows: list[dict[str, object]]


def _first_weights(first: Path | None, *, climbing: bool) -> Mapping[str, int]:
    try:
        weights = load_weights(first or FOLDER / "riskless.toml", NAMES)
    except BadWeights as problem:
        raise Misuse(f"--from: {problem}") from None
    if climbing and not weights[NAMES[0]]:
        raise Misuse(f"--climb keeps the weight of {NAMES[0]} as the unit: it must not be 0")
    return {name: weights[name] for name in NAMES}


def _others(names: Sequence[str], games: Sequence[Riskless]) -> list[Riskless]:
    """The maps that are held out."""
    others = [_riskless(name) for name in names]
    both = {game.map.name for game in games} & {game.map.name for game in others}
    if both:
        raise Misuse(f"--held-out {min(both)}: it is learned from, so it tells nothing of other maps")
    return others


def _from_truth(given: _Given, others: Sequence[Riskless], pairs: int) -> _Learned:
    if given.rounds or not given.generations:
        raise Misuse(
            "--from-solved learns in generations, without --climb: climb afterwards, --from what it has written"
        )
    solutions = solutions_of(given.games)
    with Progress(console=err, transient=True) as bar:

        def task(what: str, total: int) -> Callable[[], None]:
            return partial(bar.advance, bar.add_task(what, total=total))

        learned = learn(
            given.games,
            solutions,
            given.weights,
            generations=given.generations,
            matches=given.matches,
            nodes=given.nodes,
            seed=given.seed,
            task=task,
        )
        steps = []
        for number, (one, other) in enumerate(zip(learned.truth, learned.play, strict=True), 1):
            steps += [f"truth, {describe(number, one)}", f"self-play, {describe(number, other)}"]
        out.print("\n".join(steps), highlight=False, soft_wrap=True)
        rows = [fit_data(each) for each in learned.truth]
        for duel in duels(
            others, learned, given.weights, pairs=pairs, nodes=given.nodes, seed=given.seed, task=task
        ):
            steps.append(f"held out, {duel}")
            rows.append(duel.data())
            out.print(steps[-1], highlight=False, soft_wrap=True)
    return _Learned(learned.truth[-1].weights, steps, rows)


def _from_play(given: _Given) -> _Learned:
    from bots.compiled.climb import climb  # noqa: PLC0415 - an extra, and slow to load
    from bots.compiled.tune import fit, self_play  # noqa: PLC0415

    weights = given.weights
    steps: list[str] = []
    rows: list[dict[str, object]] = []
    with Progress(console=err, transient=True) as bar:
        for generation in range(given.generations):
            task = bar.add_task(f"generation {generation + 1}", total=given.matches * len(given.games))
            samples = self_play(
                given.games,
                weights,
                matches=given.matches,
                nodes=given.nodes,
                seed=given.seed + generation,
                progress=partial(bar.advance, task),
            )
            fitted = fit(samples, NAMES, weights)
            weights = fitted.weights
            steps.append(describe(generation + 1, fitted))
            rows.append(fit_data(fitted))
            out.print(steps[-1], highlight=False, soft_wrap=True)
        if given.rounds:
            task = bar.add_task("climb", total=given.rounds)
            climbed = climb(
                given.games,
                weights,
                rounds=given.rounds,
                nodes=given.nodes,
                seed=given.seed,
                progress=partial(bar.advance, task),
            )
            weights = climbed.weights
            steps += [*climbed_stages(climbed), told(climbed)]
            rows.append({"weights": dict(weights), "rounds": climbed.rounds, "pairs": climbed.pairs})
            out.print(steps[-1], highlight=False, soft_wrap=True)
    return _Learned(weights, steps, rows)


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
    command: str, begun: Mapping[str, int], steps: Sequence[str], weights: Mapping[str, int], how: str
) -> str:
    """The weights file: the weights, and above them how they were made."""
    lines = [
        "# Hundredths of an army for each unit of a feature; bots/evaluators/riskless.py says what they count.",
        f"# Learned {how}; another search plays other matches, and so learns other weights:",
        f"#   {command}",
        f"# from {_listed(begun)}",
        *(f"# {step}" for step in steps),
        "[weights]",
        *(f"{name} = {value}" for name, value in weights.items()),
    ]
    return "\n".join(lines) + "\n"

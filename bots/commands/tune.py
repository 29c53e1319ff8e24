"""`arena tune`: learn an evaluator's weights by self-play, or from the truth of solved maps."""

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
from arena.bots.commands.tune_solved import duels, learn, solutions_of
from arena.bots.commands.tune_text import climbed_stages, describe, fit_data, listed, told, weights_text
from arena.bots.evaluators.catalogue import features_of
from arena.bots.evaluators.outcomes import outcomes_text
from arena.bots.evaluators.weights import FOLDER, BadWeights, load_weights
from arena.console import Failure, JsonOption, Misuse, SeedOption, err, out, write_json
from arena.games.core import Game
from arena.games.riskless import Riskless
from arena.maps.loader import MapError
from arena.maps.variants import TRAINING, variant

SOLVED = ["path4", "m1"]
"""What is learned from with --from-solved, unless maps are named."""
HELD_OUT = ["m2", "italy"]


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
            metavar="N",
            min=0,
            max=100_000,
            help="--from-solved: pairs on each of these maps; 0: none are played.",
        ),
    ] = 50,
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
    json: JsonOption = None,
) -> None:
    """Learn the weights of an evaluator's features by self-play, from nothing, and write them with how they were made.

    Every generation plays matches from random openings and, in Riskless, from armies scattered anywhere, and fits
    the weights to how the matches ended: a few hundredths of a second a match. With --climb the weights then go where
    they win: a round lets weights moved a step one way play those moved the other way, two pairs on each map, and takes
    a second or two. A weight that is 0 stays so there. Nothing is learned from the held-out maps, on which
    weights are measured. The same command and seed learn the same weights.

    With --from-solved the maps are solved ones (`arena solve`), and the weights are fitted to the exact values of the matches'
    positions. The same matches also teach weights from how they ended; then both play on maps that were not learned from,
    which tells what the truth of small maps is worth elsewhere.

    Example: arena tune --generations 3 --climb 100 --out mine.toml, then
    arena match alphabeta:evaluator=mine.toml alphabeta:evaluator=plain

    Example: arena tune --game tictactoe --matches 200 --nodes 50

    Example: arena tune --outcomes --out mine-outcomes.toml, then arena match greedy:evaluator=mine-outcomes.toml greedy

    Example: arena tune --from-solved --map path4 --map m1 --matches 300 --generations 1 --held-out m2 --pairs 100
    """
    import arena.bots.compiled.learning.tune  # noqa: F401, PLC0415 - an extra, and slow to load

    if game != Riskless.name and (maps or from_solved):
        raise Misuse(f"{'--map' if maps else '--from-solved'} is an option of Riskless: {game} has no maps")
    names = maps or (SOLVED if from_solved else TRAINING if game == Riskless.name else ())
    games: list[Game[Any, Any]] = [_riskless(name) for name in names] or [load_game(game, "")]
    known = features_of(games[0])
    if known is None:
        raise Misuse(f"--game: {game} has no features to weigh")
    if outcomes:
        if from_solved or rounds:
            raise Misuse(
                f"--outcomes counts matches: it goes without {'--from-solved' if from_solved else '--climb'}"
            )
        playing = _first_weights(first or FOLDER / f"{game}.toml", known[1])
        given = _Given(games, playing, 1, matches, 0, nodes, seed)
        _learn_outcomes(given, game, maps or (), names, first, to)
        return
    if not from_solved and (held_out or (not generations and not rounds)):
        raise Misuse(
            "--held-out is an option of --from-solved"
            if held_out
            else "--generations 0 learns nothing without --climb"
        )
    begun = _first_weights(first, known[1])
    for name in set(without or ()) - set(known[1]):
        raise Misuse(f"--without {name}: there is no such feature, but {', '.join(known[1])}")
    if without and (from_solved or not generations):
        raise Misuse(
            "--without is for generations of self-play: --climb alone keeps weights of 0 as they are"
        )
    if not generations and not any(begun.values()):
        raise Misuse("--climb keeps weights of 0 as they are: without --generations it needs --from")
    given = _Given(games, begun, generations, matches, rounds, nodes, seed, tuple(without or ()))
    began = time.process_time()
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
            *([f"--game {game}"] if game != Riskless.name else []),
            *(["--from-solved"] if from_solved else []),
            *(f"--map {name}" for name in maps or ()),
            *([f"--matches {matches}"] if generations else []),
            f"--generations {generations}",
            *([f"--climb {rounds}"] if rounds else []),
            *(f"--without {name}" for name in without or ()),
            f"--nodes {nodes} --seed {seed}",
            *(f"--held-out {game.map.name}" for game in others),
            *([f"--pairs {pairs}"] if from_solved else []),
            *([f"--from {first.name}"] if first else []),
        ]
    )
    seconds = time.process_time() - began
    how = "from the truth of solved maps" if from_solved else "by self-play"
    text = weights_text(
        known[1],
        learned.weights,
        [
            f"Learned {how} in {seconds:,.0f} s of one processor's time; another search would learn other weights:",
            f"  {command}",
            *([f"on {', '.join(names)}"] if names else []),
            f"from {listed(begun) if any(begun.values()) else 'nothing: all 0'}",
            *learned.steps,
        ],
        game,
    )
    _write(text, to, "weights")
    if json is not None:
        write_json(learned.rows, json)


def _learn_outcomes(
    given: _Given,
    game: str,
    maps: Sequence[str],
    names: Sequence[str],
    first: Path | None,
    to: Path,
) -> None:
    from arena.bots.compiled.learning.tune import count_outcomes  # noqa: PLC0415 - an extra, and slow to load

    began = time.process_time()
    with Progress(console=err, transient=True) as bar:
        task = bar.add_task("matches", total=given.matches * len(given.games))
        found = count_outcomes(
            given.games,
            given.weights,
            matches=given.matches,
            nodes=given.nodes,
            seed=given.seed,
            progress=partial(bar.advance, task),
        )
    command = " ".join(
        [
            "arena tune --outcomes",
            *([f"--game {game}"] if game != Riskless.name else []),
            *(f"--map {name}" for name in maps),
            f"--matches {given.matches} --nodes {given.nodes} --seed {given.seed}",
            *([f"--from {first.name}"] if first else []),
        ]
    )
    told = [
        "For each category of positions how often who was to move won, drew and lost; bots/evaluators/outcomes.py says which.",
        f"Counted in {time.process_time() - began:,.0f} s of one processor's time, by",
        f"  {command}",
        *([f"on {', '.join(names)}"] if names else []),
        f"in matches of {listed(given.weights)}",
    ]
    _write(outcomes_text(told, found), to, "outcomes")


def _write(text: str, to: Path, what: str) -> None:
    try:
        to.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Failure(f"cannot write {to}: {error.strerror}") from None
    out.print(f"{what} in {to}", highlight=False, soft_wrap=True)


@dataclass(frozen=True)
class _Given:
    """What is learned from, and how much."""

    games: Sequence[Game[Any, Any]]
    weights: Mapping[str, int]
    generations: int
    matches: int
    rounds: int
    nodes: int
    seed: int
    without: Sequence[str] = ()


@dataclass(frozen=True)
class _Learned:
    """The weights, how they came about a line each, and the same as plain data."""

    weights: Mapping[str, int]
    steps: Sequence[str]
    rows: list[dict[str, object]]


def _first_weights(first: Path | None, names: Sequence[str]) -> Mapping[str, int]:
    if first is None:
        return dict.fromkeys(names, 0)
    try:
        return load_weights(first, names)
    except BadWeights as problem:
        raise Misuse(f"--from: {problem}") from None


def _others(names: Sequence[str], games: Sequence[Game[Any, Any]]) -> list[Riskless]:
    """The maps that are held out."""
    others = [_riskless(name) for name in names]
    learned = {game.map.name for game in games if isinstance(game, Riskless)}
    both = learned & {game.map.name for game in others}
    if both:
        raise Misuse(f"--held-out {min(both)}: it is learned from, so it tells nothing of other maps")
    return others


def _from_truth(given: _Given, others: Sequence[Riskless], pairs: int) -> _Learned:
    if given.rounds or not given.generations:
        raise Misuse(
            "--from-solved learns in generations, without --climb: climb afterwards, --from what it has written"
        )
    games = [game for game in given.games if isinstance(game, Riskless)]
    solutions = solutions_of(games)
    with Progress(console=err, transient=True) as bar:

        def task(what: str, total: int) -> Callable[[], None]:
            return partial(bar.advance, bar.add_task(what, total=total))

        learned = learn(
            games,
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
    from arena.bots.compiled.learning.climb import climb  # noqa: PLC0415 - an extra, and slow to load
    from arena.bots.compiled.learning.tune import fit, self_play  # noqa: PLC0415

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
            fitted = fit(samples, list(weights), weights, given.without)
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
    from arena.bots.compiled.limits import MAX_CAP, MAX_TERRITORIES, fits  # noqa: PLC0415

    try:
        game = Riskless(variant(name))
    except MapError as error:
        raise Misuse(f"--map: {error}") from None
    if not fits(game):
        raise Misuse(
            f"--map: {name} is too large to tune on: at most {MAX_TERRITORIES} territories, cap {MAX_CAP}"
        )
    return game

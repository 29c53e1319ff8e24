"""`arena match`."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from console import (
    AdjudicateOption,
    ConcurrencyOption,
    DatabaseOption,
    GameOption,
    JsonOption,
    MapOption,
    MarginOption,
    Misuse,
    RecordOption,
    RoundsOption,
    SeedOption,
    TimeOption,
)
from ladder.commands.options import (
    CsvOption,
    EventOption,
    HtmlOption,
    OpeningsOption,
    PinOption,
    engine_bots,
    with_options,
)
from ladder.commands.play import play
from ladder.commands.results import Reports, tell
from ladder.event import Ladder
from ladder.openings import SHIPPED
from ladder.plan import LadderPlan
from maps.setup import DEFAULT_MAP
from protocol.adjudication import DEFAULT_RULES
from rating.pentanomial import Counts, Difference, difference, pair_counts
from rating.sprt import BadSprt, Sprt, Verdict
from rating.standings import pair_scores, table


def match(
    a: Annotated[str, typer.Argument(metavar="A", help="An engine, as `arena bot` takes it.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another, or the same again.")],
    sprt: Annotated[
        str | None,
        typer.Option(help="Stop when it is settled: elo0=0,elo1=10,alpha=0.05,beta=0.05; model=normalized."),
    ] = None,
    game: GameOption = "riskless",
    map: MapOption = DEFAULT_MAP,
    tc: TimeOption = "0.1/move",
    margin: MarginOption = 100,
    rounds: RoundsOption = 10,
    concurrency: ConcurrencyOption = 0,
    seed: SeedOption = 1,
    record: RecordOption = None,
    db: DatabaseOption = None,
    json: JsonOption = None,
    openings: OpeningsOption = SHIPPED,
    event: EventOption = None,
    adjudicate: AdjudicateOption = str(DEFAULT_RULES),
    pin: PinOption = False,
    html: HtmlOption = None,
    csv: CsvOption = None,
) -> None:
    """Play pairs between two bots, and say how much stronger A is, with the error.

    With --sprt, a sequential test of two Elo differences ends the match as soon as it is settled;
    --rounds is then the most that is played.

    Example: arena match alphabeta greedy --rounds 20 --sprt elo0=0,elo1=50
    """
    try:
        test = Sprt.parse(sprt) if sprt is not None else None
    except BadSprt as error:
        raise Misuse(f"--sprt: {error}") from None
    options = {"game": game, "map": map, "tc": tc, "margin": margin, "rounds": rounds}
    options |= {"concurrency": concurrency, "seed": seed, "openings": openings, "event": event}
    options |= {"adjudicate": adjudicate, "pin": pin}
    plan = with_options(LadderPlan(engine_bots([a, b])), options)
    first, second = (bot.name for bot in plan.bots)

    def settled(played: Ladder) -> bool:
        return test is not None and test.verdict(_pairs(played)) is not Verdict.OPEN

    played = play(plan, "match", record, db, settled)
    pairs = _pairs(played)
    found = difference(pairs)
    crashes = crashes_in_words(played)
    told = {"pairs": pairs, "difference": found, "sprt": _told(test, pairs, crashes)}
    tell(played, _findings(first, second, pairs, found, test, crashes), told, Reports(json, html, csv))


def _pairs(played: Ladder) -> Counts:
    return pair_counts(pair_scores(played.bots[0], played.played))


def _findings(
    first: str, second: str, pairs: Counts, found: Difference | None, test: Sprt | None, crashes: str
) -> list[str]:
    """What a match tells, line by line; `crashes` says which bots crashed and how often."""
    counts = ", ".join(f"{n} × {points:g}" for n, points in zip(pairs, (0, 0.5, 1, 1.5, 2), strict=True) if n)
    if found is None:
        return ["no pair is complete: nothing can be said"]
    strength = f"{first} is {found.elo:+z.1f} ± {found.error:.1f} Elo from {second} (95 %)"
    lines = [
        f"{strength}, the stronger one with likelihood {found.superiority:.1%}",
        f"{sum(pairs)} pairs, by the points of {first}: {counts}",
    ]
    if test is not None:
        verdict = test.verdict(pairs)
        said = {
            Verdict.H0: f"H0 holds: elo is {test.elo0:g}, not {test.elo1:g}",
            Verdict.H1: f"H1 holds: elo is {test.elo1:g}, not {test.elo0:g}",
            Verdict.OPEN: "not settled: play more rounds",
        }[verdict]
        said += f"; but {crashes}: it says little of their play" if crashes else ""
        lines.append(f"SPRT: {said} (LLR {test.llr(pairs):.2f} in {test.lower:.2f} .. {test.upper:.2f})")
    return lines


def crashes_in_words(played: Ladder) -> str:
    """Which bots crashed in how many of their matches; empty where none did."""
    rows = [row for row in table(played.bots, played.records) if row.crashes]
    return ", ".join(f"{row.bot} crashed in {row.crashes} of {row.games} matches" for row in rows)


def _told(test: Sprt | None, pairs: Counts, crashes: str) -> dict[str, object] | None:
    if test is None:
        return None
    return {
        **dataclasses.asdict(test),
        "llr": test.llr(pairs),
        "lower": test.lower,
        "upper": test.upper,
        "verdict": test.verdict(pairs).value,
        "crashes": crashes,
    }

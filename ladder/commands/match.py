"""The command `arena match`: play pairs of matches between two bots."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from arena.console import (
    AdjudicateOption,
    ConcurrencyOption,
    DatabaseOption,
    GameOption,
    JsonOption,
    MapOption,
    MarginOption,
    RecordOption,
    RoundsOption,
    SeedOption,
    TimeOption,
    UsageError,
    is_option_given,
    parse_time_control_option,
)
from arena.ladder.commands.options import (
    CsvOption,
    EventOption,
    HtmlOption,
    OpeningsOption,
    PinOption,
    apply_options_to_plan,
    make_engine_bot_plans,
)
from arena.ladder.commands.play_plan import play_plan
from arena.ladder.commands.results import ReportFiles, report_results
from arena.ladder.event_openings import SHIPPED_OPENINGS
from arena.ladder.ladder import Ladder
from arena.ladder.plan import (
    MAX_BOT_NAME_LENGTH,
    BotPlan,
    LadderPlan,
    make_valid_bot_name,
)
from arena.maps.game_on_map import DEFAULT_MAP
from arena.protocol.adjudication import DEFAULT_ADJUDICATION
from arena.rating.pentanomial import EloDifference, PairScoreCounts, estimate_elo_difference
from arena.rating.sprt import BadSprt, Sprt, Verdict


def match_command(
    context: typer.Context,
    a: Annotated[
        str,
        typer.Argument(
            metavar="A",
            help="First bot: engine, FILE.py, exec:COMMAND (JSON Lines) or command:COMMAND (connects by itself).",
        ),
    ],
    b: Annotated[str, typer.Argument(metavar="B", help="Second bot; may be the same as the first bot.")],
    sprt: Annotated[
        str | None,
        typer.Option(
            "--sprt",
            metavar="TEST",
            help="Stop once this sequential test (SPRT) is decided, e.g. elo0=0,elo1=10,alpha=0.05,beta=0.05.",
        ),
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
    openings: OpeningsOption = SHIPPED_OPENINGS,
    event: EventOption = None,
    adjudicate: AdjudicateOption = str(DEFAULT_ADJUDICATION),
    pin: PinOption = False,
    html: HtmlOption = None,
    csv: CsvOption = None,
    name_a: Annotated[
        str, typer.Option("--name-a", metavar="NAME", help="Name of bot A; default: the name of its engine.")
    ] = "",
    name_b: Annotated[
        str, typer.Option("--name-b", metavar="NAME", help="Name of bot B; default: the name of its engine.")
    ] = "",
    tc_b: Annotated[
        str,
        typer.Option(
            "--tc-b", metavar="TIME", help="Time control of bot B, for time odds; default: the value of --tc."
        ),
    ] = "",
) -> None:
    """Play pairs of matches between two bots, and estimate their Elo difference.

    The printed difference is updated after each pair of matches. With --sprt, a sequential test of two Elo differences
    ends the match as soon as the test is decided; --rounds is then the maximum.

    A bot is an engine with its options (alphabeta:depth=4); a Python file; exec:COMMAND, a program that speaks JSON Lines
    over stdin and stdout (docs/stdio.md); or command:COMMAND, a program that connects to the server by itself.

    Example: arena match alphabeta greedy --rounds 20 --sprt elo0=0,elo1=50

    Example: arena match my_bot.py "exec:perl my_bot.pl" --name-a new --name-b old --tc 1+0.1 --tc-b 0.5+0.05
    """
    try:
        test = Sprt.parse(sprt) if sprt is not None else None
    except BadSprt as error:
        raise UsageError(f"--sprt: {error}") from None
    given_map = map if is_option_given(context, "map") else None
    options = {
        "game": game,
        "map": given_map,
        "tc": tc,
        "margin": margin,
        "rounds": rounds,
        "concurrency": concurrency,
        "seed": seed,
        "openings": openings,
        "event": event,
        "adjudicate": adjudicate,
        "pin": pin,
    }
    plan = apply_options_to_plan(
        LadderPlan(_apply_names_and_time_control(make_engine_bot_plans([a, b]), name_a, name_b, tc_b)),
        options,
    )
    first, second = (bot.name for bot in plan.bots)
    reports = ReportFiles(json, html, csv)

    ladder = play_plan(plan, "match", record, db, format_status=_format_progress_line, sprt=test)
    pairs = ladder.count_pair_scores()
    elo = estimate_elo_difference(pairs)
    crashes = describe_crashes(ladder)
    report = {"pairs": pairs, "difference": elo, "sprt": _make_sprt_report(test, pairs, crashes)}
    report_results(
        ladder,
        _describe_elo_and_sprt(first, second, pairs, elo, test, crashes),
        report,
        reports,
    )


def _apply_names_and_time_control(
    bots: tuple[BotPlan, ...], name_a: str, name_b: str, tc_b: str
) -> tuple[BotPlan, ...]:
    """Return the two bots with the names from --name-a and --name-b, and the second bot with the time control from --tc-b.

    An empty option changes nothing. Raises UsageError for an invalid option.
    """
    for name, option in ((name_a, "--name-a"), (name_b, "--name-b")):
        if name and name != make_valid_bot_name(name):
            raise UsageError(
                f"{option}: {name!r:.80} is not a valid name: write 1 to {MAX_BOT_NAME_LENGTH} printable characters without #"
            )
    time_control_b = parse_time_control_option(tc_b, "--tc-b") if tc_b else None
    bot_a, bot_b = bots
    bot_a = dataclasses.replace(bot_a, name=name_a or bot_a.name)
    bot_b = dataclasses.replace(bot_b, name=name_b or bot_b.name, time_control=time_control_b)
    if bot_a.name == bot_b.name:
        raise UsageError(
            f"--name-a, --name-b: both would be called {bot_a.name!r:.60}; give them different names"
        )
    return bot_a, bot_b


def _format_progress_line(ladder: Ladder) -> str:
    """Return the result of the finished pairs of matches in one line; empty before the first pair has finished."""
    pairs, test = ladder.count_pair_scores(), ladder.sprt
    elo = estimate_elo_difference(pairs)
    if elo is None:
        return ""
    first, second = ladder.bot_names
    line = f"{_format_pair_count(pairs)}: {_format_elo(first, second, elo)}"
    return (
        line
        if test is None
        else f"{line}, LLR {test.compute_llr(pairs):z.2f} in {test.lower_llr_bound:.2f} .. {test.upper_llr_bound:.2f}"
    )


def _format_pair_count(pairs: PairScoreCounts) -> str:
    return f"{sum(pairs)} pair{'s' if sum(pairs) > 1 else ''}"


def _format_elo(first_bot: str, second_bot: str, elo: EloDifference) -> str:
    """Return the Elo difference of two bots with its 95 % interval, in words."""
    return f"{first_bot} against {second_bot}: {elo.elo:+z.1f} Elo (95 %: {elo.elo_interval_text})"


def _describe_elo_and_sprt(
    first_bot: str,
    second_bot: str,
    pairs: PairScoreCounts,
    elo: EloDifference | None,
    sprt: Sprt | None,
    crash_text: str,
) -> list[str]:
    """Return lines with the Elo difference, the scores of the pairs and the result of the sequential test (SPRT).

    pairs       number of pairs of matches in which the first bot scored 0, ½, 1, 1½ and 2 points
    elo         estimated Elo difference; None if no pair is complete
    sprt        sequential test; None if there is none
    crash_text  text from `describe_crashes`
    """
    counts = ", ".join(f"{n} × {points:g}" for n, points in zip(pairs, (0, 0.5, 1, 1.5, 2), strict=True) if n)
    if elo is None:
        return ["no Elo estimate, because no pair of matches is complete"]
    lines = [
        f"{_format_elo(first_bot, second_bot, elo)}, likelihood of superiority {_format_superiority_likelihood(elo.superiority_likelihood)}",
        f"{_format_pair_count(pairs)}, points of {first_bot} per pair: {counts}",
        "Elo and its interval are computed from the pairs; the table gives each bot half of the difference",
    ]
    if sprt is not None:
        verdict = sprt.decide(pairs)
        findings = {
            Verdict.H0: f"H0 accepted, elo0={sprt.elo0:g} against elo1={sprt.elo1:g}",
            Verdict.H1: f"H1 accepted, elo1={sprt.elo1:g} against elo0={sprt.elo0:g}",
            Verdict.OPEN: "not settled: play more rounds",
        }[verdict]
        findings += f"; but {crash_text}: the result says little about their play" if crash_text else ""
        lines.append(
            f"SPRT: {findings} (LLR {sprt.compute_llr(pairs):z.2f} in {sprt.lower_llr_bound:.2f} .. {sprt.upper_llr_bound:.2f})"
        )
    return lines


def _format_superiority_likelihood(likelihood: float) -> str:
    """Return `likelihood`, from 0 to 1, as a text in percent that is never 0 or 100 %."""
    return "over 99.9%" if likelihood > 0.999 else "under 0.1%" if likelihood < 0.001 else f"{likelihood:.1%}"


def describe_crashes(ladder: Ladder) -> str:
    """Return text such as `greedy crashed in 2 of 10 matches`; empty if no bot crashed."""
    rows = [row for row in ladder.make_standings_rows() if row.crashes]
    return ", ".join(f"{row.bot} crashed in {row.crashes} of {row.games} matches" for row in rows)


def _make_sprt_report(sprt: Sprt | None, pairs: PairScoreCounts, crash_text: str) -> dict[str, object] | None:
    if sprt is None:
        return None
    return {
        **dataclasses.asdict(sprt),
        "llr": sprt.compute_llr(pairs),
        "lower": sprt.lower_llr_bound,
        "upper": sprt.upper_llr_bound,
        "verdict": sprt.decide(pairs).value,
        "crashes": crash_text,
    }

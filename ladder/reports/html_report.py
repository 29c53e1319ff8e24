"""Report of a ladder as one HTML page that loads nothing from the network or from other files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path

from arena.games.catalogue import make_game
from arena.games.core import GameError
from arena.ladder.ladder import Ladder
from arena.ladder.plan import LadderPlan, map_bots_to_time_controls
from arena.ladder.reports.blunders import BlunderReport, count_blunders
from arena.ladder.reports.plots import (
    assign_bot_colours,
    render_colour_swatch,
    render_plot_by_ply,
    render_ratings_plot,
)
from arena.ladder.reports.result_lines import describe_draws, format_match_line
from arena.ladder.reports.standings import (
    FORFEITS_LEGEND,
    ExtraColumn,
    make_extra_columns,
    make_standings_columns,
)
from arena.maps.game_on_map import has_maps
from arena.match.replay import list_movers
from arena.processes.identity import PROGRAM_NAME_AND_VERSION
from arena.protocol.record import Record, RecordedMove
from arena.rating.breakdown import GroupScore, HeadToHead, ResultBreakdown, count_draws, make_result_breakdown
from arena.rating.formats import Encounter
from arena.rating.pairing import Pairing
from arena.rating.standings import StandingsRow, compute_pair_scores, is_void, list_losers

MAX_MATCHES_PER_REPORT_SECTION = 3
"""Maximum number of matches, or pairs of matches, that a section of the report lists."""

MAX_PLOT_PLIES = 200
"""Number of plies after which the plots of search depth and thinking time by ply end."""

REPORT_CSS = """
body{font:15px/1.45 system-ui,sans-serif;max-width:60rem;margin:1rem auto;padding:0 .8rem;color:#1d2530;background:#fff;
overflow-wrap:break-word}
table{border-collapse:collapse;margin:.5rem 0}td,th{padding:.2rem .5rem;text-align:right;border-bottom:1px solid #d8dde4;
overflow-wrap:normal}
td:first-child,th:first-child{text-align:left;white-space:nowrap}h2{margin-top:2rem}h3{margin:1rem 0 .3rem;font-size:1rem}
td:first-child,th:first-child{position:sticky;left:0;background:#fff}
.scroll{overflow-x:auto;background:linear-gradient(90deg,#fff 30%,#fff0) 100% 0/2rem 100% no-repeat local,
linear-gradient(270deg,#1d253033,#1d253000) 100% 0/.6rem 100% no-repeat scroll}pre{background:#f3f5f8;padding:.7rem;overflow:auto}
svg{display:block;width:100%;max-width:30rem;height:auto}svg text{font:12px system-ui,sans-serif}
.heat td:not(:first-child){min-width:3.2rem;text-align:center}.heat th{max-width:6rem;overflow-wrap:anywhere;text-align:center}.swatch{display:inline-block;width:.7em;height:.7em;border-radius:50%;
margin-right:.4em}.legend{list-style:none;padding:0;margin:.2rem 0;display:flex;flex-wrap:wrap;gap:.1rem 1rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem}dt{color:#5a6675}dd{margin:0;min-width:0}
input[type=range]{width:100%;max-width:30rem}
@media(max-width:30rem){td,th{padding:.2rem .3rem;font-size:13px}.heat th{max-width:4rem}
td:first-child{max-width:7.5rem;overflow:hidden;text-overflow:ellipsis}}
"""

REPORT_SCRIPT = """
for(const box of document.querySelectorAll('.replay')){const at=box.querySelector('input'),all=box.querySelectorAll('pre');
const show=()=>all.forEach((each,ply)=>each.hidden=ply!=at.value);at.oninput=show;show();}
"""


def render_report(ladder: Ladder, findings: Sequence[str]) -> str:
    """Return the report as HTML. All names are escaped.

    findings  results of the whole event, one sentence each
    """
    rows = ladder.make_standings_rows()
    bots = [row.bot for row in rows]
    colour_by_bot = assign_bot_colours(bots)
    breakdown = make_result_breakdown(bots, ladder.played_matches)
    columns = make_extra_columns(ladder.records, ())
    records = [record for record in ladder.records if not is_void(record)]
    body = [
        f"<h1>{escape(ladder.plan.event_name)}</h1>",
        f"<p>{len(records)} matches of {escape(ladder.plan.game)}, {escape(describe_time_controls(ladder))}</p>",
        *(f"<p><strong>{escape(finding)}</strong></p>" for finding in findings),
        f"<p>{escape(describe_draws(count_draws(ladder.records)))}</p>",
        *_render_bracket(ladder),
        "<h2>Ratings</h2>",
        render_ratings_plot(rows, colour_by_bot),
        _render_standings(rows, columns, colour_by_bot),
        *(f"<p>{escape(text)}</p>" for text in (FORFEITS_LEGEND, *(column.legend for column in columns))),
        _render_blunders_on_solved_maps(count_blunders(bots, ladder.records), colour_by_bot),
        _render_first_move_advantage(breakdown),
        "<h2>Results by opponent</h2><p>Each cell is the score of the row's bot, in per cent.</p>",
        _render_opponents_heat_map(bots, breakdown.by_opponent, colour_by_bot),
        _render_head_to_heads(breakdown.duels, colour_by_bot),
        "<h2>By seat and by map</h2>",
        _render_group_scores(breakdown.by_seat, colour_by_bot),
        _render_group_scores(breakdown.by_map, colour_by_bot),
        "<h2>Depth and time by ply</h2>",
        _render_move_plots(records, colour_by_bot),
        *_render_decisive_pairs(ladder, bots),
        "<h2>The longest matches</h2>",
        *map(
            _render_replay,
            sorted(records, key=lambda record: -len(record.moves))[:MAX_MATCHES_PER_REPORT_SECTION],
        ),
        "<h2>The most surprising matches</h2>",
        *(
            list(map(_render_replay, find_upset_matches(rows, records)[:MAX_MATCHES_PER_REPORT_SECTION]))
            or ["<p>No lower rated bot won a match.</p>"]
        ),
        "<h2>Settings</h2>",
        _render_settings(ladder),
    ]
    head = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(ladder.plan.event_name)}</title>'
        '<meta name="viewport" content="width=device-width">'
    )
    return f"{head}<style>{REPORT_CSS}</style>{''.join(body)}<script>{REPORT_SCRIPT}</script></html>\n"


def describe_time_controls(ladder: Ladder) -> str:
    """Return text with the ladder's time control, then the name and time control of each bot that has its own."""
    bot_time_controls = "".join(
        f", {bot} {time}" for bot, time in map_bots_to_time_controls(ladder.plan.bots).items()
    )
    return f"{ladder.plan.time_control}{bot_time_controls}"


def _render_bracket(ladder: Ladder) -> list[str]:
    """Return the bracket of a knockout as HTML elements; empty for other formats."""
    rounds = ladder.make_bracket()
    if not rounds:
        return []

    def render_encounter(encounter: Encounter) -> str:
        sides = (encounter.first_bot, encounter.first_points), (encounter.second_bot, encounter.second_points)
        lines = (f"{bot or '…'} {points:g}" for bot, points in sides)
        return "<li>" + " – ".join(
            f"<strong>{escape(line)}</strong>" if bot and bot == encounter.winning_bot else escape(line)
            for (bot, _), line in zip(sides, lines, strict=True)
        )

    round_lists = (
        f"<h3>Round {n}</h3><ul>{''.join(map(render_encounter, encounters))}</ul>"
        for n, encounters in enumerate(rounds, 1)
    )
    return ["<h2>Bracket</h2>", *round_lists]


def _render_settings(ladder: Ladder) -> str:
    """Return an HTML list of the ladder's settings, with which the same ladder can be played again."""
    plan = ladder.plan
    maps = plan.maps if has_maps(plan.game) else ()
    rows = {
        "game": plan.game,
        **({"maps": ", ".join(maps)} if maps else {}),
        "bots": "; ".join(
            bot.name if bot.description in ("", bot.name) else f"{bot.name}: {bot.description}"
            for bot in plan.bots
        ),
        "format": plan.format,
        "rounds": str(plan.rounds) if plan.rounds is not None else "unlimited",
        "time control": describe_time_controls(ladder),
        "margin": f"{plan.margin_ms} ms",
        "openings": _describe_openings(plan),
        "seed": str(plan.seed),
        "adjudication": str(plan.adjudication) if plan.adjudication else "none",
        "parallel matches": str(ladder.concurrency),
        "version": PROGRAM_NAME_AND_VERSION,
    }
    return f"<dl>{''.join(f'<dt>{escape(key)}</dt><dd>{escape(value)}</dd>' for key, value in rows.items())}</dl>"


def _describe_openings(plan: LadderPlan) -> str:
    if isinstance(plan.openings, int):
        return f"{plan.openings} random plies"
    if isinstance(plan.openings, Path):
        return f"the list in {plan.openings}"
    return "those shipped with each map" if has_maps(plan.game) else "none"


def _render_decisive_pairs(ladder: Ladder, bots: Sequence[str]) -> list[str]:
    """Return HTML elements that show the pairs of matches in which one of the two best bots scored more than the other.

    bots  names of the bots, the best one first
    """
    if len(bots) < 2:
        return []
    first, second = bots[:2]
    pairs: defaultdict[int, list[tuple[Pairing, Record]]] = defaultdict(list)
    for pairing, record in ladder.played_matches:
        if {pairing.maxie, pairing.minnie} == {first, second} and not is_void(record):
            pairs[pairing.pair.number].append((pairing, record))
    scores_and_records = [
        (compute_pair_scores(first, pair), [record for _, record in pair]) for pair in pairs.values()
    ]
    complete_pairs = [(scores[0], records) for scores, records in scores_and_records if scores]
    decisive_pairs = sorted(
        (pair for pair in complete_pairs if pair[0] != 1), key=lambda pair: -abs(pair[0] - 1)
    )
    sentence = f"{escape(first)} and {escape(second)} scored equally in {len(complete_pairs) - len(decisive_pairs)} of their {len(complete_pairs)} pairs"
    matches = [record for _, records in decisive_pairs[:MAX_MATCHES_PER_REPORT_SECTION] for record in records]
    suffix = f"; of the other {len(decisive_pairs)}, these were the clearest" if matches else ""
    return [
        "<h2>The matches that decided it</h2>",
        f"<p>{sentence}{suffix}.</p>",
        *map(_render_replay, matches),
    ]


def find_upset_matches(rows: Sequence[StandingsRow], records: Iterable[Record]) -> list[Record]:
    """Return the matches that the lower-rated bot won, in descending order of the rating difference."""
    elo = {row.bot: row.elo for row in rows}

    def compute_rating_gap(record: Record) -> float:
        losing_bots = list_losers(record)
        if len(losing_bots) != 1:
            return 0.0
        winner = record.players.minnie if losing_bots[0] == record.players.maxie else record.players.maxie
        return elo[losing_bots[0]] - elo[winner]

    return sorted(
        (record for record in records if compute_rating_gap(record) > 0), key=compute_rating_gap, reverse=True
    )


def _render_table_head(column_headings: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<th>{escape(heading)}</th>' for heading in column_headings)}</tr>"


def _render_scrolling_table(table_html: str) -> str:
    """Return the HTML table `table_html` in a box that scrolls sideways in a narrow window."""
    return f'<div class="scroll" tabindex="0">{table_html}</div>'


def _render_bot_name_cell(bot: str, colour_by_bot: Mapping[str, str]) -> str:
    """Return the first cell of a bot's row in an HTML table: the bot's name, after a square in its colour."""
    return f"<td>{render_colour_swatch(colour_by_bot[bot])}{escape(bot)}</td>"


def _render_table(
    column_headings: Iterable[str], rows: Iterable[Sequence[object]], colour_by_bot: Mapping[str, str]
) -> str:
    """Return an HTML table in which the first cell of each row is a bot's name.

    column_headings  headings of all columns
    colour_by_bot    colour of each bot
    """
    body = (
        f"<tr>{_render_bot_name_cell(str(bot), colour_by_bot)}{''.join(f'<td>{escape(str(cell))}</td>' for cell in cells)}</tr>"
        for bot, *cells in rows
    )
    return _render_scrolling_table(f"<table>{_render_table_head(column_headings)}{''.join(body)}</table>")


def _render_standings(
    rows: Sequence[StandingsRow], columns: Sequence[ExtraColumn], colour_by_bot: Mapping[str, str]
) -> str:
    texts_by_heading = make_standings_columns(rows, columns)
    lines = zip((row.bot for row in rows), *texts_by_heading.values(), strict=True)
    return _render_table(("bot", *texts_by_heading), lines, colour_by_bot)


def _render_blunders_on_solved_maps(
    blunders: Sequence[BlunderReport], colour_by_bot: Mapping[str, str]
) -> str:
    """Return an HTML table of wins and draws that bots gave away on solved maps; empty if no solved map was played."""
    if not blunders:
        return ""
    headings = ("bot", "matches on solved maps", "moves", "lost the win", "lost the draw", "blunders a match")
    lines = (
        (
            report.bot,
            report.matches,
            report.moves,
            report.lost_wins,
            report.lost_draws,
            f"{report.blunders_per_match:.2f}",
        )
        for report in blunders
    )
    return _render_table(headings, lines, colour_by_bot)


def _render_head_to_heads(head_to_heads: Sequence[HeadToHead], colour_by_bot: Mapping[str, str]) -> str:
    """Return an HTML table with the results of the pairs of matches between each two bots; empty if no pair is complete."""
    comparable = [duel for duel in head_to_heads if duel.superiority is not None]
    if not comparable:
        return ""
    headings = ("bot", "against", "0", "½", "1", "1½", "2", "likelihood of superiority")
    lines = ((duel.bot, duel.opponent, *duel.pairs, f"{duel.superiority:.1%}") for duel in comparable)
    return (
        "<p>Pairs of matches by the points of the first bot, and the likelihood that it is the stronger one.</p>"
        + _render_table(headings, lines, colour_by_bot)
    )


def _render_first_move_advantage(breakdown: ResultBreakdown) -> str:
    advantage = breakdown.first_move
    if advantage.elo is None or advantage.elo_error is None:
        return ""
    return f"<p>The player who moves first scores {advantage.mean_score:.1%}: {advantage.elo:+z.0f} ± {advantage.elo_error:.0f} Elo.</p>"


def _render_opponents_heat_map(
    bots: Sequence[str], scores: Sequence[GroupScore], colour_by_bot: Mapping[str, str]
) -> str:
    scores_by_opponent = {(group_score.bot, group_score.group): group_score for group_score in scores}
    lines = [_render_table_head(("", *bots))]
    for bot in bots:
        cells = [_render_bot_name_cell(bot, colour_by_bot)]
        for opponent in bots:
            group_score = scores_by_opponent.get((bot, opponent))
            if group_score is None:
                cells.append("<td></td>")
                continue
            # Red for a low score, white for an even one, green for a high one.
            hue, light = (140 if group_score.score >= 0.5 else 10), 96 - 46 * abs(group_score.score - 0.5) * 2
            tooltip = f"{group_score.wins} won, {group_score.draws} drawn, {group_score.losses} lost"
            cells.append(
                f'<td style="background:hsl({hue} 60% {light:.0f}%)" title="{tooltip}">{group_score.score:.0%}</td>'
            )
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return _render_scrolling_table(f'<table class="heat">{"".join(lines)}</table>')


def _render_group_scores(scores: Sequence[GroupScore], colour_by_bot: Mapping[str, str]) -> str:
    headings = ("bot", "of", "games", "won", "drawn", "lost", "score")
    lines = (
        (
            score.bot,
            score.group,
            score.match_count,
            score.wins,
            score.draws,
            score.losses,
            f"{score.score:.1%}",
        )
        for score in scores
    )
    return _render_table(headings, lines, colour_by_bot)


def _render_move_plots(records: Sequence[Record], colour_by_bot: Mapping[str, str]) -> str:
    """Return plots, as HTML, of each bot's mean time and mean search depth per move, by ply."""
    moves: defaultdict[str, defaultdict[int, list[RecordedMove]]] = defaultdict(lambda: defaultdict(list))
    for record in records:
        for ply, (player, move) in enumerate(
            zip(list_movers(record), record.moves[:MAX_PLOT_PLIES], strict=False)
        ):
            if not move.opening:
                moves[record.players.get_bot_name(player)][ply].append(move)
    mean_times = {
        bot: {
            ply: sum(move.ms for move in moves_at_ply) / len(moves_at_ply)
            for ply, moves_at_ply in by_ply.items()
        }
        for bot, by_ply in moves.items()
    }
    mean_depths = {
        bot: {
            ply: sum(values) / len(values)
            for ply, moves_at_ply in by_ply.items()
            if (
                values := [
                    m.thinking.depth for m in moves_at_ply if m.thinking and m.thinking.depth is not None
                ]
            )
        }
        for bot, by_ply in moves.items()
    }
    return render_plot_by_ply("Mean time per move", "ms", mean_times, colour_by_bot) + render_plot_by_ply(
        "Mean depth of the search",
        "plies",
        {bot: depth_by_ply for bot, depth_by_ply in mean_depths.items() if depth_by_ply},
        colour_by_bot,
    )


def _render_replay(record: Record) -> str:
    """Return a match as HTML, with a slider that steps through its positions."""
    try:
        game = make_game(record.game, record.setup)
        position = game.start()
        position_texts = [f"before ply 0\n{game.picture(position)}"]
        for ply, recorded_move in enumerate(record.moves):
            move = game.move_from_data(recorded_move.move)
            move_text = game.move_to_text(move)
            position = game.play(position, move)
            source_text = "opening" if recorded_move.opening else f"{recorded_move.ms:.1f} ms"
            position_texts.append(f"ply {ply}: {move_text} ({source_text})\n{game.picture(position)}")
    except GameError as error:
        return f"<p>{escape(format_match_line(record))}: {escape(str(error))}</p>"
    views = "".join(f"<pre hidden>{escape(position_text)}</pre>" for position_text in position_texts)
    slider = f'<input type="range" min="0" max="{len(position_texts) - 1}" value="{len(position_texts) - 1}" aria-label="ply">'
    summary = f"{escape(format_match_line(record))} <small>{escape(record.match)}</small>"
    return f'<details class="replay"><summary>{summary}</summary>{slider}{views}</details>'

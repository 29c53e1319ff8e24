"""The report of a ladder as one HTML page that needs nothing else: no network, no other file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from html import escape

from games.catalogue import make_game
from games.core import GameError
from ladder.event import Ladder
from ladder.reports.draws import draws_in_words
from ladder.reports.match_line import in_words
from ladder.reports.truth import GivenAway, given_away
from protocol.record import Record, RecordedMove
from rating.breakdown import Breakdown, Part, breakdown
from rating.draws import count_draws
from rating.standings import Row, is_void, losers, table

SHOWN = 3
"""How many of the longest matches are shown, and how many of the most surprising ones."""

PLIES = 200
"""How many plies the curves by ply show."""

STYLE = """
body{font:15px/1.45 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1d2530;background:#fff}
table{border-collapse:collapse;margin:.5rem 0}td,th{padding:.2rem .6rem;text-align:right;border-bottom:1px solid #d8dde4}
td:first-child,th:first-child{text-align:left}h2{margin-top:2rem}pre{background:#f3f5f8;padding:.7rem;overflow:auto}
svg text{font:12px system-ui,sans-serif;fill:#1d2530}.heat td{min-width:3.2rem;text-align:center}
"""

SCRIPT = """
for(const box of document.querySelectorAll('.replay')){const at=box.querySelector('input'),all=box.querySelectorAll('pre');
const show=()=>all.forEach((each,ply)=>each.hidden=ply!=at.value);at.oninput=show;show();}
"""


def page(ladder: Ladder) -> str:
    """The whole page. Names from the network are escaped."""
    rows = table(ladder.bots, ladder.records)
    parts = breakdown([row.bot for row in rows], ladder.played)
    records = [record for record in ladder.records if not is_void(record)]
    body = [
        f"<h1>{escape(ladder.plan.event)}</h1>",
        f"<p>{len(records)} matches of {escape(ladder.plan.game)}, {escape(str(ladder.plan.time_control))}</p>",
        f"<p>{escape(draws_in_words(count_draws(ladder.records)))}</p>",
        "<h2>Ratings</h2>",
        _bars(rows),
        _standings(rows),
        _given_away(given_away((row.bot for row in rows), ladder.records)),
        _first_move(parts),
        "<h2>Who against whom</h2><p>The score of the row's bot, in per cent.</p>",
        _heat([row.bot for row in rows], parts.by_opponent),
        "<h2>By seat and by map</h2>",
        _parts(parts.by_seat),
        _parts(parts.by_map),
        "<h2>Depth and time by ply</h2>",
        _curves(records),
        "<h2>The longest matches</h2>",
        *map(_replay, sorted(records, key=lambda record: -len(record.moves))[:SHOWN]),
        "<h2>The most surprising matches</h2>",
        *map(_replay, surprises(rows, records)[:SHOWN]),
    ]
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(ladder.plan.event)}</title>'
    return f"{head}<style>{STYLE}</style>{''.join(body)}<script>{SCRIPT}</script></html>\n"


FAULTS = ("crashed", "late", "illegal", "gone", "other")
"""The headings of the matches that were lost by a fault of the bot."""


def surprises(rows: Sequence[Row], records: Iterable[Record]) -> list[Record]:
    """The matches that the lower rated bot won, the greatest difference first."""
    elo = {row.bot: row.elo for row in rows}

    def surprise(record: Record) -> float:
        lost = losers(record)
        if len(lost) != 1:
            return 0.0
        winner = record.players.minnie if lost[0] == record.players.maxie else record.players.maxie
        return elo[lost[0]] - elo[winner]

    return sorted((each for each in records if surprise(each) > 0), key=surprise, reverse=True)


def _row(cells: Iterable[object], tag: str = "td") -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"


def _standings(rows: Sequence[Row]) -> str:
    head = _row(("bot", "games", "points", "won", "drawn", "lost", "Elo", "± 95 %", *FAULTS), "th")
    lines = (
        (
            *(
                r.bot,
                r.games,
                f"{r.points:g}",
                r.wins,
                r.draws,
                r.losses,
                f"{r.elo:+z.0f}",
                f"{r.elo_error:.0f}",
            ),
            *(r.crashes, r.time_forfeits, r.illegal_moves, r.disconnects, r.other_forfeits),
        )
        for r in rows
    )
    return f"<table>{head}{''.join(map(_row, lines))}</table>"


def _given_away(blunders: Sequence[GivenAway]) -> str:
    """What the bots gave away on solved maps; nothing where none was played on."""
    if not blunders:
        return ""
    head = _row(
        ("bot", "matches on solved maps", "moves", "lost the win", "lost the draw", "blunders a match"), "th"
    )
    lines = ((b.bot, b.matches, b.moves, b.lost_wins, b.lost_draws, f"{b.a_match:.2f}") for b in blunders)
    return f"<table>{head}{''.join(map(_row, lines))}</table>"


def _bars(rows: Sequence[Row]) -> str:
    """Each rating as a dot on its 95 % interval."""
    low = min((row.elo - row.elo_error for row in rows), default=-1)
    high = max((row.elo + row.elo_error for row in rows), default=1)
    scale = 480 / max(1.0, high - low)
    drawn = []
    for index, row in enumerate(rows):
        y, x = 22 * index + 14, 190 + (row.elo - low) * scale
        half = row.elo_error * scale
        drawn.append(
            f'<text x="0" y="{y + 4}">{escape(row.bot[:26])}</text>'
            f'<line x1="{x - half:.1f}" x2="{x + half:.1f}" y1="{y}" y2="{y}" stroke="#5b7aa6" stroke-width="2"/>'
            f'<circle cx="{x:.1f}" cy="{y}" r="4" fill="#1f4e8c"/>'
        )
    return f'<svg viewBox="0 0 690 {22 * len(rows) + 6}" role="img">{"".join(drawn)}</svg>'


def _first_move(parts: Breakdown) -> str:
    first = parts.first_move
    if first.elo is None or first.error is None:
        return ""
    return f"<p>Who moves first scores {first.score:.1%}: {first.elo:+z.0f} ± {first.error:.0f} Elo.</p>"


def _heat(bots: Sequence[str], parts: Sequence[Part]) -> str:
    score = {(part.bot, part.of): part for part in parts}
    lines = [_row(("", *bots), "th")]
    for bot in bots:
        cells = [f"<td>{escape(bot)}</td>"]
        for other in bots:
            part = score.get((bot, other))
            if part is None:
                cells.append("<td></td>")
                continue
            # From red over white to green.
            hue, light = (140 if part.score >= 0.5 else 10), 96 - 46 * abs(part.score - 0.5) * 2
            told = f"{part.wins} won, {part.draws} drawn, {part.losses} lost"
            cells.append(
                f'<td style="background:hsl({hue} 60% {light:.0f}%)" title="{told}">{part.score:.0%}</td>'
            )
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return f'<table class="heat">{"".join(lines)}</table>'


def _parts(parts: Sequence[Part]) -> str:
    head = _row(("bot", "of", "games", "won", "drawn", "lost", "score"), "th")
    lines = ((p.bot, p.of, p.games, p.wins, p.draws, p.losses, f"{p.score:.1%}") for p in parts)
    return f"<table>{head}{''.join(map(_row, lines))}</table>"


def _curves(records: Sequence[Record]) -> str:
    """The mean time and depth of each bot's moves by ply."""
    moves: defaultdict[str, defaultdict[int, list[RecordedMove]]] = defaultdict(lambda: defaultdict(list))
    for record in records:
        for ply, move in enumerate(record.moves[:PLIES]):
            if not move.opening:
                moves[record.players.minnie if ply % 2 else record.players.maxie][ply].append(move)
    times = {
        bot: {ply: sum(each.ms for each in all_) / len(all_) for ply, all_ in by_ply.items()}
        for bot, by_ply in moves.items()
    }
    depths = {
        bot: {
            ply: sum(told) / len(told)
            for ply, all_ in by_ply.items()
            if (told := [m.thinking.depth for m in all_ if m.thinking and m.thinking.depth is not None])
        }
        for bot, by_ply in moves.items()
    }
    return _chart("ms a move", times) + _chart("depth", {bot: by for bot, by in depths.items() if by})


def _chart(title: str, curves: dict[str, dict[int, float]]) -> str:
    if not curves:
        return ""
    last = max(max(by_ply) for by_ply in curves.values()) or 1
    top = max(max(by_ply.values()) for by_ply in curves.values()) or 1
    drawn = [f'<text x="0" y="12">{title}, up to {top:.3g}; ply 0 to {last}</text>']
    for index, (bot, by_ply) in enumerate(sorted(curves.items())):
        color = f"hsl({index * 137 % 360} 65% 40%)"
        points = " ".join(
            f"{600 * ply / last:.1f},{180 - 150 * y / top:.1f}" for ply, y in sorted(by_ply.items())
        )
        drawn.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="1.5"/>')
        drawn.append(f'<text x="610" y="{30 + 16 * index}" style="fill:{color}">{escape(bot[:22])}</text>')
    return f'<svg viewBox="0 0 780 {max(190, 40 + 16 * len(curves))}" role="img">{"".join(drawn)}</svg>'


def _replay(record: Record) -> str:
    """A match to step through."""
    try:
        game = make_game(record.game, record.setup)
        position = game.start()
        steps = [f"before ply 0\n{game.picture(position)}"]
        for ply, each in enumerate(record.moves):
            move = game.move_from_data(each.move)
            text = game.move_to_text(move)
            position = game.play(position, move)
            made = "opening" if each.opening else f"{each.ms:.1f} ms"
            steps.append(f"ply {ply}: {text} ({made})\n{game.picture(position)}")
    except GameError as error:
        return f"<p>{escape(in_words(record))}: {escape(str(error))}</p>"
    shown = "".join(f"<pre hidden>{escape(step)}</pre>" for step in steps)
    slider = f'<input type="range" min="0" max="{len(steps) - 1}" value="{len(steps) - 1}" aria-label="ply">'
    summary = f"{escape(in_words(record))} <small>{escape(record.match)}</small>"
    return f'<details class="replay"><summary>{summary}</summary>{slider}{shown}</details>'

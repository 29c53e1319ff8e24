"""Start page before its scripts are loaded: HTML with a picture of a match.

On a slow network, the scripts take some seconds to load, and the HTML less than one. The picture uses the CSS classes
of the page's boards (`page/js/boards/map.js`), so it has their colours in light and dark mode. The scripts replace it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from urllib.parse import quote

from arena.games.catalogue import make_game
from arena.games.core import GameError
from arena.games.riskless import Riskless
from arena.maps.chance import compute_maxie_winning_chance
from arena.maps.map_file import AnnotatedMap
from arena.maps.picture import find_built_in_map, make_map_picture
from arena.match.openings import find_position_after
from arena.protocol.messages import Played, View
from arena.protocol.record import parse_record_line
from arena.protocol.values import PlainData, Players
from arena.server.web import titles


def _render_introduction(armies_to_win: int | None = None) -> str:
    """Return HTML of the introduction to the arena (the pitch).

    armies_to_win: number of armies that win the match in the picture below the pitch, which then has two buttons (how to play,
        play); None if there is no picture
    """
    goal_text = "a goal such as 220 armies" if armies_to_win is None else f"{armies_to_win} armies"
    pitch = (
        "<h1><span>Bots fight over maps, live.</span> <span>Can you beat one?</span></h1>"
        f"<p><span>A war game without dice: <span>take land, and </span>be first to <strong>{goal_text}</strong>.</span>"
    )
    if armies_to_win is None:
        return f'<div class="pitch">{pitch}</p></div>'
    return (
        f'<div class="pitch">{pitch} <button type="button" class="small">How it works</button></p>'
        '<a class="button big" href="/play">Play against a bot</a></div>'
    )


INTRODUCTION_ELEMENT = _render_introduction().encode()
"""HTML of the introduction to the arena (the pitch), for a start page without a picture of a match."""
DEMO_MATCH_FILE = Path(__file__).parents[2] / "page" / "demo.jsonl"
"""File with the record of a built-in match, which the start page shows until the first match on this server begins."""
COLOUR_NAME_BY_SEAT = {"maxie": "Blue", "minnie": "Orange"}
"""Names of the players' colours on the page, by seat."""
MAX_EVALUATION_AGE_PLIES = 4
"""Maximum age, in plies, of a bot's evaluation: an older one is not used for the chance of winning.

`page/js/chances.js` has the same limit.
"""


@dataclass(frozen=True)
class StartPageMatch:
    """Match in the main picture of the start page.

    moves: all moves from the start of the match to the position in the picture
    """

    match: str
    """Id of the match; empty for the built-in match, which has no page of its own."""
    game: str
    setup: Mapping[str, PlainData]
    players: Players
    moves: Sequence[Played]
    is_live: bool
    """True while the match is in progress."""


class InitialPage:
    """Generator of the HTML that the start page shows before its scripts are loaded.

    The generator remembers the match that was shown last.
    """

    def __init__(self) -> None:
        self._start_page_match = load_demo_match()
        """Match for the next picture if none is in progress: the last one shown, or the built-in one."""

    def render(self, live_match: View | None) -> bytes:
        """Return HTML of the start page: the introduction to the arena, and a picture of a match.

        live_match: match in progress to show; None to show the previous match again, or the built-in one if there was none
        """
        if live_match is None:
            self._start_page_match = replace(self._start_page_match, is_live=False)
        else:
            self._start_page_match = StartPageMatch(
                live_match.match,
                live_match.game,
                live_match.setup,
                live_match.players,
                live_match.moves,
                is_live=True,
            )
        return render_introduction_with_match(self._start_page_match)


def load_demo_match() -> StartPageMatch:
    """Return the first two thirds of the built-in match: one player is then the favourite, but either can still win."""
    record = parse_record_line(DEMO_MATCH_FILE.read_text(encoding="utf-8"))
    moves = [Played(move.move, move.ms, move.thinking) for move in record.moves]
    return StartPageMatch(
        "", record.game, record.setup, record.players, moves[: 2 * len(moves) // 3], is_live=False
    )


def render_introduction_with_match(start_page_match: StartPageMatch) -> bytes:
    """Return HTML with the pitch (the introduction to the arena) and the picture of a match. Takes one or two ms.

    If the match is not of Riskless, or its game cannot be loaded, return only the pitch.
    """
    try:
        game = make_game(start_page_match.game, start_page_match.setup)
        if not isinstance(game, Riskless):
            return INTRODUCTION_ELEMENT
        position = find_position_after(game, [move.move for move in start_page_match.moves])
    except GameError:
        return INTRODUCTION_ELEMENT
    armies: Sequence[int] = position.armies
    numbers = {"maxie": armies, "minnie": [-number for number in armies]}
    army_sums = {seat: sum(number for number in numbers[seat] if number > 0) for seat in COLOUR_NAME_BY_SEAT}
    players = {"maxie": start_page_match.players.maxie, "minnie": start_page_match.players.minnie}
    name = str(start_page_match.setup.get("map", ""))
    values = [_find_latest_evaluation(start_page_match.moves, side) for side in (0, 1)]
    army_values = [value / 100 for value in values if value is not None] or [sum(armies)]
    chances = [compute_maxie_winning_chance(value, name, game.map.armies_to_win) for value in army_values]
    chance = sum(chances) / len(chances)
    # Halves are rounded up, as JavaScript's `Math.round` does.
    percent = math.floor(100 * max(0.01, min(0.99, chance)) + 0.5)
    title = titles.make_map_title(name) if name else titles.GAME_TITLE_BY_NAME["riskless"]
    state = "live" if start_page_match.is_live else "replay"
    badge = f'<span class="badge" data-state="{state}">{state.title()}</span>'
    file = find_built_in_map(game.map)
    # Preload the map, which the scripts request first to draw the same match.
    map_url = f"/api/map/{quote(file.map.name, safe='')}" if file else ""
    preload_link = f'<link rel="preload" as="fetch" crossorigin="" href="{map_url}"/>' if map_url else ""
    address = f' href="/match/{quote(start_page_match.match, safe="")}"' if start_page_match.match else ""
    link_name = '<span class="unseen">Open match</span>' if start_page_match.match else ""
    label = f"Map, move {len(start_page_match.moves)}: " + ", ".join(
        f"{COLOUR_NAME_BY_SEAT[seat]} has {army_sums[seat]} armies" for seat in COLOUR_NAME_BY_SEAT
    )
    return (
        f'<div>{preload_link}{_render_introduction(game.map.armies_to_win)}<div class="hero"><section class="stage first">'
        f'<div class="scoreboard"><div class="sides"><h2 class="stage-title">{badge}<span class="kind">'
        f"{escape(title)}</span></h2>"
        f"{''.join(_render_player_side(seat, players[seat], numbers[seat], game.map.armies_to_win) for seat in COLOUR_NAME_BY_SEAT)}</div>"
        '<p class="tug-bar"><svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="minnie" height="4" width="100"/><rect class="maxie" height="4" width="{percent}"/></svg>'
        f'{_render_win_chance("maxie", players["maxie"], percent)}<span class="chance-of">Chance of winning</span>'
        f"{_render_win_chance('minnie', players['minnie'], 100 - percent)}</p></div>"
        f'<a class="stage-board"{address}>{link_name}<div class="stage-place"><div class="zoom"><div class="whole">'
        f"{make_map_picture(AnnotatedMap(game.map)).render_svg(armies, label)}</div></div></div></a>"
        '<div class="words-of"><p class="story"></p><p class="latest"></p></div></section><section class="wall"></section></div></div>'
    ).encode()


def _find_latest_evaluation(moves: Sequence[Played], player_index: int) -> float | None:
    """Return the latest evaluation that a player's bot sent with a move, in hundredths of an army, positive if good for Maxie.

    Return None if the bot sent no evaluation in the last MAX_EVALUATION_AGE_PLIES plies of the match. The page computes the
    chance of winning from the same evaluations (`page/js/chances.js`).

    player_index: 0 for the first player (Maxie); 1 for the second (Minnie)
    """
    for ply in range(len(moves) - 1, max(-1, len(moves) - 1 - MAX_EVALUATION_AGE_PLIES), -1):
        thinking = moves[ply].thinking
        if ply % 2 == player_index and thinking is not None and thinking.value is not None:
            return thinking.value
    return None


def _render_player_side(seat: str, name: str, armies_by_territory: Sequence[int], armies_to_win: int) -> str:
    """Return HTML with a player's name, number of armies and number of territories.

    seat: `maxie` or `minnie`
    armies_by_territory: number of armies on each territory; negative on the opponent's territories
    armies_to_win: number of armies that wins
    """
    held = [number for number in armies_by_territory if number > 0]
    territories = f"{len(held)} {'territory' if len(held) == 1 else 'territories'}"
    return (
        f'<div class="player" data-owner="{seat}"><span class="shape" role="img" aria-label="{COLOUR_NAME_BY_SEAT[seat]}:"></span>'
        f'<span class="name" title="{escape(name)}">{escape(titles.make_bot_title(name))}</span>'
        f'<span class="total"><strong>{sum(held)}</strong><span class="goal-of"> / {armies_to_win}</span></span>'
        f'<span class="line facts-of">{territories}</span>'
        '<svg class="race" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect height="4" width="{100 * min(sum(held), armies_to_win) / armies_to_win:.1f}"/></svg></div>'
    )


def _render_win_chance(seat: str, name: str, percent: int) -> str:
    """Return HTML of one of the two labels of the bar that compares the chances of winning.

    seat, name: player at whose end of the bar the label is
    percent: chance of winning of this player
    """
    ahead = ' data-leads="true"' if percent > 50 else ""
    return (
        f'<strong class="share-of" data-owner="{seat}"{ahead}><span class="name">{escape(titles.make_bot_title(name))}</span> '
        f"<span>{percent} %</span></strong>"
    )

"""Check of the names in a bot's hello (first message): the games, maps and time controls that the bot plays."""

from __future__ import annotations

from collections.abc import Callable, Collection

from arena.games.catalogue import CATALOGUE
from arena.games.name_hints import find_most_similar_name, format_name_suggestion
from arena.maps.loader import MapError, count_generated_territories, list_built_in_map_names
from arena.protocol.codes import ErrorCode
from arena.protocol.messages import Hello
from arena.protocol.timecontrol import BadTimeControl, TimeControl
from arena.server.core.lobby import RequestRefused
from arena.server.core.settings import GameAtTimeControl


def require_known_hello_names(
    hello: Hello, list_offered_games: Callable[[], Collection[GameAtTimeControl]]
) -> None:
    """Check that the games, maps and time controls in a bot's hello exist.

    If the hello names several games, one known game is enough. A time control must be in its shortest form, such as `10+0.1`.

    hello               first message of the bot
    list_offered_games  function that returns the games of the pool and of events. Their maps, which may be files of the
                        server's operator, count as known, and their time controls are suggested for an invalid one

    Raises RequestRefused, with the nearest valid name, if a check fails.
    """
    if hello.games and not any(map(CATALOGUE.is_known, hello.games)):
        game = hello.games[0]
        raise _make_unknown_name_refusal(
            f"this server has no game {game!r}", format_name_suggestion(game, CATALOGUE.list_game_names())
        )
    if hello.maps:
        offered_maps = {
            name
            for offered_game in list_offered_games()
            if isinstance(name := offered_game.game.setup().get("map"), str)
        }
        for name in hello.maps:
            if name not in offered_maps:
                _require_known_map(name, sorted(offered_maps.union(list_built_in_map_names())))
    for text in hello.time_controls:
        try:
            canonical = str(TimeControl.parse(text))
        except BadTimeControl as error:
            similar_name = find_most_similar_name(
                text, [str(offered_game.time_control) for offered_game in list_offered_games()]
            )
            raise _make_unknown_name_refusal(
                str(error), f"did you mean {similar_name}?" if similar_name else ""
            ) from None
        if canonical != text:
            raise _make_unknown_name_refusal(
                f"the time control {text!r} is not in its shortest form", f"write {canonical}"
            )


def _require_known_map(map_name: str, known_maps: list[str]) -> None:
    try:
        if map_name not in known_maps and count_generated_territories(map_name) is None:
            raise _make_unknown_name_refusal(
                f"this server has no map {map_name!r}",
                format_name_suggestion(map_name, [*known_maps, "ring:N", "grid:WxH"]),
            )
    except MapError as error:
        raise _make_unknown_name_refusal(str(error), "") from None


def _make_unknown_name_refusal(reason: str, suggestion: str) -> RequestRefused:
    return RequestRefused(ErrorCode.UNKNOWN_NAME, f"hello: {reason}{f'; {suggestion}' if suggestion else ''}")

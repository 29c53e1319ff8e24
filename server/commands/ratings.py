"""`arena ratings`: who is how strong, by the rated matches of a store."""

from __future__ import annotations

from typing import Annotated

import typer

from arena.console import DatabaseOption, Failure, JsonOption, game_named, write_json
from arena.server.commands.in_store import DATABASE, in_store
from arena.server.commands.output import Justify, print_table, say
from arena.server.store.aggregates.counting import refresh
from arena.server.store.aggregates.recompute import Differs, Recomputed, recompute
from arena.server.store.aggregates.standings import Standing, month_ago, standings
from arena.server.store.database import Engine

COLUMNS: dict[str, Justify] = {
    "#": "right",
    "game": "left",
    "bot": "left",
    "rating": "right",
    "deviation": "right",
    "volatility": "right",
    "matches": "right",
    "won": "right",
    "drawn": "right",
    "lost": "right",
    "forfeits": "right",
    "crash": "right",
}


def register(app: typer.Typer) -> None:
    """Add `arena ratings`."""
    app.command("ratings")(ratings)


def ratings(
    game: Annotated[
        str | None, typer.Option("--game", metavar="GAME", help="Only this game; else all.")
    ] = None,
    again: Annotated[
        bool,
        typer.Option("--recompute", help="Replay every rated match from the journal, and compare."),
    ] = False,
    all_: Annotated[
        bool, typer.Option("--all", help="Also the bots that have played no rated match for a month.")
    ] = False,
    db: DatabaseOption = DATABASE,
    json: JsonOption = None,
) -> None:
    """Show the Glicko-2 ratings of every bot, per game, from the rated matches of a store.

    A bot's strength lies within two deviations of its rating with 95 % confidence. docs/ratings.md tells
    how they are computed, and what each way of ending a match means for them.

    Example: arena ratings --game riskless --db sqlite:///arena.db
    """
    name = None if game is None else game_named(game)

    async def work(engine: Engine) -> tuple[list[Standing], Recomputed | None]:
        await refresh(engine)
        try:
            done = await recompute(engine) if again else None
        except Differs as found:
            raise Failure(f"the ratings cannot be recomputed: {found}") from None
        return await standings(engine, name, since=None if all_ else month_ago()), done

    found, done = in_store(db, work)
    if json is not None:
        write_json(found, json)
    else:
        print_table(COLUMNS, list(_rows(found)))
    if done is not None:
        imported = (
            f"; {done.imported} were imported and have no journal: their records were replayed"
            if done.imported
            else ""
        )
        say(f"recomputed from {done.matches} matches of the journal, with the same result{imported}")


def _rows(found: list[Standing]) -> list[list[str]]:
    places: dict[str, int] = {}
    rows = []
    for each in found:
        places[each.game] = places.get(each.game, 0) + 1
        numbers = (each.matches, each.wins, each.draws, each.losses, each.forfeits, each.crashes)
        strength = [f"{each.rating:.0f}", f"{each.deviation:.0f}", f"{each.volatility:.4f}"]
        rows.append([str(places[each.game]), each.game, each.bot, *strength, *map(str, numbers)])
    return rows

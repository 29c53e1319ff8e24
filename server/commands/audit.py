"""`arena audit`: find suspicious results and resignations, and bots of different owners that play alike or share an address."""

from __future__ import annotations

from typing import Annotated

import msgspec
import typer

from arena.console import DatabaseOption, JsonOption, Justify, err, print_table, write_json
from arena.rating.audit import Audit, AuditFinding
from arena.server.commands.store_access import DEFAULT_DATABASE_URL, make_unknown_event_error, run_on_store
from arena.server.store.address_uses import find_days_with_shared_address
from arena.server.store.archive import ArchivedMatch, export_archive_lines
from arena.server.store.database import Engine
from arena.server.store.tokens import list_tokens

JUSTIFICATION_BY_COLUMN: dict[str, Justify] = {
    "check": "left",
    "game": "left",
    "bot": "left",
    "opponent": "left",
    "matches": "right",
    "chance": "right",
    "what": "left",
}


def audit(
    event: Annotated[
        str | None,
        typer.Option(
            "--event", metavar="NAME", help="Event whose matches are audited; default: all matches."
        ),
    ] = None,
    db: DatabaseOption = DEFAULT_DATABASE_URL,
    json: JsonOption = None,
) -> None:
    """Look for signs of cheating in finished matches.

    The audit finds improbable results, bots that resign to one opponent, and bots of two owners that play alike or from
    one address on the same day. A finding is a reason to look at the matches of two bots, not a proof. The column
    `chance` is the probability that an audit of honest bots shows at least one such finding.

    Example: arena audit --event weekly-2026-11-27
    """

    async def find_suspicious_matches_of_event(engine: Engine) -> list[AuditFinding]:
        match_audit, decode = Audit(), msgspec.json.Decoder(ArchivedMatch).decode
        count = 0
        async for line in export_archive_lines(engine, event):
            match = decode(line)
            match_audit.add_match(match, is_rated=match.rated)
            count += 1
        if event is not None and not count:
            raise make_unknown_event_error(event)
        for pair, days in (await find_days_with_shared_address(engine)).items():
            match_audit.add_shared_address(*pair, days)
        owners = {token.name: token.owner for token in await list_tokens(engine)}
        return match_audit.list_findings(lambda a, b: a in owners and owners[a] == owners.get(b))

    findings = run_on_store(db, find_suspicious_matches_of_event)
    if json is not None:
        write_json(findings, json)
    elif findings:
        print_table(JUSTIFICATION_BY_COLUMN, map(_make_finding_table_cells, findings))
    else:
        err.print("nothing suspicious was found")


def _make_finding_table_cells(finding: AuditFinding) -> list[str]:
    chance = "" if finding.chance is None else f"{finding.chance:.1g}"
    return [
        finding.check,
        finding.game,
        finding.bot,
        finding.opponent,
        str(finding.sample_size),
        chance,
        finding.detail,
    ]

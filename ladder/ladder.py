"""State of a ladder: its plan, its schedule, and the matches played so far."""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from arena.bots.api.engine_spec import SUBMISSION_SPEC_PREFIX, ContainerSpec
from arena.cores import list_usable_cores
from arena.games.catalogue import CATALOGUE
from arena.games.core import AnyGame
from arena.games.loading import is_file_spec, split_file_spec
from arena.ladder.event_openings import ListedOpenings, Openings
from arena.ladder.pinning import choose_cores_for_bots
from arena.ladder.plan import BotPlan, LadderPlan, map_bots_to_time_controls
from arena.ladder.runner import replace_connection_names
from arena.ladder.threads import ThreadAllocation
from arena.maps.game_on_map import has_maps
from arena.maps.openings_file import find_shipped_openings_file
from arena.processes.bot_process import RestartPolicy
from arena.protocol.record import Record
from arena.rating.formats import FORMATS_WITHOUT_ELO, Encounter, KnockoutFormat, make_format, rank_by_format
from arena.rating.pairing import Pairing
from arena.rating.pentanomial import PairScoreCounts, count_pair_scores, estimate_elo_difference
from arena.rating.schedule import Schedule
from arena.rating.sprt import Sprt, Verdict
from arena.rating.standings import (
    StandingsRow,
    compute_pair_scores,
    make_standings,
    replace_elo_by_difference,
)

RECORDS_FOLDER_VARIABLE = "ARENA_RECORDS"
"""Environment variable that names the folder for records if `--record` is not given.

Without the variable, records go to the current folder.
"""


@dataclass
class Ladder:
    """A ladder, or a match of two bots: its plan (bots, rounds, clocks), its schedule, and the matches played so far."""

    plan: LadderPlan
    games_by_start_position: Sequence[AnyGame]
    """Start positions of the matches, each given by a game with its setup, such as Riskless on one map."""
    record_file: Path | None = None
    """File to which finished matches are appended, one per line; None to name the file after the start of the event."""
    event_kind: str = "ladder"
    """Kind of the event: `match` for `arena match` (two bots), otherwise `ladder`."""
    openings: Openings = field(default_factory=ListedOpenings)
    sprt: Sprt | None = None
    """Sequential test (SPRT) of two bots, which ends the event as soon as the test is decided; None to play all matches."""
    usable_cores: Sequence[int] = field(default_factory=list_usable_cores)
    """Numbers of the CPU cores that this process may use."""
    restart_policy: RestartPolicy = field(default_factory=RestartPolicy)
    """Limits for the bots' processes, such as the number of restarts."""
    is_named_by_user: bool = True
    """True if the user named the event. If False, the ladder may resume the latest unnamed event in the store."""
    schedule: Schedule | None = None
    """Schedule of the matches; None before `build_schedule`."""
    played_matches: list[tuple[Pairing, Record]] = field(default_factory=list)
    """Finished matches in the order of their ends, without the void ones, which a fault of the server ended."""
    resumed_match_count: int = 0
    """Number of matches in `played_matches` that an earlier run of the ladder played."""
    other_events_record_count: int = 0
    """Number of matches in the record file that belong to other events."""
    is_stopped: bool = False
    """True if the ladder was stopped, for example by Ctrl-C, before all its matches were played."""

    def __post_init__(self) -> None:
        if self.plan.bots:
            self.build_schedule(uuid.uuid4())

    def set_event_name(self, event_name: str) -> None:
        """Set the name of the event in the store. The user chose it or, if `is_named_by_user` is False, the program did."""
        self.plan = replace(self.plan, event_name=event_name)

    def choose_record_file(self, started_at: str) -> Path:
        """Return `record_file`. If `record_file` is None, first set it to a file that is named after the start of the event.

        started_at  time of the start of the event, ISO 8601

        Raises OSError if the folder of the file cannot be created.
        """
        if self.record_file is None:
            folder = Path(os.environ.get(RECORDS_FOLDER_VARIABLE, ""))
            folder.mkdir(parents=True, exist_ok=True)
            start_time = datetime.fromisoformat(started_at).astimezone()
            self.record_file = folder / f"{self.event_kind}-{start_time:%Y%m%d-%H%M%S}.jsonl"
        return self.record_file

    def set_other_events_record_count(self, record_count: int) -> None:
        self.other_events_record_count = record_count

    def set_external_bots(self, bot_names: Sequence[str]) -> None:
        """Set the bots of a ladder whose plan names none. Must be called before the first match."""
        self.plan = replace(self.plan, bots=tuple(BotPlan(name) for name in bot_names))

    def build_schedule(
        self, event_uid: UUID, finished_records: Mapping[str, Record] | None = None
    ) -> list[Record]:
        """Create the schedule, in which the matches of `finished_records` count as played.

        Return the void records among `finished_records`, whose matches are played again.

        event_uid         id of the event
        finished_records  finished matches by id, in the order in which they finished
        """
        plan = self.plan
        format = make_format(
            plan.format, self.bot_names, plan.rounds, len(self.games_by_start_position), plan.seed
        )
        self.schedule = Schedule(event_uid.hex, format)
        counted_matches, void_records = self.schedule.restore_results(finished_records or {})
        self.played_matches = [
            (pairing, replace_connection_names(pairing, record)) for pairing, record in counted_matches
        ]
        self.resumed_match_count = len(self.played_matches)
        return void_records

    def add_match(self, pairing: Pairing, record: Record) -> None:
        self.played_matches.append((pairing, record))

    def mark_stopped_early(self) -> None:
        """Record that the ladder was stopped, for example by Ctrl-C, before all its matches were played."""
        self.is_stopped = True

    @property
    def bot_names(self) -> list[str]:
        return [bot.name for bot in self.plan.bots]

    @property
    def records(self) -> list[Record]:
        return [record for _, record in self.played_matches]

    def make_standings_rows(self) -> list[StandingsRow]:
        """Return the rows of the table, one for each bot, ordered by the rules of the tournament format.

        In a match of two bots, Elo is computed from the scores of the pairs.
        """
        rows = make_standings(self.bot_names, self.records)
        if self.schedule is not None and self.plan.format in FORMATS_WITHOUT_ELO:
            rows = rank_by_format(rows, self.schedule.format)
        pairs = self.count_pair_scores() if self.event_kind == "match" else ()
        return (
            replace_elo_by_difference(rows, self.bot_names[0], estimate_elo_difference(pairs))
            if pairs
            else rows
        )

    def make_bracket(self) -> list[list[Encounter]]:
        """Return, for each round of a knockout, the encounters of two bots in it; an empty list for other formats."""
        format = self.schedule.format if self.schedule is not None else None
        return format.make_bracket() if isinstance(format, KnockoutFormat) else []

    def count_pair_scores(self) -> PairScoreCounts:
        """Return how many pairs of matches gave the first of two bots 0, ½, 1, 1½ and 2 points."""
        return count_pair_scores(compute_pair_scores(self.bot_names[0], self.played_matches))

    def is_sprt_decided(self) -> bool:
        """Return True if the sequential test (SPRT) has accepted one of its two hypotheses. Then no match is needed."""
        return self.sprt is not None and self.sprt.decide(self.count_pair_scores()) is not Verdict.OPEN

    @property
    def thread_allocation(self) -> ThreadAllocation:
        """Allocation of the CPU cores: number of search threads of each bot, and number of parallel matches."""
        return ThreadAllocation(
            self.plan.bots, len(self.bot_cores), self.plan.concurrency, self.total_matches
        )

    @property
    def concurrency(self) -> int:
        """Maximum number of matches in parallel."""
        return self.thread_allocation.concurrency

    @property
    def bot_cores(self) -> list[int]:
        """Numbers of the CPU cores on which the bots search: all usable cores, or all but one if the bots are pinned.

        The remaining core is left to the server. If there are only one or two cores, pinned bots use all cores, too.
        """
        return (
            choose_cores_for_bots(list(self.usable_cores))
            if self.plan.should_pin_bots
            else list(self.usable_cores)
        )

    @property
    def total_matches(self) -> int | None:
        """Number of all matches, played or not; 0 before `build_schedule`, None for an event without a fixed number of
        rounds.
        """
        return self.schedule.total_matches if self.schedule is not None else 0

    def make_settings_for_resume_check(self, *, includes_file_digests: bool = True) -> dict[str, Any]:
        """Return the settings of the event as plain data. A stored event is resumed only if it has equal settings.

        includes_file_digests  True to include a hash of each bot's file
        """
        plan = self.plan
        files = _compute_file_digests(plan.bots, plan.bot_folder or Path()) if includes_file_digests else {}
        return {
            "game": plan.game,
            "maps": [Path(name).name for name in plan.maps] if has_maps(plan.game) else [],
            "setups": [_compute_short_json_digest(start.setup()) for start in self.games_by_start_position],
            # Without custom games the key is left out, so that events stored by older versions can be resumed.
            **(
                {"rules": rules}
                if any(rules := [CATALOGUE.get_rules_digest(start) for start in self.games_by_start_position])
                else {}
            ),
            "bots": {bot.name: bot.description for bot in plan.bots},
            **({"files": files} if files else {}),
            "format": plan.format,
            "rounds": plan.rounds,
            "time control": str(plan.time_control),
            **({"time odds": odds} if (odds := map_bots_to_time_controls(plan.bots)) else {}),
            "margin": plan.margin_ms,
            "openings": self._make_openings_identifier(),
            "adjudication": str(plan.adjudication) if plan.adjudication else None,
            "seed": plan.seed,
        }

    def _make_openings_identifier(self) -> int | str:
        """Return a value that is equal for two events exactly if their openings are the same.

        The value is the number of random plies, or a hash of the files of openings; 0 if there are no openings.
        """
        plan = self.plan
        if isinstance(plan.openings, int):
            return plan.openings
        if isinstance(plan.openings, Path):
            return _compute_short_json_digest(plan.openings.read_text(encoding="utf-8"))
        maps = plan.maps if has_maps(plan.game) else ()
        # Also for a variant of Riskless, which does not play these openings: without a hash of them, ladders of variants
        # that are in a store already could not be resumed.
        texts = [
            path.read_text(encoding="utf-8") if (path := find_shipped_openings_file(name)) else ""
            for name in maps
        ]
        return _compute_short_json_digest(texts) if any(texts) else 0


def _compute_file_digests(bots: Sequence[BotPlan], folder: Path) -> dict[str, str]:
    """Return a hash of each bot's file, by the bot's name; bots without a file are left out.

    If a file has changed, the event is not resumed, so that results of different bots do not mix.
    """
    files = {
        bot.name: folder / file
        for bot in bots
        if bot.engine_spec and (file := _find_engine_file(bot.engine_spec))
    }
    return {
        name: _compute_short_json_digest(file.read_bytes().decode("latin-1"))
        for name, file in files.items()
        if file.is_file()
    }


def _find_engine_file(engine_spec: str) -> str:
    """Return the path of the file that an engine spec names; empty if the spec names none."""
    if engine_spec.startswith(SUBMISSION_SPEC_PREFIX):
        return str(ContainerSpec.parse(engine_spec).submission)
    return split_file_spec(engine_spec)[0] if is_file_spec(engine_spec) else ""


def _compute_short_json_digest(json_data: object) -> str:
    """Return a hash of JSON data as twelve hexadecimal digits. The order of keys does not matter."""
    return hashlib.sha256(json.dumps(json_data, sort_keys=True).encode()).hexdigest()[:12]

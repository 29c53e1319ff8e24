"""The command `arena submit`, for who runs ladders: add, list and check bots that people submit as zip files."""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from msgspec import Struct

from arena import user_paths
from arena.bots.api.engine_spec import SUBMISSION_IMAGE_SEPARATOR, SUBMISSION_SPEC_PREFIX, BadSpec
from arena.bots.engines.container import make_container_engine
from arena.bots.engines.submission import unpack_submission
from arena.check.commands.check import check as check_protocol
from arena.console import (
    CommandError,
    GameOption,
    JsonOption,
    MapOption,
    MarginOption,
    TimeOption,
    UsageError,
    out,
    parse_time_control_option,
    print_table,
    register_game,
    write_json,
)
from arena.ladder.commands.play_plan import play_plan
from arena.ladder.commands.results import ReportFiles, report_results
from arena.ladder.plan import BotPlan, LadderPlan
from arena.maps.game_on_map import DEFAULT_MAP
from arena.protocol.codes import FORFEIT_REASONS
from arena.rating.standings import list_losers

DEFAULT_SUBMISSIONS_FOLDER = Path("submissions")
SUBMISSION_NAME_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,47}")
"""Pattern of a valid name of a submission. The zip file of the submission NAME is called `NAME.zip`."""
PRINTED_SHA256_DIGITS = 12
"""Number of hexadecimal digits of a file's SHA-256 digest that `arena submit list` shows."""

FolderOption = Annotated[
    Path, typer.Option("--folder", metavar="FOLDER", help="Folder in which submissions are kept.")
]


class Submission(Struct, frozen=True):
    """A submitted bot, as listed by `arena submit list`."""

    name: str
    runs: str = ""
    """Command that starts the bot in its container; empty if the file is invalid."""
    kib: int = 0
    """Size of the zip file, in KiB."""
    sha256: str = ""
    problem: str = ""
    """Reason why the submission's zip file is invalid; empty if it is valid."""


def add_command(
    file: Annotated[
        Path, typer.Argument(metavar="FILE.zip", help="Zip file of the bot, with bot.toml at its top level.")
    ],
    name: Annotated[
        str,
        typer.Option(
            "--name", metavar="NAME", help="Name of the submission; default: name of the file, without .zip."
        ),
    ] = "",
    folder: FolderOption = DEFAULT_SUBMISSIONS_FOLDER,
    *,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace the submission of the same name.")
    ] = False,
) -> None:
    """Check a zip file with a bot, and keep it for ladders.

    No program in the file is run.

    Example: arena submit add bot.zip --name camel
    """
    name = name or file.stem
    if SUBMISSION_NAME_PATTERN.fullmatch(name) is None:
        raise UsageError(
            f"--name: {name!r:.80} is not valid; use 1 to 48 letters, digits, _ . and -, beginning with a letter or digit"
        )
    if user_paths.exists(folder) and not user_paths.is_folder(folder):
        raise UsageError(f"--folder: {folder} is not a folder")
    target = folder / f"{name}.zip"
    _read_start_command(file)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".") as temporary_folder:
            # The file appears whole or not at all.
            copy = Path(shutil.copyfile(file, Path(temporary_folder) / target.name))
            if replace:
                copy.replace(target)
            else:
                target.hardlink_to(copy)
    except FileExistsError:
        raise CommandError(f"{target} already exists; add --replace, or give another --name") from None
    except OSError as error:
        raise CommandError(f"cannot write {target}: {error.strerror}") from None
    out.print(f'{name} is in {target}; in a ladder file: submit = "{target}"')


def list_command(folder: FolderOption = DEFAULT_SUBMISSIONS_FOLDER, json: JsonOption = None) -> None:
    """List the submissions in a folder.

    Example: arena submit list --folder submissions
    """
    if folder != DEFAULT_SUBMISSIONS_FOLDER and not user_paths.is_folder(folder):
        raise UsageError(f"--folder: {folder} is not a folder: name the one given to `arena submit add`")
    submissions = [_inspect_submission(file) for file in sorted(folder.glob("*.zip"))]
    if json is not None:
        write_json(submissions, json)
        return
    rows = [
        (
            submission.name,
            submission.problem or submission.runs,
            str(submission.kib),
            submission.sha256[:PRINTED_SHA256_DIGITS],
        )
        for submission in submissions
    ]
    print_table({"name": "left", "runs": "left", "KiB": "right", "sha256": "left"}, rows)


def check_command(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Submission to check: its name, or a FILE.zip.")
    ],
    image: Annotated[
        str,
        typer.Option(
            "--image",
            metavar="IMAGE",
            help="Container image in which the submission runs; default: riskless-arena.",
        ),
    ] = "",
    game: GameOption = "riskless",
    map: MapOption = DEFAULT_MAP,
    tc: TimeOption = "0.1/move",
    margin: MarginOption = 100,
    folder: FolderOption = DEFAULT_SUBMISSIONS_FOLDER,
) -> None:
    """Check a submission in its container: the protocol, and a match against itself.

    Exits with code 1 if a check fails, or if the bot forfeits a match.

    Example: arena submit check camel --game tictactoe
    """
    file = Path(name) if name.endswith(".zip") else folder / f"{name}.zip"
    if not user_paths.is_file(file):
        raise UsageError(f"{file} does not exist; give the name of a submission, or the path of a .zip file")
    spec = (
        f"{SUBMISSION_SPEC_PREFIX}{file}{SUBMISSION_IMAGE_SEPARATOR}{image}"
        if image
        else f"{SUBMISSION_SPEC_PREFIX}{file}"
    )
    try:
        make_container_engine(spec)
    except BadSpec as error:
        raise CommandError(str(error)) from None
    time_control = parse_time_control_option(tc)
    check_protocol(spec, game=[register_game(game)], tc=tc, margin=margin)
    bot_plans = (BotPlan(file.stem, spec), BotPlan(f"{file.stem}-2", spec))
    plan = LadderPlan(
        bot_plans, game=game, maps=(map,), time_control=time_control, margin_ms=margin, rounds=1
    )
    ladder = play_plan(plan, "match", None, None)
    report_results(ladder, (), {}, ReportFiles())
    faults = Counter(
        record.result.reason.value
        for record in ladder.records
        if record.result.reason in FORFEIT_REASONS and list_losers(record)
    )
    if faults:
        raise CommandError(
            f"{file.stem} forfeited a match against itself ({', '.join(faults)}); see {ladder.record_file}"
        )


def _read_start_command(zip_file: Path) -> str:
    """Return the command line that starts a submission's bot. Raises CommandError if the file is invalid."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            return " ".join(unpack_submission(zip_file, Path(folder)))
        except BadSpec as error:
            raise CommandError(str(error)) from None


def _inspect_submission(zip_file: Path) -> Submission:
    try:
        command = _read_start_command(zip_file)
        zip_bytes = zip_file.read_bytes()
    except CommandError as error:
        return Submission(zip_file.stem, problem=str(error))
    return Submission(
        zip_file.stem, command, -(-len(zip_bytes) // 1024), hashlib.sha256(zip_bytes).hexdigest()
    )


SUBCOMMAND_FUNCTIONS = (add_command, check_command, list_command)
"""Functions of the subcommands `add`, `check` and `list` of `arena submit`."""

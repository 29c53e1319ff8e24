from __future__ import annotations

import errno
import json
from contextlib import redirect_stdout
from pathlib import Path

import anyio
import pytest

from arena.clock import TimeSource
from arena.console import CommandError
from arena.protocol.messages import Hello
from arena.server.abuse_counter import AbuseCounter
from arena.server.commands.token import create, rotate
from arena.server.ports import AdmissionRequest
from arena.server.shell.authenticator import Authenticator
from arena.server.store.accounts import load_accounts
from arena.server.store.database import open_store
from tests.bots.command_line import arena, fails
from tests.full_disk import FullOutput


def test_a_bot_connects_with_a_created_token(database: str) -> None:
    code, out, err = arena("token", "create", "my bot", "--role", "spectator", "--db", database)
    assert code == 0
    assert "shown this once" in err

    async def check(token: str) -> str:
        async with open_store(database) as engine:
            authenticator = Authenticator(
                engine,
                "",
                admits_anyone=False,
                admits_guests=False,
                wrong_token_counter=AbuseCounter(),
                clock=TimeSource(lambda: 0),
            )
            known = await load_accounts(engine, "", ["my bot"])
            hello = Hello("my bot", token=token, role="spectator")
            return authenticator.authenticate_client(
                AdmissionRequest(1, hello, "192.0.2.1"), known["my bot"]
            ).role

    assert anyio.run(check, out.strip()) == "spectator"
    code, rotated, _ = arena("token", "rotate", "my bot", "--db", database)
    assert anyio.run(check, rotated.strip()) == "spectator"
    code, out, err = arena("token", "revoke", "my bot", "--db", database)
    assert (code, out) == (0, "")
    for change in ("rotate", "revoke"):
        fails("it was revoked", 1, "token", change, "my bot", "--db", database)
    code, out, _ = arena("token", "list", "--db", database, "--json", "-")
    (listed,) = json.loads(out)
    assert (listed["name"], listed["role"]) == ("my bot", "spectator")
    assert listed["created"] <= listed["rotated"] <= listed["revoked"]
    assert "hash" not in listed
    lines = arena("token", "list", "--db", database)[1].splitlines()
    cells = [cell.strip() for cell in lines[2].strip("|").split("|")]
    assert cells == [listed[column] for column in ("name", "role", "owner", "created", "rotated", "revoked")]


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        (("create", " "), 2, "is not a valid name"),
        (("create", "bert", "--role", "king"), 2, "king"),
        (("rotate", "bert"), 1, "'bert' has no token"),
        (("revoke", "bert"), 1, "'bert' has no token"),
        (("list", "--db", "mysql://x"), 1, "unsupported kind of database"),
        (("list", "--db", "sqlite:///nothere.db"), 1, "database nothere.db does not exist"),
    ],
)
def test_an_impossible_request_is_reported_in_one_line(
    tmp_path: Path, arguments: tuple[str, ...], code: int, why: str
) -> None:
    database = f"sqlite:///{tmp_path / 'arena.db'}"
    arena("token", "create", "anna", "--db", database)
    fails(why, code, "token", *arguments, *(() if "--db" in arguments else ("--db", database)))
    assert not Path("nothere.db").exists()


def test_a_token_that_cannot_be_printed_is_not_stored(database: str) -> None:
    with (
        redirect_stdout(FullOutput(errno.ENOSPC)),
        pytest.raises(CommandError, match="cannot write standard"),
    ):
        create("ada", db=database)
    assert "ada" not in arena("token", "list", "--db", database).stdout
    assert arena("token", "create", "ada", "--db", database).code == 0
    with (
        redirect_stdout(FullOutput(errno.ENOSPC)),
        pytest.raises(CommandError, match="cannot write standard"),
    ):
        rotate("ada", db=database)
    [listed] = json.loads(arena("token", "list", "--db", database, "--json", "-").stdout)
    assert listed["rotated"] is None


def test_a_reserved_name_creates_no_store(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'arena.db'}"
    fails("choose one that does not begin with house-", 1, "token", "create", "house-ada", "--db", url)
    assert list(tmp_path.iterdir()) == []

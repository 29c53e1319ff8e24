"""What is used of other people's libraries is what they document: their private and undocumented members may change."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.server import ServerProtocol

ROOT = Path(__file__).parents[1]
OURS = {
    "arena",
    "console",
    "cores",
    "games",
    "maps",
    "solved",
    "protocol",
    "match",
    "rating",
    "server",
    "ladder",
    "bots",
    "tests",
    "benchmarks",
}
SOURCES = sorted(
    path
    for name in sorted(OURS - {"tests", "benchmarks"})
    for path in (*ROOT.glob(f"{name}.py"), *(ROOT / name).rglob("*.py"))
)

NO_ABORT = "websockets documents no way to cut a connection without a closing handshake"
EXCEPTIONS = {
    ("bots/compiled/cache.py", "_cache"): "numba has no public way to choose where a kernel's cache lies",
    ("bots/compiled/cache.py", "_impl_class"): "how numba's cache is told what it keeps",
    ("bots/client/client.py", "transport"): NO_ABORT,
    (
        "games/plain.py",
        "_fields",
    ): "Python documents it, and begins it so that no field of a named tuple can have the same name",
    ("server/check/peer.py", "transport"): NO_ABORT,
    ("server/check/stage.py", "transport"): NO_ABORT,
}
"""Members that are used though no documentation has them, by file, each with its reason."""

UNDOCUMENTED = {
    "apply_mask",
    "close_rcvd",
    "close_rcvd_then_sent",
    "close_sent",
    "connection_lost_waiter",
    "current_size",
    "eof_sent",
    "keepalive_task",
    "parser_exc",
    "pending_pings",
    "process_event",
    "recv_messages",
    "send_context",
    "send_data",
    "speedups",
}
"""Members of websockets that stand on no page of its documentation, and that a server is tempted to use."""

SANSIO = "reference/sansio/server"
CLIENT = "reference/asyncio/client"
SERVER = "reference/asyncio/server"
DATA = "reference/datastructures"
DOCUMENTED = {
    "websockets.asyncio.client.ClientConnection": CLIENT,
    "websockets.asyncio.client.connect": CLIENT,
    "websockets.asyncio.server.Server": SERVER,
    "websockets.asyncio.server.ServerConnection": SERVER,
    "websockets.asyncio.server.serve": SERVER,
    "websockets.exceptions.ConnectionClosed": "reference/exceptions",
    "websockets.exceptions.InvalidHandshake": "reference/exceptions",
    "websockets.exceptions.InvalidProxy": "reference/exceptions",
    "websockets.exceptions.InvalidStatus": "reference/exceptions",
    "websockets.exceptions.InvalidURI": "reference/exceptions",
    "websockets.frames.Frame": DATA,
    "websockets.frames.Opcode": DATA,
    "websockets.http11.Request": DATA,
    "websockets.http11.Response": DATA,
    "websockets.protocol.State": "reference/sansio/common",
    "websockets.server.ServerProtocol": SANSIO,
    "websockets.typing.Subprotocol": "reference/types",
}
"""Every name that is imported from websockets, with the page of its documentation that has it."""

MEMBERS = {
    "ClientConnection": {
        "__aiter__": CLIENT,
        "close": CLIENT,
        "close_code": CLIENT,
        "close_reason": CLIENT,
        "recv": CLIENT,
        "send": CLIENT,
        "subprotocol": CLIENT,
        "wait_closed": CLIENT,
    },
    "ConnectionClosed": dict.fromkeys(("rcvd", "sent", "rcvd_then_sent"), "reference/exceptions"),
    "Frame": dict.fromkeys(("data", "fin", "opcode"), DATA),
    "Opcode": dict.fromkeys(("BINARY", "CLOSE", "CONT", "PING", "PONG", "TEXT"), DATA),
    "Request": dict.fromkeys(("headers", "method", "path", "protocol"), DATA),
    "Response": dict.fromkeys(("body", "headers"), DATA),
    "ServerConnection": {
        "close": SERVER,
        "close_code": SERVER,
        "close_reason": SERVER,
        "recv": SERVER,
        "remote_address": SERVER,
        "request": SERVER,
        "respond": SERVER,
        "send": SERVER,
        "wait_closed": SERVER,
    },
    "ServerProtocol": dict.fromkeys(
        (
            "accept",
            "close_exc",
            "close_expected",
            "data_to_send",
            "events_received",
            "fail",
            "receive_data",
            "receive_eof",
            "reject",
            "send_binary",
            "send_close",
            "send_ping",
            "send_response",
            "send_text",
            "state",
        ),
        SANSIO,
    ),
    "State": dict.fromkeys(("CLOSED", "CLOSING", "CONNECTING", "OPEN"), "reference/sansio/common"),
}
"""What is used of the objects of those types, with the page of the documentation that has it."""


@cache
def modules() -> dict[str, ast.Module]:
    return {
        path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES
    }


@cache
def nodes(tree: ast.Module) -> list[ast.AST]:
    """All that a module is made of: it is gone through many times."""
    return list(ast.walk(tree))


def imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The full name of each thing that is imported from a library, and the name that it has here."""
    for node in nodes(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] not in OURS:
            for alias in node.names:
                yield f"{node.module}.{alias.name}", alias.asname or alias.name
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] not in OURS:
                    yield alias.name, alias.asname or alias.name.partition(".")[0]


def is_private(name: str) -> bool:
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__"))


def types_of(tree: ast.Module) -> dict[str, set[str]]:
    """What the names and attributes of a module may be, of the types in `MEMBERS`, as far as their names tell.

    A name counts for the whole module: `connection: ServerConnection` in one function speaks for all of them.
    """
    kinds = {
        local: full.rpartition(".")[2] for full, local in imports(tree) if full.startswith("websockets.")
    }
    found: dict[str, set[str]] = {local: {kind} for local, kind in kinds.items() if kind in MEMBERS}

    def add(name: str, annotation: ast.AST | None) -> None:
        words = ast.walk(annotation) if annotation else ()
        named = {kinds[each.id] for each in words if isinstance(each, ast.Name) and each.id in kinds}
        found.setdefault(name, set()).update(named & MEMBERS.keys())

    for node in nodes(tree):
        if isinstance(node, ast.arg):
            add(node.arg, node.annotation)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name | ast.Attribute):
            add(name_of(node.target), node.annotation)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            for target in node.targets:
                if isinstance(target, ast.Name | ast.Attribute):
                    add(name_of(target), node.value.func)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name | ast.Attribute):
            for target in node.targets:
                if isinstance(target, ast.Name | ast.Attribute):
                    found.setdefault(name_of(target), set()).update(found.get(name_of(node.value), set()))
        elif isinstance(node, ast.ExceptHandler) and node.name:
            add(node.name, node.type)
    return found


def name_of(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def private_members(file: str, tree: ast.Module) -> Iterator[str]:
    """What a module uses of libraries' private members, other than the exceptions."""
    own = {
        node.name
        for node in nodes(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }
    for node in nodes(tree):
        if isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Store):
            own.add(name_of(node))
    private = [full for full, _ in imports(tree) if any(is_private(part) for part in full.split("."))]
    for node in nodes(tree):
        if not isinstance(node, ast.Attribute) or not is_private(node.attr):
            continue
        mine = name_of(node.value) in {"self", "cls"} or node.attr in own
        if not mine:
            private.append(f"{ast.unparse(node)} (line {node.lineno})")
    for each in private:
        if not any(file == where and name in each for where, name in EXCEPTIONS):
            yield f"{file} uses the private member {each}"


def undocumented_members(file: str, tree: ast.Module) -> Iterator[str]:
    """What a module uses of websockets that its documentation does not have, other than the exceptions."""
    known = [full for full, _ in imports(tree) if full.partition(".")[0] == "websockets"]
    for full in known:
        if full not in DOCUMENTED:
            yield f"{file} imports {full}, which no page of the documentation has"
    if not known:
        return
    types = types_of(tree)
    for node in nodes(tree):
        if not isinstance(node, ast.Attribute):
            continue
        if node.attr in UNDOCUMENTED:
            yield f"{file}:{node.lineno} uses {node.attr}, which is not documented"
        for kind in types.get(name_of(node.value), ()):
            if node.attr not in MEMBERS[kind] and (file, node.attr) not in EXCEPTIONS:
                yield f"{file}:{node.lineno} uses {kind}.{node.attr}: is it documented?"


def test_no_private_member_of_a_library_is_used() -> None:
    assert not [each for file, tree in modules().items() for each in private_members(file, tree)]


def test_nothing_of_websockets_is_used_that_it_does_not_document() -> None:
    assert not [each for file, tree in modules().items() for each in undocumented_members(file, tree)]


@pytest.mark.parametrize(
    ("find", "source", "told"),
    [
        (private_members, "from rich._wrap import x", "uses the private member rich._wrap.x"),
        (private_members, "import rich\nrich._log()", "uses the private member rich._log (line 2)"),
        (undocumented_members, "from websockets.speedups import x", "imports websockets.speedups.x"),
        (
            undocumented_members,
            "from websockets.server import ServerProtocol\nmade = ServerProtocol()\nmade.reader",
            "uses ServerProtocol.reader: is it documented?",
        ),
        (
            undocumented_members,
            "from websockets.frames import Frame\nx.pending_pings",
            "uses pending_pings, which is not documented",
        ),
    ],
)
def test_what_is_forbidden_is_found(
    find: Callable[[str, ast.Module], Iterator[str]], source: str, told: str
) -> None:
    (found,) = find("made/up.py", ast.parse(source))
    assert told in found


def test_the_tables_name_nothing_that_is_not_used() -> None:
    used = {full for tree in modules().values() for full, _ in imports(tree)}
    assert DOCUMENTED.keys() <= used
    for file, name in EXCEPTIONS:
        assert name in (ROOT / file).read_text(encoding="utf-8"), f"{file} does not use {name} any more"


def test_the_members_are_there() -> None:
    """A name that is spelt wrongly in the table would document nothing."""
    assert all(hasattr(ServerProtocol, name) for name in MEMBERS["ServerProtocol"])
    assert set(vars(ConnectionClosed(None, None))) >= MEMBERS["ConnectionClosed"].keys()

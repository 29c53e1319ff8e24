"""bots.commands.replay: a match is replayed from a server, by the URL of the match's page."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from arena.bots.commands.replay import load_records
from arena.console import CommandError, UsageError
from arena.protocol.record import format_record_line
from testkit.sample_match import make_sample_match

RECORD = make_sample_match(12, 1).record


class Answers(BaseHTTPRequestHandler):
    """Handler of a web server with one record."""

    def do_GET(self) -> None:
        match = self.path.removeprefix("/api/record/")
        table = {RECORD.match: (200, format_record_line(RECORD)), "junk": (200, "{}")}
        status, body = table.get(match, (404, "no finished match is called that"))
        self.send_response(status)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *args: object) -> None: ...


@pytest.fixture
def url() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Answers) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    "path", ["#/match/{}", "match/{}", "#/match/{}/12", "api/record/{}?download", "match/{}#x"]
)
def test_a_match_is_known_by_the_address_of_its_page(path: str, url: str) -> None:
    address = f"{url}/{path.format(RECORD.match)}"
    if path.endswith(("?download", "#x")):
        with pytest.raises(UsageError, match="is not a match URL"):
            load_records(address)
    else:
        assert load_records(address) == [(1, RECORD)]


def test_the_servers_answer_is_shown(url: str) -> None:
    with pytest.raises(CommandError, match="status 404: no finished match is called that"):
        load_records(f"{url}/match/other")
    with pytest.raises(CommandError, match="did not send a match record: not a valid arena-record/1 record"):
        load_records(f"{url}/match/junk")


def test_a_server_that_is_not_there_is_reported() -> None:
    with pytest.raises(CommandError, match=r"^no answer from http://127\.0\.0\.1:1: Connection refused$"):
        load_records("http://127.0.0.1:1/match/x")
    with pytest.raises(CommandError, match=r"^no answer from http://\[: Invalid IPv6 URL$"):
        load_records("http://[/match/x")

"""Encoded HTTP responses, as another library parses them."""

from __future__ import annotations

from http import HTTPStatus

from hypothesis import given
from hypothesis import strategies as st

from arena.server.edge.responses import Response
from tests.server.edge.rig import PROGRAM, parse_response

statuses = st.sampled_from(
    [status for status in HTTPStatus if status >= 200 and status not in (204, 205, 304)]
)
tokens = st.text("abcdefghij-", min_size=1, max_size=12)
values = st.text("abc xyz/;=\"'!", max_size=30).map(str.strip)


@given(
    statuses,
    st.binary(max_size=3000),
    st.dictionaries(tokens.map("X-{}".format), values, max_size=4),
    st.booleans(),
)
def test_another_library_parses_a_response_as_it_was_made(
    status: HTTPStatus, body: bytes, headers: dict[str, str], is_last: bool
) -> None:
    response, read_body = parse_response(Response(status, "image/png", body, headers), is_last=is_last)
    assert response.status == status
    assert response.will_close == is_last
    assert read_body == body
    found = response.headers
    assert found.get_all("Content-Type") == ["image/png"]
    assert found.get_all("Content-Length") == [str(len(body))]
    assert found.get_all("Server") == [PROGRAM]
    for name, value in headers.items():
        assert found.get_all(name) == [value]

"""Files of the page: paths, headers, and compression."""

from __future__ import annotations

import base64
import gzip
import hashlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.server.web.routes import accepts_gzip
from arena.server.web.static_files import PAGE_FOLDER, StaticFiles


@pytest.fixture(scope="module")
def files() -> StaticFiles:
    return StaticFiles()


@pytest.mark.parametrize(
    ("start", "embedded", "bundles"),
    [
        (True, False, ["main.bundle.js"]),
        (False, False, ["main.bundle.js", "views.bundle.js"]),
        (False, True, ["embed.bundle.js"]),
    ],
)
def test_each_page_preloads_its_bundles(
    files: StaticFiles, start: bool, embedded: bool, bundles: list[str]
) -> None:
    answer = files.templates.render_page(is_start_page=start, is_embedded=embedded)
    page = answer.body.decode()
    assert answer.headers["Link"] == (
        f"</web/{files.digest}/css/page.bundle.css>; rel=preload; as=style, "
        f"</web/{files.digest}/js/{bundles[0]}>; rel=modulepreload"
    )
    names = re.findall(r'(?:src|href)="/web/([^"]+\.js)"', page)
    assert [each.removeprefix(f"{files.digest}/js/") for each in names] == bundles
    for name in names:
        assert files.answer_file(name, accepts_gzip=False) is not None


def test_a_change_of_the_bundling_changes_the_digest(
    monkeypatch: pytest.MonkeyPatch, files: StaticFiles
) -> None:
    monkeypatch.setattr(
        "arena.server.web.static_files.make_bundles", lambda *_args: {"js/main.bundle.js": b""}
    )
    assert StaticFiles().digest != files.digest


def test_the_policy_allows_only_the_inlined_styles(files: StaticFiles) -> None:
    answer = files.templates.render_page()
    style = re.search(rb"<style>(.*)</style>", answer.body, re.DOTALL)
    assert style is not None
    assert style[1] == remove_comments("first.css").replace(b"{{digest}}", files.digest.encode())
    seal = base64.b64encode(hashlib.sha256(style[1]).digest()).decode()
    assert f"style-src 'self' 'sha256-{seal}';" in answer.headers["Content-Security-Policy"]


def remove_comments(style_file_name: str) -> bytes:
    """Return the content of a style sheet of the page without its comments."""
    style = (PAGE_FOLDER / "css" / style_file_name).read_bytes()
    return re.sub(rb"\s*/\*(?:[^*]|\*(?!/))*\*/", b"", style)


@pytest.mark.parametrize("embedded", [False, True])
def test_each_page_links_to_one_file_with_all_further_styles(files: StaticFiles, embedded: bool) -> None:
    page = files.templates.render_page(is_embedded=embedded).body.decode()
    before, link, after = page.partition('<link rel="stylesheet" href="/web/')
    assert "</main>" in before, "the link would delay the first paint"
    assert link
    answer = files.answer_file(after.partition('"')[0], accepts_gzip=False)
    assert answer is not None
    assert answer.body == b"".join(map(remove_comments, ("page.css", "boards.css", "home.css")))


@pytest.mark.parametrize("embedded", [False, True])
def test_each_page_preloads_the_font_of_its_styles(files: StaticFiles, embedded: bool) -> None:
    """Without the preload, a browser requests the font only after layout, and first shows the text in another font."""
    page = files.templates.render_page(is_embedded=embedded).body.decode()
    (font,) = re.findall(r'url\("(/web/[^"]+\.woff2)"\)', page)
    assert f'<link rel="preload" href="{font}" as="font" type="font/woff2" crossorigin>' in page


def test_only_documents_have_a_content_security_policy(files: StaticFiles) -> None:
    for name, policed in (
        ("icon.svg", True),
        ("js/main.js", False),
        ("css/page.css", False),
    ):
        answer = files.answer_file(f"{files.digest}/{name}", accepts_gzip=False)
        assert answer is not None
        assert ("Content-Security-Policy" in answer.headers) is policed
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
    for page in ("index.html", "embed.html"):
        assert files.answer_file(f"{files.digest}/{page}", accepts_gzip=False) is None, (
            "HTML pages are not served as files"
        )
    for embedded in (False, True):
        assert (
            "default-src 'none'"
            in files.templates.render_page(is_embedded=embedded).headers["Content-Security-Policy"]
        )


def test_a_compressed_file_has_the_same_content(files: StaticFiles) -> None:
    for path in (PAGE_FOLDER / "js").rglob("*.js"):
        name = f"{files.digest}/{path.relative_to(PAGE_FOLDER).as_posix()}"
        plain, packed = (
            files.answer_file(name, accepts_gzip=False),
            files.answer_file(name, accepts_gzip=True),
        )
        assert plain is not None
        assert packed is not None
        assert plain.body == path.read_bytes()
        if "Content-Encoding" in packed.headers:
            assert gzip.decompress(packed.body) == plain.body


@given(st.text(st.sampled_from("./%\\abjsm"), max_size=30))
def test_no_path_leads_out_of_the_folder(files: StaticFiles, path: str) -> None:
    inside = path in {file.relative_to(PAGE_FOLDER).as_posix() for file in PAGE_FOLDER.rglob("*")}
    assert (files.answer_file(f"{files.digest}/{path}", accepts_gzip=False) is not None) <= inside
    assert files.answer_file(path, accepts_gzip=False) is None, "a path without the digest is not served"


def test_gzip_is_sent_to_clients_that_accept_it() -> None:
    assert accepts_gzip("deflate, gzip;q=1.0, *;q=0.5")
    assert accepts_gzip("GZIP")
    assert not accepts_gzip("")
    assert not accepts_gzip("gzip;q=0")
    assert not accepts_gzip("br")


def test_the_service_worker_has_the_digest_and_is_revalidated(files: StaticFiles) -> None:
    answer = files.answer_service_worker(accepts_gzip=False)
    assert f"/web/{files.digest}/".encode() in answer.body
    assert b"{{digest}}" not in answer.body
    assert answer.headers["Cache-Control"] == "no-cache"

"""The files of the page, `page/`: read once, compressed once, kept in memory.

`/` is the page itself, asked for anew each time. All else lies under `/web/DIGEST/`, where DIGEST is
the digest of all the files: what is there never changes, so a browser keeps it for good, and a new version
of the server has new addresses. Nothing is served but what was there when the server started, so no path
can lead out of the folder.
"""

from __future__ import annotations

import base64
import gzip
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256
from http import HTTPStatus
from pathlib import Path

from arena.server.net.answers import Answer
from arena.server.web.bundle import bundled

WEB = Path(__file__).parents[2] / "page"

KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".jsonl": "application/json",
    ".md": "text/plain; charset=utf-8",
    "": "text/plain; charset=utf-8",
}
"""The media types of the files that are served, by how their names end."""

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors "
)
POLICY = f"{_POLICY}'none'"
"""The page runs nothing but its own files, talks to nobody but its own server, and is shown in no other page."""
EMBEDDED = f"{_POLICY}*"
"""The policy of what may be shown within any page: one match, to look at."""

SECURITY = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}

DOCUMENTS = ("text/html", "image/")
"""How the kinds begin of what a browser shows by itself, and could run scripts of."""

FOREVER = "public, max-age=31536000, immutable"
SMALL = 500
"""Bytes below which compressing gains nothing."""
DIGEST = b"{{digest}}"
"""Stands in the page where the digest of all the files is to be."""
HEAD = b"<!-- head -->"
"""Stands in the page where its title is to be, and what tells of it where a link is shown."""
FURTHER = b"<!-- further -->"
"""Stands in the page where the modules of the views are asked for, where it is not the start page that is shown first."""
FIRST = b"<!-- first -->"
"""Stands in the page where that is to be which is seen before any script has come."""
PAGES = {
    "index.html": ("js/main.js", "js/main.bundle.js", "js/views.bundle.js"),
    "embed.html": ("js/embed.js", "js/embed.bundle.js", "js/embed.further.js"),
}
"""The pages, each with the module that it begins with and the paths of its bundles: of all that it imports at once, and of the rest."""
VIEWS = b'<link rel="modulepreload" href="/web/{{digest}}/js/views.bundle.js">'
KEPT = 32
"""How many pages with their heads are kept compressed."""
STYLE_FILES = ("css/page.css", "css/boards.css", "css/home.css")
STYLES = b"<!-- styles -->"
"""Stands in the page for its styles: what is in the page itself need not be waited for before anything is seen."""


@dataclass(frozen=True)
class _File:
    kind: str
    body: bytes
    packed: bytes | None


class StaticFiles:
    """The files of one folder. Raises OSError when the folder cannot be read."""

    def __init__(self, folder: Path = WEB) -> None:
        found = {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file() and path.suffix in KINDS
        }
        for paths in PAGES.values():
            found |= bundled(found, *paths)
        whole = sha256()
        for name, body in found.items():
            whole.update(f"{name}\0{len(body)}\0".encode() + body)
        self.digest = whole.hexdigest()[:16]
        style = b"".join(found[name] for name in STYLE_FILES)
        seal = base64.b64encode(sha256(style).digest()).decode()
        self._sealed = f"style-src 'self' 'sha256-{seal}'"
        for page in PAGES:
            made = found[page].replace(STYLES, b"<style>%b</style>" % style)
            found[page] = made.replace(DIGEST, self.digest.encode())
        self._pages = {page: found.pop(page) for page in PAGES}
        self._files = {name: _file(name, body) for name, body in found.items()}
        self._made = lru_cache(maxsize=KEPT)(self._make)

    def page(
        self,
        accepts: str,
        known: str,
        head: bytes = b"",
        first: bytes = b"",
        *,
        start: bool = False,
        embedded: bool = False,
    ) -> Answer:
        """The page itself, or the one that is shown within others.

        accepts, known  the request's Accept-Encoding and If-None-Match
        head            the elements that tell what it is called
        first           what is seen before any script has come; the page within others has no place for it
        start           whether it is the start page, which needs no module of another view
        """
        further = b"" if start or embedded else VIEWS.replace(DIGEST, self.digest.encode())
        page = "embed.html" if embedded else "index.html"
        made, tag = self._made(page, head, first, further)
        policy = (EMBEDDED if embedded else POLICY).replace("style-src 'self'", self._sealed)
        headers = {
            **SECURITY,
            "Content-Security-Policy": policy,
            "ETag": tag,
            "Cache-Control": "no-cache",
            # So that the modules are asked for before the page itself has come.
            "Link": f"</web/{self.digest}/{PAGES[page][1]}>; rel=modulepreload",
        }
        if tag in (each.strip().removeprefix("W/") for each in known.split(",")):
            return Answer(HTTPStatus.NOT_MODIFIED, KINDS[".html"], b"", headers)
        return _answer(made, accepts, headers)

    def _make(self, page: str, head: bytes, first: bytes, further: bytes) -> tuple[_File, str]:
        # The head last: it has names of bots in it, and they could be called as what is replaced.
        page_with = self._pages[page].replace(FURTHER, further).replace(FIRST, first)
        made = _file(page, page_with.replace(HEAD, head))
        return made, f'"{self.digest}{sha256(made.body).hexdigest()[:16]}"'

    def file(self, path: str, accepts: str) -> Answer | None:
        """The file at `DIGEST/name`; None where there is none, or where the digest is another version's."""
        digest, _, name = path.partition("/")
        found = self._files.get(name) if digest == self.digest else None
        if found is None:
            return None
        # What no browser shows as a document needs no policies for what it does, and there are many such files.
        security = SECURITY if found.kind.startswith(DOCUMENTS) else {"X-Content-Type-Options": "nosniff"}
        return _answer(found, accepts, {**security, "Cache-Control": FOREVER})


@cache
def own_files() -> StaticFiles:
    """The files of this server's page, read and compressed once in a process. Raises OSError."""
    return StaticFiles()


def _file(name: str, body: bytes) -> _File:
    packed = gzip.compress(body, 9, mtime=0) if len(body) >= SMALL else None
    return _File(KINDS[Path(name).suffix], body, packed)


def _answer(file: _File, accepts: str, headers: dict[str, str]) -> Answer:
    headers = {**headers, "Vary": "Accept-Encoding"}
    if file.packed is not None and takes_gzip(accepts):
        return Answer(HTTPStatus.OK, file.kind, file.packed, {**headers, "Content-Encoding": "gzip"})
    return Answer(HTTPStatus.OK, file.kind, file.body, headers)


def takes_gzip(accepts: str) -> bool:
    """Whether an Accept-Encoding names gzip, and not to refuse it."""
    for part in accepts.lower().split(","):
        coding, _, weight = part.partition(";")
        if coding.strip() in ("gzip", "x-gzip"):
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False

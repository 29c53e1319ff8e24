"""Files of the web page, from the folder `page/`: read and compressed once, and held in memory.

The URL paths of the files begin with `/web/DIGEST/`, where DIGEST is a hash of all files. The content at such a path
never changes, so browsers can cache it forever. A new version of the server has new paths.

Only files found at the start are served, so no URL path can lead out of the folder. HTML pages are generated from
`PageTemplates`.
"""

from __future__ import annotations

import base64
import re
from functools import cache
from hashlib import sha256
from http import HTTPStatus
from pathlib import Path

from msgspec import Struct

from arena.server.edge.responses import Response, compress_if_accepted
from arena.server.web.bundle import make_bundles

PAGE_FOLDER = Path(__file__).parents[2] / "page"

MEDIA_TYPE_BY_EXTENSION = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
    ".webmanifest": "application/manifest+json",
    ".jsonl": "application/json",
    ".md": "text/plain; charset=utf-8",
    "": "text/plain; charset=utf-8",
}
"""Media types of the served files, by file extension. Files with other extensions are not served."""

_CSP_UP_TO_FRAME_ANCESTORS = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; manifest-src 'self'; worker-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors "
)
CONTENT_SECURITY_POLICY = f"{_CSP_UP_TO_FRAME_ANCESTORS}'none'"
"""Content security policy of all pages except the one that other sites may embed.

The pages load files only from this server, connect only to this server, and cannot be embedded in other sites.
"""
EMBEDDED_CONTENT_SECURITY_POLICY = f"{_CSP_UP_TO_FRAME_ANCESTORS}*"
"""Content security policy of the page with a single match or tournament, which other sites may embed."""

SECURITY_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}

MEDIA_TYPES_THAT_MAY_RUN_SCRIPTS = ("text/html", "image/")
"""Beginnings of the media types that browsers may display as documents. Only these files get a content security policy.

Scripts could run in such a document, for example in an SVG image.
"""

CACHE_CONTROL_FOREVER = "public, max-age=31536000, immutable"
"""Cache-Control header of a response that never changes."""
CACHE_CONTROL_ONE_DAY = "public, max-age=86400"
"""Cache-Control header of a response that only another version of the server could change."""
DIGEST_PLACEHOLDER = b"{{digest}}"
"""Placeholder in the page's files for the hash of all files, a part of each file's URL path."""
HEAD_PLACEHOLDER = b"<!-- head -->"
"""Placeholder in HTML pages for the title and the link preview."""
VIEWS_PRELOAD_PLACEHOLDER = b"<!-- views preload -->"
"""Placeholder in HTML pages for VIEWS_PRELOAD_LINK. On the start page, the placeholder is removed."""
INITIAL_HTML_PLACEHOLDER = b"<!-- first -->"
"""Placeholder in HTML pages for the elements shown before the scripts are loaded."""
SCRIPT_PATHS_BY_PAGE = {
    "index.html": ("js/main.js", "js/main.bundle.js", "js/views.bundle.js"),
    "embed.html": ("js/embed.js", "js/embed.bundle.js", "js/embed.further.js"),
}
"""Files of each HTML page: its entry script, and the two bundles of scripts that `make_bundles` makes from this script.

The first bundle has the scripts that the page needs at once, and the second has those that the page loads later.
"""
VIEWS_PRELOAD_LINK = b'<link rel="modulepreload" href="/web/{{digest}}/js/views.bundle.js">'
"""HTML element that preloads the scripts of all views (kinds of pages) except the start page."""
INLINED_STYLE_FILE = "css/first.css"
"""Style sheet for the elements that HTML pages have before their scripts are loaded.

The sheet is inserted into every HTML page. So a browser displays these elements without another request.
"""
STYLE_FILES = ("css/page.css", "css/boards.css", "css/home.css")
"""Style sheets for the elements that scripts add to HTML pages. STYLE_BUNDLE_PATH has their content, in this order."""
STYLE_BUNDLE_PATH = "css/page.bundle.css"
"""Path of the style sheet that HTML pages link to at their end. Scripts of a page wait until the browser has loaded it."""
STYLES_PLACEHOLDER = b"<!-- styles -->"
"""Placeholder in HTML pages for the content of INLINED_STYLE_FILE."""
_STYLE_COMMENT_PATTERN = re.compile(rb"\s*/\*.*?\*/", re.DOTALL)
"""Pattern of a comment in a style sheet, with the white space before it. Browsers get the style sheets without comments."""


class PageTemplates(Struct, frozen=True):
    """HTML pages, with placeholders for the parts that depend on the request."""

    digest: str
    """Hash of all files of the web page, which is a part of their URL paths."""
    style_src_directive: str
    """Directive `style-src` of the content security policy, with the hash of the inlined styles."""
    html_by_file_name: dict[str, bytes]
    """HTML by file name, such as `index.html`."""

    def render_page(
        self,
        head: bytes = b"",
        initial_html: bytes = b"",
        *,
        is_start_page: bool = False,
        is_embedded: bool = False,
    ) -> Response:
        """Return a response with an HTML page.

        head: HTML elements with the title and the link preview
        initial_html: HTML elements to show before the scripts are loaded; not used in the embedded page
        is_start_page: True for the start page, which does not preload the scripts of other views
        is_embedded: True for the page that other sites may embed
        """
        views_preload = (
            b""
            if is_start_page or is_embedded
            else VIEWS_PRELOAD_LINK.replace(DIGEST_PLACEHOLDER, self.digest.encode())
        )
        template_name = "embed.html" if is_embedded else "index.html"
        # The head is inserted last, because it contains names of bots, which may look like a placeholder.
        html = (
            self.html_by_file_name[template_name]
            .replace(VIEWS_PRELOAD_PLACEHOLDER, views_preload)
            .replace(INITIAL_HTML_PLACEHOLDER, initial_html)
            .replace(HEAD_PLACEHOLDER, head)
        )
        policy = (EMBEDDED_CONTENT_SECURITY_POLICY if is_embedded else CONTENT_SECURITY_POLICY).replace(
            "style-src 'self'", self.style_src_directive
        )
        headers = {
            **SECURITY_HEADERS,
            "Content-Security-Policy": policy,
            "ETag": f'"{self.digest}{sha256(html).hexdigest()[:16]}"',
            "Cache-Control": "no-cache",
            # Lets the browser request the styles and modules before the page itself has arrived.
            "Link": f"</web/{self.digest}/{STYLE_BUNDLE_PATH}>; rel=preload; as=style, "
            f"</web/{self.digest}/{SCRIPT_PATHS_BY_PAGE[template_name][1]}>; rel=modulepreload",
        }
        return Response(HTTPStatus.OK, MEDIA_TYPE_BY_EXTENSION[".html"], html, headers)


class StaticFiles:
    """Files and templates of the web page. The constructor raises OSError if the folder `page/` cannot be read."""

    def __init__(self) -> None:
        files = {
            path.relative_to(PAGE_FOLDER).as_posix(): path.read_bytes()
            for path in sorted(PAGE_FOLDER.rglob("*"))
            if path.is_file() and path.suffix in MEDIA_TYPE_BY_EXTENSION
        }
        for paths in SCRIPT_PATHS_BY_PAGE.values():
            files |= make_bundles(files, *paths)
        files[STYLE_BUNDLE_PATH] = b"".join(
            _STYLE_COMMENT_PATTERN.sub(b"", files[name]) for name in STYLE_FILES
        )
        digest = sha256()
        for name, body in files.items():
            digest.update(f"{name}\0{len(body)}\0".encode() + body)
        self.digest = digest.hexdigest()[:16]
        style = _STYLE_COMMENT_PATTERN.sub(b"", files[INLINED_STYLE_FILE]).replace(
            DIGEST_PLACEHOLDER, self.digest.encode()
        )
        style_hash = base64.b64encode(sha256(style).digest()).decode()
        pages = {
            page: files.pop(page).replace(STYLES_PLACEHOLDER, b"<style>%b</style>" % style)
            for page in SCRIPT_PATHS_BY_PAGE
        }
        self.templates = PageTemplates(
            self.digest,
            f"style-src 'self' 'sha256-{style_hash}'",
            {page: html.replace(DIGEST_PLACEHOLDER, self.digest.encode()) for page, html in pages.items()},
        )
        worker = files.pop("sw.js", b"").replace(DIGEST_PLACEHOLDER, self.digest.encode())
        self._service_worker_responses = _make_plain_and_gzip_responses(
            MEDIA_TYPE_BY_EXTENSION[".js"], worker, {**SECURITY_HEADERS, "Cache-Control": "no-cache"}
        )
        self._responses_by_file_name = {
            name: _make_file_responses(name, body) for name, body in files.items()
        }

    def answer_service_worker(self, *, accepts_gzip: bool) -> Response:
        """Return a response with the service worker's script. Its path, `/sw.js`, lets it handle the requests of all pages."""
        return self._service_worker_responses[accepts_gzip]

    def answer_file(self, path: str, *, accepts_gzip: bool) -> Response | None:
        """Return a response with the file at the URL path `/web/` + `path`; None if there is none.

        `path` is DIGEST/NAME. DIGEST is a hash of all files of the page, so files of another version are not found.
        """
        digest, _, name = path.partition("/")
        variants = self._responses_by_file_name.get(name) if digest == self.digest else None
        return None if variants is None else variants[accepts_gzip]


@cache
def load_page_files() -> StaticFiles:
    """Return the files of the web page, loaded once per process. Raises OSError if they cannot be read."""
    return StaticFiles()


def _make_file_responses(file_name: str, body: bytes) -> tuple[Response, Response]:
    """Return the uncompressed response with a file, and the response for clients that accept gzip."""
    media_type = MEDIA_TYPE_BY_EXTENSION[Path(file_name).suffix]
    # Browsers do not display files of other types as documents, so they need no policy.
    is_document = media_type.startswith(MEDIA_TYPES_THAT_MAY_RUN_SCRIPTS)
    security = SECURITY_HEADERS if is_document else {"X-Content-Type-Options": "nosniff"}
    return _make_plain_and_gzip_responses(
        media_type, body, {**security, "Cache-Control": CACHE_CONTROL_FOREVER}
    )


def _make_plain_and_gzip_responses(
    media_type: str, body: bytes, headers: dict[str, str]
) -> tuple[Response, Response]:
    """Return two responses with the same content, the first uncompressed, the second for clients that accept gzip."""
    response = Response(HTTPStatus.OK, media_type, body, headers)
    return compress_if_accepted(response, accepts_gzip=False), compress_if_accepted(
        response, accepts_gzip=True, gzip_level=9
    )

"""JavaScript modules of the web page, combined into a few files (bundles).

A browser requests six files at a time, so on a slow network every six files add a wait. With a round trip of 400 ms and
400 kbit/s, the board of the start page shows live moves after 3.5 s with bundles. Without bundles, it takes 6.0 s, even with
`modulepreload` for each of the 50 modules and kept-alive connections, and 92 kB are transferred instead of 65 (`python
-m benchmarks.page first slow`, medians of 5 loads, 24 November 2026).

In a bundle each module is a function that is called once, after the modules it imports, and returns its exports. So a
module may use only named imports, one per line, and declared exports (ECMA-262, 16.2), and no two may import each
other.

Indentation and comments are left out, which saves a fifth of the compressed bytes; so no template literal may span several
lines.

A module that breaks these rules is refused. General bundlers need Node, which the server's machine may not have.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping

_STATIC_IMPORT_PATTERN = re.compile(
    r"""^import \{ (?P<names>[^{}]+) \} from "(?P<path>\.[^"]+)";$""", re.MULTILINE
)
"""Pattern of a static import in JavaScript. The groups are the imported names and the module's relative path."""
_EXPORT_DECLARATION_PATTERN = re.compile(r"^export ((?:async )?function|class|const) (\w+)", re.MULTILINE)
"""Pattern of an exported JavaScript declaration. The groups are its keyword (such as `class`) and its name."""
_EXPORT_LIST_PATTERN = re.compile(r"\bexport ?\{([^{}]+)\};?\s*\Z")
"""Pattern of the list of exported names at the end of a JavaScript module. The group is the list."""
_DYNAMIC_IMPORT_PATTERN = re.compile(r"""\bimport\("(?P<path>\.[^"]+)"\)""")
"""Pattern of a dynamic import in JavaScript. The group `path` is the relative path of the imported module."""
_UNSUPPORTED_STATEMENT_PATTERN = re.compile(r"^(?:import|export)\b.*$", re.MULTILINE)
"""Pattern of a JavaScript import or export. An import or export that is in no supported form, and so is left, is an error."""
_INDENT_OR_COMMENT_PATTERN = re.compile(r"^[ \t]*(?://.*\n)?", re.MULTILINE)
"""Pattern of a line's indentation, or of a whole line with only a comment; both are left out of bundles."""
_COMMENT_AFTER_CODE_PATTERN = re.compile(
    r"""^((?:[^"`\n]|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\\n]|\\.)*`)*?)[ \t]+//[ ].*$""", re.MULTILINE
)
"""Pattern of a line of code that ends with a comment, which is left out of bundles. The group is the code.

In the code before the comment, each string must be complete, so slashes inside a string do not begin a comment.
"""
_CHARACTER_CLASS_WITH_BACKTICK_PATTERN = re.compile(r"\[[^\]\s`]*`[^\]\s`]*\]/")
"""Pattern of a character class with a backtick at the end of a JavaScript regular expression, with its closing slash.

The bundler assumes that every other backtick begins or ends a template literal.
"""
_IMPORT_META_URL = "import.meta.url"
"""JavaScript expression for a module's URL. In a bundle it would give the bundle's URL, so another expression replaces it."""


def make_bundles(
    files: Mapping[str, bytes], entry_path: str, bundle_path: str, lazy_bundle_path: str
) -> dict[str, bytes]:
    """Return the contents of two bundles, by path.

    The first bundle has the module at `entry_path` and all modules that it imports, directly or indirectly. The second has
    all further modules that modules of the first import dynamically; without dynamic imports, there is no second bundle.

    files: contents of the page's files, by path
    entry_path: path of the first module
    bundle_path, lazy_bundle_path: paths of the two bundles, in one folder

    Raises ValueError for a module that cannot be bundled.
    """
    texts = {path: body.decode() for path, body in files.items() if path.endswith((".js", ".mjs"))}
    initial_paths = _sort_by_imports(texts, [entry_path])
    dynamic_paths = list(
        dict.fromkeys(
            imported_path
            for path in initial_paths
            for imported_path in _find_imported_paths(_DYNAMIC_IMPORT_PATTERN, path, texts[path])
        )
    )
    lazy_paths = [path for path in _sort_by_imports(texts, dynamic_paths) if path not in initial_paths]
    for path in lazy_paths:
        if others := set(_find_imported_paths(_DYNAMIC_IMPORT_PATTERN, path, texts[path])).difference(
            dynamic_paths
        ):
            raise ValueError(
                f"{path}: replace the dynamic import of {', '.join(others)} by a static one; a dynamic import in this module would need a third bundle"
            )
    names = {path: f"m{n}" for n, path in enumerate([*initial_paths, *lazy_paths])}
    bundle_text, lazy_bundle_text = (
        "".join(_wrap_module(path, texts[path], names, bundle_path, lazy_bundle_path) for path in paths)
        for paths in (initial_paths, lazy_paths)
    )
    if not lazy_paths:
        return {bundle_path: bundle_text.encode()}
    shared_paths = {
        imported_path
        for path in lazy_paths
        for imported_path in _find_imported_paths(_STATIC_IMPORT_PATTERN, path, texts[path])
    }
    shared_names = (
        f"{{ {', '.join(sorted(names[path] for path in shared_paths.intersection(initial_paths)))} }}"
    )
    export_lines = "".join(
        f"export const {{ {', '.join(_find_exported_names(texts[path]))} }} = {names[path]};\n"
        for path in lazy_paths
        if path in dynamic_paths
    )
    return {
        bundle_path: f"{bundle_text}export {shared_names};\n".encode(),
        lazy_bundle_path: f'import {shared_names} from "{_make_relative_path(lazy_bundle_path, bundle_path)}";\n{lazy_bundle_text}{export_lines}'.encode(),
    }


def _sort_by_imports(texts: Mapping[str, str], paths: Iterable[str]) -> list[str]:
    """Return `paths` and the paths of all modules that they import, directly or indirectly, dependencies first.

    texts: source texts of the modules, by path

    Raises ValueError for an import cycle.
    """
    sorted_paths: list[str] = []

    def visit_module(path: str, importers: tuple[str, ...]) -> None:
        if path in importers:
            raise ValueError(f"{path} imports itself, through {', '.join(importers)}")
        if path not in sorted_paths:
            for imported_path in _find_imported_paths(_STATIC_IMPORT_PATTERN, path, texts[path]):
                visit_module(imported_path, (*importers, path))
            sorted_paths.append(path)

    for path in paths:
        visit_module(path, ())
    return list(dict.fromkeys(sorted_paths))


def _wrap_module(
    path: str, module_text: str, constant_names: Mapping[str, str], bundle_path: str, lazy_bundle_path: str
) -> str:
    """Return JavaScript that runs a module in a function, and assigns an object of the module's exports to a constant.

    path, module_text: path and source text of the module
    constant_names: name of the constant of each module, by path
    bundle_path, lazy_bundle_path: paths of the bundle that gets the module, and of the bundle that dynamic imports load

    Raises ValueError for a module that cannot be bundled.
    """
    exports = _find_exported_names(module_text)
    if open_text := next(
        (
            line
            for line in module_text.splitlines()
            if _CHARACTER_CLASS_WITH_BACKTICK_PATTERN.sub("", line).count("`") % 2
        ),
        None,
    ):
        raise ValueError(
            f"{path}: a template literal must be on one line to be bundled: {open_text.strip()!r:.80}"
        )
    module_text = _STATIC_IMPORT_PATTERN.sub(
        lambda found: (
            f"const {{ {found['names'].replace(' as ', ': ')} }} = {constant_names[_resolve_path(path, found['path'])]};"
        ),
        module_text,
    )
    module_text = _EXPORT_LIST_PATTERN.sub("", _EXPORT_DECLARATION_PATTERN.sub(r"\1 \2", module_text))
    if other := _UNSUPPORTED_STATEMENT_PATTERN.search(module_text):
        raise ValueError(
            f"{path}: {other[0]!r:.80} cannot be bundled: use named imports and exports, one per line"
        )
    module_text = _COMMENT_AFTER_CODE_PATTERN.sub(r"\1", _INDENT_OR_COMMENT_PATTERN.sub("", module_text))
    module_text = _DYNAMIC_IMPORT_PATTERN.sub(
        f'import("{_make_relative_path(bundle_path, lazy_bundle_path)}")', module_text
    )
    module_text = module_text.replace(
        _IMPORT_META_URL, f'new URL("{_make_relative_path(bundle_path, path)}", {_IMPORT_META_URL}).href'
    )
    pairs = ", ".join(f"{outer}: {inner}" for outer, inner in exports.items())
    return (
        f"// {path}\nconst {constant_names[path]} = (() => {{\n{module_text}\nreturn {{ {pairs} }};\n}})();\n"
    )


def _find_exported_names(module_text: str) -> dict[str, str]:
    """Return the name inside the module of each export of a JavaScript module, by exported name."""
    exports = {match[2]: match[2] for match in _EXPORT_DECLARATION_PATTERN.finditer(module_text)}
    export_list = _EXPORT_LIST_PATTERN.search(module_text)
    for export in export_list[1].split(",") if export_list else ():
        inner, _, outer = export.strip().partition(" as ")
        exports[outer or inner] = inner
    return exports


def _find_imported_paths(pattern: re.Pattern[str], importer_path: str, module_text: str) -> list[str]:
    """Return the paths of the modules that a module imports in statements that match `pattern`.

    importer_path, module_text: path and source text of the importing module
    """
    return [_resolve_path(importer_path, found["path"]) for found in pattern.finditer(module_text)]


def _resolve_path(importer_path: str, import_path: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(importer_path), import_path))


def _make_relative_path(bundle_path: str, path: str) -> str:
    """Return `path` relative to the folder of `bundle_path`, beginning with a dot as JavaScript imports require."""
    relative_path = posixpath.relpath(path, posixpath.dirname(bundle_path))
    return relative_path if relative_path.startswith(".") else f"./{relative_path}"

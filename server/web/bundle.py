"""The page's modules as a few files: a browser asks for six files at a time, and on a slow network for each six waits anew.

With `modulepreload` for each of the 50 modules in their place, on connections that are kept alive, the board of the start page
moves after 6.0 s instead of 3.5 s at 400 ms and 400 kbit/s, and 92 kB come over the wire instead of 65
(`python -m benchmarks.page first slow`, medians of 5 loads, 24 November 2026).

The modules stay what they are, one file an idea, and are served too; nothing is built beforehand. A bundle is one module in which each
of its modules is a function that is called once, after those that it imports, and returns what it exports. For that the
modules keep to what ECMAScript calls named imports and declared exports (ECMA-262, 16.2): each import is a line of its own that names
what it imports, what is exported never changes, and no two modules import each other. Whatever does not is refused here, and so in the
tests. Bundlers that know the whole of the language need Node, which a host need not have.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

_STATEMENT = re.compile(r"^(?:import|export)\b.*$", re.MULTILINE)
_IMPORT = re.compile(r"""^import \{ ([^{}]+) \} from "(\.[^"]+)";$""", re.MULTILINE)
_DECLARED = re.compile(r"^export ((?:async )?function|class|const) (\w+)", re.MULTILINE)
_LISTED = re.compile(r"\bexport ?\{([^{}]+)\};?\s*\Z")
_DYNAMIC = re.compile(r"""\bimport\("(\.[^"]+)"\)""")
_OWN_ADDRESS = "import.meta.url"


@dataclass(frozen=True)
class Module:
    """A module of the page by its path, as in `js/dom.js`. Raises ValueError for what a bundle cannot hold."""

    path: str
    text: str

    def __post_init__(self) -> None:
        """See that there is nothing that a bundle would change."""
        for found in _STATEMENT.finditer(self.text):
            line = found[0]
            if not (_IMPORT.match(line) or _DECLARED.match(line) or _LISTED.match(self.text, found.start())):
                raise ValueError(f"{self.path}: a bundle has no place for {line!r:.80}")

    @cached_property
    def imports(self) -> list[str]:
        """The paths of the modules that come before it."""
        return [self._there(found[2]) for found in _IMPORT.finditer(self.text)]

    @cached_property
    def later(self) -> list[str]:
        """The paths of those that it imports while it runs."""
        return [self._there(found[1]) for found in _DYNAMIC.finditer(self.text)]

    @cached_property
    def exports(self) -> dict[str, str]:
        """What it is called within the module, by what it is called outside."""
        declared = {found[2]: found[2] for found in _DECLARED.finditer(self.text)}
        listed = _LISTED.search(self.text)
        for each in listed[1].split(",") if listed else ():
            inner, _, outer = each.strip().partition(" as ")
            declared[outer or inner] = inner
        return declared

    def called(self, name: str, names: Mapping[str, str], bundle: str, further: str) -> str:
        """The module as a function that is called at once.

        name     the constant that its exports have in the bundle
        names    those of the modules that it imports, by path
        bundle   the path of the file that this is written into
        further  that of the bundle with the modules that are imported while it runs
        """
        text = _IMPORT.sub(
            lambda found: f"const {{ {found[1].replace(' as ', ': ')} }} = {names[self._there(found[2])]};",
            self.text,
        )
        text = _LISTED.sub("", _DECLARED.sub(r"\1 \2", text))
        text = _DYNAMIC.sub(f'import("{_from(bundle, further)}")', text)
        text = text.replace(_OWN_ADDRESS, f'new URL("{_from(bundle, self.path)}", {_OWN_ADDRESS}).href')
        given = ", ".join(
            outer if outer == inner else f"{outer}: {inner}" for outer, inner in self.exports.items()
        )
        return f"// {self.path}\nconst {name} = (() => {{\n{text}\nreturn {{ {given} }};\n}})();\n"

    def _there(self, target: str) -> str:
        return posixpath.normpath(posixpath.join(posixpath.dirname(self.path), target))


def bundled(files: Mapping[str, bytes], first: str, bundle: str, further: str) -> dict[str, bytes]:
    """The module `first` with all that it imports, and in a second bundle what is imported while it runs with what that needs beside.

    files            the page's files by their paths
    bundle, further  the paths that the two are to have, in one folder; where nothing is imported while it runs there is no second

    Raises ValueError for a module that is none for a bundle.
    """
    at_once = list(_ordered(files, [first]))
    names = {each.path: f"m{n}" for n, each in enumerate(at_once)}
    later = list(dict.fromkeys(path for each in at_once for path in each.later))
    rest = [each for each in _ordered(files, later) if each.path not in names]
    for each in rest:
        if others := set(each.later).difference(later):
            raise ValueError(f"{each.path}: {', '.join(others)} would need a third bundle")
    shared = sorted({names[path] for each in rest for path in each.imports if path in names})
    names |= {each.path: f"m{n}" for n, each in enumerate(rest, len(names))}
    whole, beside = (
        "".join(each.called(names[each.path], names, bundle, further) for each in modules)
        for modules in (at_once, rest)
    )
    if not rest:
        return {bundle: whole.encode()}
    given = f"{{ {', '.join(shared)} }}"
    opened = "".join(
        f"export const {{ {', '.join(each.exports)} }} = {names[each.path]};\n"
        for each in rest
        if each.path in later
    )
    return {
        bundle: f"{whole}export {given};\n".encode(),
        further: f'import {given} from "{_from(further, bundle)}";\n{beside}{opened}'.encode(),
    }


def _ordered(files: Mapping[str, bytes], wanted: Sequence[str]) -> Iterator[Module]:
    """The modules and all that they import, each after those that it imports itself."""
    done: set[str] = set()

    def visit(path: str, above: Sequence[str]) -> Iterable[Module]:
        if path in above:
            raise ValueError(f"{path}: it imports itself, by {', '.join(above)}")
        if path in done:
            return
        done.add(path)
        module = Module(path, files[path].decode())
        for each in module.imports:
            yield from visit(each, [*above, path])
        yield module

    for path in wanted:
        yield from visit(path, [])


def _from(bundle: str, path: str) -> str:
    """A path as a file in the folder of `bundle` names it."""
    found = posixpath.relpath(path, posixpath.dirname(bundle))
    return found if found.startswith(".") else f"./{found}"

"""RESULTS.md as sections that can be replaced one by one, under a table of what was promised and found."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

_MARK = re.compile(r"^<!-- part (\w+) -->\n", re.MULTILINE)
_CLAIM = re.compile(r"^\*Promised:\* (.+?): (.+?)\. \*Found:\* (.+)\.$", re.MULTILINE)

HEAD = """# Benchmarks of the compiled engine

Written by `make bench`. {machine}.

Figures are medians of ratios taken in one run, with the least and the greatest in brackets. The server's benchmarks
are in [SERVER.md](SERVER.md).
"""


def claim(what: str, least: str, found: str) -> str:
    """A line of a section that the table at the top repeats."""
    return f"*Promised:* {what}: {least}. *Found:* {found}."


def read_sections(path: Path) -> dict[str, str]:
    """The sections of a file that `whole_text` made, by the names of their parts; none if there is no file."""
    if not path.exists():
        return {}
    _, *rest = _MARK.split(path.read_text(encoding="utf-8"))
    return {name: text.strip() for name, text in zip(rest[::2], rest[1::2], strict=True)}


def whole_text(sections: Mapping[str, str], order: Sequence[str], machine: str) -> str:
    """The file: head, table of promises, and the sections in order."""
    rows = [
        f"| {what} | {least} | {found} |"
        for name in order
        for what, least, found in _CLAIM.findall(sections.get(name, ""))
    ]
    table = ["| | promised | found |", "| --- | --- | --- |", *rows]
    parts = [f"<!-- part {name} -->\n{sections[name]}" for name in order if name in sections]
    return "\n\n".join([HEAD.format(machine=machine).strip(), "\n".join(table), *parts]) + "\n"

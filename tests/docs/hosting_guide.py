"""docs/hosting.md as a test types it: its sections, their blocks of commands, and what is shown below them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "hosting.md"
ANY = "…"
"""Stands for anything in what is shown."""
_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
_BLOCK = re.compile(r"^```sh\n(.*?)^```\n(?:```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """Commands that are typed together, and the lines that are then to be seen, in this order."""

    commands: str
    shown: tuple[str, ...]

    def missing(self, output: str) -> str | None:
        """Return the first of the shown lines that the output does not have after those before it."""
        lines = iter(output.splitlines())
        for wanted in self.shown:
            pattern = re.compile(".*".join(map(re.escape, wanted.split(ANY))))
            if not any(pattern.fullmatch(re.sub(r" +", " ", line.strip())) for line in lines):
                return wanted
        return None


def sections() -> dict[str, list[Block]]:
    """Return the blocks of each section, by its title."""
    _, *parts = _SECTION.split(PAGE.read_text(encoding="utf-8"))
    return {
        title: [Block(commands, tuple(shown.splitlines())) for commands, shown in _BLOCK.findall(text)]
        for title, text in zip(parts[::2], parts[1::2], strict=True)
    }

"""The house as it is: the floors that the import contracts name, and the imports that the files really have."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Folder:
    """One folder (or module) that a contract names."""

    name: str
    """Its import name, as in `server.net`."""
    summary: str
    """The first sentence of its docstring."""
    lines: int


@dataclass(frozen=True)
class Building:
    """Folders on floors: those of the project, or those within one folder."""

    floors: tuple[tuple[Folder, ...], ...]
    """From the top down; a folder may import those on lower floors, and none beside it."""
    arrows: frozenset[tuple[str, str]]
    """Importer and imported, by their names, wherever one of the importer's files imports the other."""

    def floor_of(self, name: str) -> int:
        """The number of a folder's floor, 0 at the top."""
        return next(
            index for index, floor in enumerate(self.floors) if name in {folder.name for folder in floor}
        )


def read(root: Path = ROOT) -> dict[str, Building]:
    """The whole house under "", and the inside of each folder that has floors of its own under its name."""
    files = modules(root)
    imported = {name: imports_of(file, files) for name, file in files.items()}
    return {
        container: Building(
            tuple(tuple(_folder(name, files) for name in floor) for floor in floors),
            frozenset(_arrows([name for floor in floors for name in floor], imported)),
        )
        for container, floors in contracts(root).items()
    }


def contracts(root: Path) -> dict[str, list[list[str]]]:
    """The layers of pyproject.toml by their container, "" for the whole, as import names from the top down."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    found: dict[str, list[list[str]]] = {}
    for contract in settings["contracts"]:
        if contract["type"] != "layers":
            continue
        floors = [
            [word.strip(" ()") for word in layer.replace(":", "|").split("|")] for layer in contract["layers"]
        ]
        for container in contract.get("containers", [""]):
            prefix = f"{container}." if container else ""
            found[container] = [[f"{prefix}{name}" for name in floor] for floor in floors]
    return found


def modules(root: Path) -> dict[str, Path]:
    """Every module of the packages that the contracts speak of, by its import name."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    return {
        ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): file
        for package in settings["root_packages"]
        for file in sorted((root / package).rglob("*.py"))
    }


def imports_of(file: Path, files: Mapping[str, Path]) -> set[str]:
    """The modules of the house that a file imports, anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if inner in files else node.module)
    return found & files.keys()


def _arrows(names: list[str], imported: Mapping[str, set[str]]) -> set[tuple[str, str]]:
    def owner(module: str) -> str | None:
        return next((name for name in names if module == name or module.startswith(f"{name}.")), None)

    found = {(owner(module), owner(other)) for module, others in imported.items() for other in others}
    return {(source, target) for source, target in found if source and target and source != target}


def _folder(name: str, files: Mapping[str, Path]) -> Folder:
    own = [file for module, file in files.items() if module == name or module.startswith(f"{name}.")]
    if not own:
        raise ValueError(f"pyproject.toml: a contract names {name}, which does not exist")
    docstring = ast.get_docstring(ast.parse(files[name].read_text(encoding="utf-8"))) or ""
    summary = " ".join(docstring.partition("\n\n")[0].split())
    lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in own)
    return Folder(name, summary.partition(". ")[0].rstrip("."), lines)

"""Writes the pictures that `--svg` asks for."""

from __future__ import annotations

from pathlib import Path

import typer

from console import Failure


def write_picture(picture: str, path: Path) -> None:
    """Write an SVG to `path`, or to the output for `-`. Raises Failure."""
    if str(path) == "-":
        typer.echo(picture, nl=False)
        return
    try:
        path.write_text(picture, encoding="utf-8")
    except OSError as error:
        raise Failure(f"cannot write {path}: {error.strerror}") from None

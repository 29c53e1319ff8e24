"""Hints in error messages about unknown names: the most similar known name, or else all known names."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def find_most_similar_name(misspelt_name: str, names: Iterable[str]) -> str | None:
    """Return the known name most similar to `misspelt_name`, or None if none is similar."""
    return next(iter(get_close_matches(misspelt_name, list(names), 1)), None)


def format_similar_name_hint(misspelt_name: str, names: Iterable[str]) -> str:
    """Return a hint such as `; did you mean "italy"?`, to append to an error message; empty if no name is similar."""
    similar_name = find_most_similar_name(misspelt_name, names)
    return f'; did you mean "{similar_name}"?' if similar_name else ""


def format_name_suggestion(misspelt_name: str, choices: Iterable[str]) -> str:
    """Return `did you mean "NAME"?` with the most similar name, or `choose from …` with all names if none is similar."""
    names = list(choices)
    similar_name = find_most_similar_name(misspelt_name, names)
    return f"choose from {', '.join(names)}" if similar_name is None else f'did you mean "{similar_name}"?'

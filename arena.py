"""The `arena` command."""


def main() -> None:
    """Run the command."""

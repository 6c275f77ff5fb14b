"""`python -m assistant` and the command `assistant`."""

from __future__ import annotations


def main() -> None:
    """Run the command line."""
    from assistant.cli import run

    run()


if __name__ == "__main__":
    main()

"""Starts the command line: `python -m twofold`, and what the `twofold` script calls."""

from twofold.cli.app import main

__all__ = ["main"]

if __name__ == "__main__":
    main()

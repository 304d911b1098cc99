"""Starts the command line: `python -m twofold`, and what the `twofold` script calls."""

import gc

from twofold.late import late


def main() -> None:
    """Run the command line.

    Nothing that is made while modules load is garbage, and looking for some 100 times takes a tenth of a short
    command's time: it begins when the command does.
    """
    gc.disable()
    late("twofold.cli.app:main")()


if __name__ == "__main__":
    main()

"""Starts the command line: `python -m twofold`, and what the `twofold` script calls."""

import gc


def main() -> None:
    """Run the command line.

    Nothing that is made while modules load is garbage, and looking for some a hundred times takes 17 ms: it begins when
    the command does.
    """
    gc.disable()
    from twofold.cli.app import main as run

    run()


if __name__ == "__main__":
    main()

"""`python -m reactrepro`, and the console script `reactrepro`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit with its exit code."""
    from .cli import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()

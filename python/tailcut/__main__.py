"""The command `tailcut`."""

from __future__ import annotations

import signal
import sys

from tailcut import _native


def main() -> None:
    """Runs the command with the arguments of this process."""
    # The command has handlers of its own; until they are there, Ctrl-C ends it as it ends any program.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_native.command(["tailcut", *sys.argv[1:]]))


if __name__ == "__main__":
    main()

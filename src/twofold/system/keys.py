"""Single keys from a terminal, as they are pressed and without being shown."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

END = "\x04"
ESCAPE = "\x1b"

try:
    import termios
    import tty
except ImportError:
    if sys.platform == "win32" or not TYPE_CHECKING:
        import msvcrt

        @contextmanager
        def single_keys(_terminal: int) -> Iterator[None]:
            """Have `pressed` return each key at once; Windows does so by itself."""
            yield

        def pressed(_terminal: int) -> list[str]:
            """Wait for a key. One that is no character begins with an escape; `END` where there are no more."""
            key = msvcrt.getwch()
            if key == "\x03":
                raise KeyboardInterrupt
            if key in ("\x00", "\xe0"):  # an arrow or another special key, and which
                return [ESCAPE + msvcrt.getwch()]
            return [END if key == "\x1a" else key]

else:

    @contextmanager
    def single_keys(terminal: int) -> Iterator[None]:
        """Have `pressed` return each key at once, until the end of the block."""
        before = termios.tcgetattr(terminal)
        tty.setcbreak(terminal, termios.TCSADRAIN)
        try:
            yield
        finally:
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)

    def pressed(terminal: int) -> list[str]:
        """Wait for a key. One that is no character begins with an escape; `END` where there are no more."""
        came = os.read(terminal, 64).decode(errors="replace") or END
        # An arrow or another special key sends several characters, the first of them an escape.
        return [came] if came.startswith(ESCAPE) else list(came)

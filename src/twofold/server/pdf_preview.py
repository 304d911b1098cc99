"""Pictures of pages of PDF and image files with what is cited marked on them, each drawn in a process of its own."""

import json
import sys
from http import HTTPStatus
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired

from twofold.domain.errors import ReadError
from twofold.domain.types import PageWords
from twofold.server.errors import refused
from twofold.server.pdf_preview_child import NO_SUCH_PAGE, TOO_MANY_PIXELS
from twofold.system.processes import bare_environment

SECONDS = 10.0
MAX_QUOTE_LENGTH = 5_000
_BOOT = (
    "import json, sys; sys.path.extend(json.loads(sys.argv[1])); "
    "from twofold.server.pdf_preview_child import main; main()"
)


def page_image(data: bytes, page: int, quote: str, words: PageWords | None = None, *, is_image: bool = False) -> bytes:
    """Return a page, counted from 1, as a PNG; `words` are those recognized on it.

    Raises ProblemError (404) if it does not exist, ReadError (422).
    """
    paths = json.dumps([path for path in sys.path if path])
    command = (sys.executable, "-I", "-B", "-X", "utf8", "-c", _BOOT, paths)
    held = [] if words is None else list(zip(words.words, words.boxes, strict=True))
    told = {"page": page, "quote": quote[:MAX_QUOTE_LENGTH], "words": held, "image": is_image}
    asked = json.dumps(told).encode() + b"\n"
    with Popen(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=bare_environment()) as process:  # noqa: S603
        try:
            drawn, _ = process.communicate(asked + data, SECONDS)
        except TimeoutExpired:
            process.kill()
            drawn, _ = process.communicate()
    if process.returncode == NO_SUCH_PAGE:
        raise refused(HTTPStatus.NOT_FOUND, f"The document has no page {page}.", "Pages are counted from 1.")
    if process.returncode == TOO_MANY_PIXELS:
        raise ReadError("The page's images are too large to be drawn.", "Read the document's text instead.", "limit")
    if process.returncode or not drawn:
        raise ReadError("The page cannot be drawn.", "Read the document's text instead.")
    return drawn

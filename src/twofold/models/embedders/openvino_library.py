"""OpenVINO itself, imported in this one place, with its telemetry blocked.

OpenVINO's package imports `openvino_telemetry`, which resolves a Google host and writes a client id into the home
folder. Where that package cannot be imported, OpenVINO uses a stub of its own that does nothing; so it cannot be
imported here. It stays blocked for the life of the process, since OpenVINO imports it in more than one place.

The converter of models is left out, as OpenVINO allows: it is a third of the time of the import, and models are
converted already.
"""

import sys
from typing import Any

TELEMETRY = "openvino_telemetry"
CONVERTER = "openvino.tools.ovc"


def openvino_library() -> Any:  # noqa: ANN401 - the library ships no types
    """Return the `openvino` module. Raise ImportError where it is not installed."""
    block_telemetry()
    unknown = CONVERTER not in sys.modules
    if unknown:
        sys.modules[CONVERTER] = None  # type: ignore[assignment]  # as for telemetry, until OpenVINO is imported
    try:
        import openvino
    finally:
        if unknown:
            del sys.modules[CONVERTER]
    return openvino


def block_telemetry() -> None:
    """Make every import of OpenVINO's telemetry fail in this process."""
    for name in [name for name in sys.modules if name.startswith(f"{TELEMETRY}.")]:
        del sys.modules[name]
    sys.modules[TELEMETRY] = None  # type: ignore[assignment]  # how Python spells what cannot be imported


def telemetry_is_blocked() -> bool:
    """Return whether OpenVINO's telemetry cannot be imported in this process."""
    return TELEMETRY in sys.modules and sys.modules[TELEMETRY] is None

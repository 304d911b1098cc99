"""OpenVINO itself, imported in this one place, with its telemetry blocked.

OpenVINO's package imports `openvino_telemetry`, which resolves a Google host and writes a client id into the home
folder. Where that package cannot be imported, OpenVINO uses a stub of its own that does nothing; so it cannot be
imported here. It stays blocked for the life of the process, since OpenVINO imports it in more than one place.

The converter of models is left out, as OpenVINO allows: it is a third of the time of the import, and models are
converted already. What builds models from operations is a third of the rest, and is loaded when somebody asks for it.

Its first array is made here as well, by one thread. Two threads that make the first one at once wait for each other for
ever, and with them the whole process: one holds the interpreter's lock and waits for what the other has begun.
"""

import sys
import threading
from importlib import import_module
from types import ModuleType
from typing import Any

TELEMETRY = "openvino_telemetry"
CONVERTER = "openvino.tools.ovc"
OPERATIONS = tuple(f"openvino.opset{number}" for number in range(1, 18))
_FIRST_USE = threading.Lock()


class LateModule(ModuleType):
    """Stands for a module, as an attribute of its package, until something in it is asked for."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  # whatever the module has
        """Return what the module has under a name."""
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


def openvino_library() -> Any:  # noqa: ANN401 - the library ships no types
    """Return the `openvino` module, fit for several threads. Raise ImportError where it is not installed."""
    with _FIRST_USE:
        block_telemetry()
        openvino = _imported()
        openvino.Tensor(openvino.Type.u8, openvino.Shape([1])).data  # noqa: B018  # its first array
    return openvino


def _imported() -> Any:  # noqa: ANN401 - the library ships no types
    absent: dict[str, Any] = {} if CONVERTER in sys.modules else {CONVERTER: None}  # as for telemetry
    if "openvino" not in sys.modules:
        absent.update({name: LateModule(name) for name in OPERATIONS})
    sys.modules.update(absent)
    try:
        import openvino
    finally:
        for name, stand_in in absent.items():
            if sys.modules.get(name) is stand_in:
                del sys.modules[name]  # the package keeps its own
    return openvino


def block_telemetry() -> None:
    """Make every import of OpenVINO's telemetry fail in this process."""
    for name in list(sys.modules):  # a copy, since another thread may be importing
        if name.startswith(f"{TELEMETRY}."):
            sys.modules.pop(name, None)
    sys.modules[TELEMETRY] = None  # type: ignore[assignment]  # how Python spells what cannot be imported


def telemetry_is_blocked() -> bool:
    """Return whether OpenVINO's telemetry cannot be imported in this process."""
    return TELEMETRY in sys.modules and sys.modules[TELEMETRY] is None

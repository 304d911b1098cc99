"""Where a model computes: on the processor, on a GPU, or wherever its runtime does best.

`auto` leaves it to the runtime: OpenVINO takes the processor, ONNX Runtime CUDA where it has it, sentence-transformers
what PyTorch finds. `gpu` is an error without a GPU, since a search that is ten times slower is no fallback.
"""

from collections.abc import Sequence
from enum import StrEnum

from twofold.domain.errors import InvalidInputError, ModelError


class Device(StrEnum):
    """What a user may ask for."""

    AUTO = "auto"
    CPU = "cpu"
    GPU = "gpu"


def device_named(name: str) -> Device:
    """Return the device of that name. Raises InvalidInputError for any other."""
    try:
        return Device(name)
    except ValueError as error:
        raise InvalidInputError(f"There is no device {name!r}.", f"Use one of {', '.join(Device)}.") from error


def no_gpu(runtime: str, has: Sequence[str], hint: str) -> ModelError:
    """Return the error of a runtime without a GPU."""
    return ModelError(f"{runtime} has no GPU here; it has {', '.join(has) or 'nothing'}.", hint)

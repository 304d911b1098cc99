"""`dataclass` as the standard library has it, made in a quarter of the time.

The standard library compiles six methods of each class from text, about half a millisecond a class, and a search makes
some 200 classes before it can begin. Here all but `__init__` are shared functions, and `__init__` is compiled when a
class has made a few objects: most make none or one in a short command. All else is the standard decorator's: fields,
slots, order of arguments, errors, `replace`, `fields` and `asdict`.
"""

import dataclasses
from collections.abc import Callable
from functools import cache
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass", "replace"]

UNCOMPILED = 60
"""How many objects a class makes before its `__init__` is compiled, which takes 400 µs and saves 4 for each."""

if TYPE_CHECKING:
    from dataclasses import dataclass, replace
else:

    def replace(instance: object, /, **changes: object) -> object:
        """Return what `dataclasses.replace` does, in a third of the time: a search makes some twenty of its states.

        In a tenth where the class has no slots and its object nothing but its fields: one dictionary is copied.
        """
        cls = type(instance)
        names, read, slotted = _fields_of(cls)
        if read is None:
            return dataclasses.replace(instance, **changes)
        whole = not slotted and len(instance.__dict__) == len(names)
        values = instance.__dict__.copy() if whole else dict(zip(names, read(instance), strict=True))
        values.update(changes)
        if len(values) > len(names):
            message = f"{cls.__name__} has no field {', '.join(changes.keys() - set(names))}"
            raise TypeError(message)
        made, put = object.__new__(cls), object.__setattr__
        if whole:
            made.__dict__.update(values)
            return made
        for name, value in values.items():
            put(made, name, value)
        return made

    @cache
    def _fields_of(cls: type) -> tuple[tuple[str, ...], Callable[[object], tuple[object, ...]] | None, bool]:
        """Return the names of a class's fields, what reads all at once, and whether they are not all in `__dict__`.

        None for what reads them where `dataclasses` must do it.
        """
        names = tuple(one.name for one in dataclasses.fields(cls))
        plain = len(names) > 1 and not hasattr(cls, "__post_init__")
        return names, attrgetter(*names) if plain else None, hasattr(cls, "__slots__") or hasattr(cls, "__getattr__")

    def dataclass(*, frozen: bool = False, slots: bool = False, eq: bool = True) -> Callable[[type], type]:
        """Return a decorator as the standard one's; an equality or a hash that a class defines itself stays."""

        def decorate(cls: type) -> type:
            made = _made(cls, slots=slots) if frozen and _is_plain(cls) else _standard(cls, frozen=frozen, slots=slots)
            own = vars(made)
            if "__repr__" not in own:
                made.__repr__ = _repr
            if eq and "__eq__" not in own:
                made.__eq__ = _equality(made)
            if eq and own.get("__hash__") is None:
                made.__hash__ = _hash_function(made) if frozen else None
            return made

        return decorate


def _standard(cls: Any, *, frozen: bool, slots: bool) -> Any:  # noqa: ANN401  # a class
    return dataclasses.dataclass(frozen=frozen, slots=slots, repr=False, eq=False)(cls)


def _is_plain(cls: type) -> bool:
    """Return whether nothing is inherited from another dataclass and no argument must be named."""
    own = vars(cls)
    named = any(isinstance(one, dataclasses.Field) and one.kw_only is True for one in own.values())
    return not dataclasses.is_dataclass(cls) and "__init__" not in own and not named


def _made(cls: Any, *, slots: bool) -> Any:  # noqa: ANN401  # a class
    """Make a frozen dataclass without compiling anything. Its annotations are read by the standard decorator."""
    made: Any = dataclasses.dataclass(init=False, slots=slots, repr=False, eq=False)(cls)
    made.__dataclass_params__.frozen = made.__dataclass_params__.init = True
    fields = dataclasses.fields(made)
    made.__init__ = _first_init(made, fields)
    made.__signature__ = _Signature()
    made.__setattr__, made.__delattr__ = _refusals(made, frozenset(one.name for one in fields))
    if slots and "__getstate__" not in vars(made):
        made.__getstate__, made.__setstate__ = _state, _restore
    return made


def _first_init(made: Any, fields: tuple[dataclasses.Field[Any], ...]) -> Callable[..., None]:  # noqa: ANN401
    """Return an `__init__` for the first few objects; after these, and where arguments do not fit, the compiled one."""
    given = [one for one in fields if one.init]
    names = [one.name for one in given]
    ready = getattr(made, "__post_init__", None)
    left = UNCOMPILED

    def __init__(self: object, *arguments: object, **named: object) -> None:  # noqa: N807  # the method itself
        nonlocal left
        left -= 1
        values = dict(zip(names, arguments, strict=False))
        fits = len(arguments) <= len(names) and not (values.keys() & named.keys()) and named.keys() <= {*names}
        values.update(named)
        if left < 0 or not fits or any(one.name not in values and _has_no_default(one) for one in given):
            made.__init__ = compiled = _compiled(made, fields)
            compiled(self, *arguments, **named)
            return
        for one in fields:
            if one.name in values:
                object.__setattr__(self, one.name, values[one.name])
            elif one.default_factory is not dataclasses.MISSING:
                object.__setattr__(self, one.name, one.default_factory())
            elif one.default is not dataclasses.MISSING:
                object.__setattr__(self, one.name, one.default)
        if ready is not None:
            ready(self)

    __init__.__qualname__ = f"{made.__qualname__}.__init__"
    return __init__


def _has_no_default(one: "dataclasses.Field[Any]") -> bool:
    return one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING


def _compiled(made: Any, fields: tuple[dataclasses.Field[Any], ...]) -> Callable[..., None]:  # noqa: ANN401
    """Return the `__init__` that the standard decorator compiles for a frozen class of these fields."""
    body: dict[str, Any] = {"__annotations__": {one.name: one.type for one in fields}, "__doc__": made.__name__}
    for one in fields:
        body[one.name] = dataclasses.field(default=one.default, default_factory=one.default_factory, init=one.init)
    if hasattr(made, "__post_init__"):
        body["__post_init__"] = made.__post_init__
    scratch: Any = type(made.__name__, (), body)
    compiled: Callable[..., None] = dataclasses.dataclass(frozen=True, repr=False, eq=False)(scratch).__init__
    compiled.__qualname__ = f"{made.__qualname__}.__init__"
    return compiled


class _Signature:
    """The arguments of the compiled `__init__`, for `inspect.signature`."""

    def __get__(self, _made: object, owner: Any) -> object:  # noqa: ANN401  # the dataclass
        import inspect

        found = inspect.signature(_compiled(owner, dataclasses.fields(owner)))
        return found.replace(parameters=list(found.parameters.values())[1:])


def _refusals(made: Any, names: frozenset[str]) -> tuple[Callable[..., None], ...]:  # noqa: ANN401
    """Return what refuses to set and to delete fields of a class; a subclass may have attributes of its own."""

    def __setattr__(self: object, name: str, value: object) -> None:  # noqa: N807  # the method itself
        if type(self) is made or name in names:
            message = f"cannot assign to field {name!r}"
            raise dataclasses.FrozenInstanceError(message)
        super(made, self).__setattr__(name, value)

    def __delattr__(self: object, name: str) -> None:  # noqa: N807  # the method itself
        if type(self) is made or name in names:
            message = f"cannot delete field {name!r}"
            raise dataclasses.FrozenInstanceError(message)
        super(made, self).__delattr__(name)

    return __setattr__, __delattr__


def _state(self: Any) -> list[object]:  # noqa: ANN401  # of any class
    return [getattr(self, one.name) for one in dataclasses.fields(self)]


def _restore(self: Any, state: list[object]) -> None:  # noqa: ANN401  # of any class
    for one, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, one.name, value)


@recursive_repr()
def _repr(self: Any) -> str:  # noqa: ANN401  # of any class
    shown = (f"{one.name}={getattr(self, one.name)!r}" for one in dataclasses.fields(self) if one.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _equality(cls: Any) -> Callable[[object, object], bool]:  # noqa: ANN401  # a dataclass
    names = tuple(one.name for one in dataclasses.fields(cls) if one.compare)

    def __eq__(self: object, other: object) -> bool:  # noqa: N807  # the method itself
        if self is other:
            return True
        if type(other) is not type(self):
            return NotImplemented
        return [getattr(self, name) for name in names] == [getattr(other, name) for name in names]

    return __eq__


def _hash_function(cls: Any) -> Callable[[object], int]:  # noqa: ANN401  # a dataclass
    names = tuple(one.name for one in dataclasses.fields(cls) if (one.compare if one.hash is None else one.hash))

    def __hash__(self: object) -> int:  # noqa: N807  # the method itself
        return hash(tuple([getattr(self, name) for name in names]))

    return __hash__

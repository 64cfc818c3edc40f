"""Data that stay as they were validated: kernels read them unchecked, and what is published is not touched up."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import FrozenInstanceError, fields
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from dprank._require import no_data, settle

# looked up at every reading of a field
_attribute, _array = object.__getattribute__, np.ndarray


def frozen(values: NDArray[Any]) -> NDArray[Any]:
    """The same entries in memory that nobody can write to, nor make writable; copied unless they are in such memory.

    Objects, which have no bytes of their own, are copied and read-only.
    """
    if values.dtype.hasobject:
        out = values.copy()
        out.flags.writeable = False
        return out
    base: Any = values
    while isinstance(base, np.ndarray):
        base = base.base
    if isinstance(base, bytes) and values.flags.c_contiguous:
        return values
    native = values.astype(values.dtype.newbyteorder("="), copy=False)
    return np.ndarray(native.shape, native.dtype, native.tobytes())


class Frozen(ABC):
    """Refuses assignment and deletion of attributes; a copy is the object itself.

    `__reduce__` must go through the constructor: what comes back from a file is validated and frozen again.
    """

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        value = _attribute(self, name)
        if type(value) is not _array:
            return value
        # a new array on the same bytes: whoever gives it another shape or dtype has changed nothing here
        base = value.base
        whole = type(base) is bytes and len(base) == value.nbytes
        return _array(value.shape, value.dtype, base) if whole else value.view()

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise FrozenInstanceError(f"cannot assign to {name}: {type(self).__name__} stays as it was validated")

    def __delattr__(self, name: str) -> NoReturn:
        raise FrozenInstanceError(f"cannot delete {name}: {type(self).__name__} stays as it was validated")

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    @abstractmethod
    def _state(self) -> tuple[Any, ...]:
        """What makes two of a class equal."""

    def __eq__(self, other: object) -> bool:
        return (type(self) is type(other) and _comparable(self) == _comparable(other)) or self is other

    def __hash__(self) -> int:
        return hash(_comparable(self))


class Data(Frozen):
    """What people gave: tables go through `from_frame`, and a release is none."""

    __slots__ = ()

    def __new__(cls, *given: Any, **named: Any) -> Self:
        """Refuse a table, and a release, in the place of the first array, whatever else is missing."""
        wrong = no_data("data", next(iter((*given, *named.values())), None), f"{cls.__name__} are needed", cls.__name__)
        if wrong is not None:
            raise wrong
        return super().__new__(cls)


class FrozenFields(Frozen):
    """A frozen dataclass (``eq=False``) with arrays; a class that has its own `__post_init__` calls this one last."""

    def __post_init__(self) -> None:
        settle(self, **{name: frozen(value) for name, value in vars(self).items() if isinstance(value, np.ndarray)})

    def __reduce__(self) -> Any:
        return _again, (type(self), dict(self._named()))

    def _named(self) -> list[tuple[str, Any]]:
        return [(field.name, getattr(self, field.name)) for field in fields(self)]  # type: ignore[arg-type]

    def _state(self) -> tuple[Any, ...]:
        return tuple(value for _, value in self._named())


def _again(kind: type[Any], values: dict[str, Any]) -> Any:
    return kind(**values)


def _comparable(instance: Any) -> tuple[Any, ...]:
    """Fields that can be compared and hashed."""
    return tuple(
        (value.shape, value.dtype.str, tuple(value.ravel().tolist()) if value.dtype.hasobject else value.tobytes())
        if isinstance(value, np.ndarray)
        else value
        for value in instance._state()
    )

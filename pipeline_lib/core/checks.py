"""Do the arguments of a call fit the function? Every public function has them checked here, once, before it computes.

There are two ways:

- :func:`checked` decorates a function, or a class, whose ``__init__`` and public methods it then guards. What an
  argument may be follows from its annotation: ``int`` is a whole number, ``float`` a finite one, ``ArrayLike`` an array
  of finite numbers, a ``Literal`` one of its values, a class an instance of it, and a union whatever fits one of its
  members. ``Annotated[int, Range(1, 9)]`` restricts numbers, and ``Annotated[float, check]`` names the function that
  checks the argument; those of general use have names here, such as :data:`Count` and :data:`Probability`.
- Functions of ``scores, y, offsets`` call :func:`ranking`, because the three must also fit together.

An argument that does not fit raises a :class:`~pipeline_lib.core.errors.DataError` that names it; one whose type is
wrong raises an :class:`~pipeline_lib.core.errors.ArgumentError`, which is a ``DataError`` and a ``TypeError``.

Inner loops do not pay for this: they call functions compiled by numba, modules with an empty ``__all__``, and methods
named in ``surrogates.base.INTERNAL``. Those are internal and receive only arguments that were checked before.
"""

import functools
import inspect
import math
import os
import reprlib
import typing
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib.core.errors import ArgumentError, DataError, OutOfRangeError, hint
from pipeline_lib.core.seeds import Axis

MAX_LABEL = 255
"""The largest label of a document: labels are stored in one byte, and 2^label is computed."""
MOST = 2**31 - 1
"""The largest number of anything that is counted (rounds, draws, documents of a list); more can only be a mistake."""

Check = Callable[[str, Any], Any]
"""Takes the name of an argument and its value; gives the value as the function wants it, or raises."""


class Range(NamedTuple):
    """Numbers from ``low`` to ``high``; both ends belong to it unless ``open``."""

    low: float = -math.inf
    high: float = math.inf
    open: bool = False

    def __contains__(self, value: Any) -> bool:
        return bool(self.low < value < self.high if self.open else self.low <= value <= self.high)

    def __str__(self) -> str:
        if self.high in (math.inf, MOST):
            return "" if self.low == -math.inf else f" {'>' if self.open else '>='} {self.low:g}"
        ends = f"{self.low:.16g} and {self.high:.16g}"
        return f" strictly between {ends}" if self.open else f" between {ends}"


COUNT = Range(1, MOST)
AT_LEAST_0 = Range(0)
POSITIVE = Range(0, open=True)
PROBABILITY = Range(0, 1, open=True)


def whole(name: str, value: Any, allowed: Range = Range()) -> int:  # noqa: B008
    """``value`` as a Python int when it is a whole number (no bool) in the range, and fits into 64 bits.

    Example
    -------
    >>> whole("k", 3, COUNT)
    3
    """
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        kind = DataError if isinstance(value, float | np.floating) else ArgumentError
        raise kind(f"{name}: expected a whole number{allowed}, found {shown(value)}")
    highest = min(allowed.high, 2**63 - 1)
    if value > highest:
        raise DataError(f"{name}: expected a whole number <= {highest:.16g}, found {shown(value)}")
    if value not in allowed or value < -(2**63):
        raise DataError(f"{name}: expected a whole number{allowed}, found {shown(value)}")
    return int(value)


def extended(name: str, value: Any) -> float:
    """``value`` when it is a number >= 0 or infinity.

    Example
    -------
    >>> extended("scale", math.inf)
    inf
    """
    if isinstance(value, float | np.floating) and value == math.inf:
        return math.inf
    return real(name, value, AT_LEAST_0)


def real(name: str, value: Any, allowed: Range = Range()) -> float:  # noqa: B008
    """``value`` when it is a finite number (no bool) in the range.

    Example
    -------
    >>> real("radius", 2.5, POSITIVE)
    2.5
    """
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        raise ArgumentError(f"{name}: expected a finite number{allowed}, found {shown(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number) or number not in allowed:
        raise DataError(f"{name}: expected a finite number{allowed}, found {shown(value)}")
    # Another type of number would have numba compile a kernel anew: float32 for float64, say. And numpy makes objects
    # of whole numbers beyond 64 bits.
    if isinstance(value, int) and abs(value) >= 2**63:
        return number
    return value if isinstance(value, int | float) else value.item()


def one_of(name: str, value: Any, choices: Sequence[Any]) -> Any:
    """``value`` when it is one of the choices.

    Example
    -------
    >>> one_of("ball", "l1", ("l2", "l1"))
    'l1'
    """
    wanted = f"one of {', '.join(map(str, choices))}" if len(choices) > 1 else repr(choices[0])
    if not isinstance(value, str | int | float | NoneType):
        raise ArgumentError(f"{name}: expected {wanted}, found {shown(value)}")
    for choice in choices:
        if type(choice) is type(value) and choice == value:
            return value
    near = hint(value, map(str, choices))
    advice = f"; {near}" if near.startswith("did you mean") else ""
    raise DataError(f"{name}: expected {wanted}, found {shown(value)}{advice}")


def instance(name: str, value: Any, kind: type) -> Any:
    """``value`` when it is an object of the class ``kind``.

    Example
    -------
    >>> instance("data", [1, 2], dict)
    Traceback (most recent call last):
    ...
    pipeline_lib.core.errors.ArgumentError: data: expected an object of dict, found [1, 2]
    """
    if not isinstance(value, kind):
        wanted = {str: "a string", Callable: "a function"}.get(kind, f"an object of {kind.__name__}")
        raise ArgumentError(f"{name}: expected {wanted}, found {shown(value)}")
    return value


def truth(name: str, value: Any) -> Any:
    """``value`` when it is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ArgumentError(f"{name}: expected True or False, found {shown(value)}")
    return value


def path(name: str, value: Any) -> Any:
    """``value`` when it is the path of a file or folder, as a string or path object."""
    if not isinstance(value, str | os.PathLike):
        raise ArgumentError(f"{name}: expected a path, found {shown(value)}")
    try:
        written = os.fsencode(value)
    except UnicodeEncodeError:
        written = b""
    if not written or b"\0" in written:
        raise DataError(f"{name}: expected a path, found {shown(value)}")
    return value


def seed(name: str, value: Any) -> Any:
    """``value`` when it is an axis of a seed (a string, a finite number, a boolean or None) or a tuple of axes."""
    for axis in value if isinstance(value, tuple) else (value,):
        if not isinstance(axis, str | int | float | NoneType):
            raise ArgumentError(f"{name}: expected a string, a number, or a tuple of them, found {shown(value)}")
        if isinstance(axis, float) and not math.isfinite(axis):
            raise DataError(f"{name}: expected finite numbers, found {shown(value)}")
    return value


def texts(name: str, value: Any) -> Sequence[str]:
    """``value`` when it is a list of strings.

    Example
    -------
    >>> texts("names", ["ndcg", "map"])
    ['ndcg', 'map']
    """
    listed = value.tolist() if isinstance(value, np.ndarray) else value
    if isinstance(listed, str | bytes) or not isinstance(listed, Sequence):
        raise ArgumentError(f"{name}: expected a list of strings, found {shown(value)}")
    for place, text in enumerate(listed):
        instance(f"{name}[{place}]", text, str)
    return listed


def features_of_training(name: str, expected: Collection[str], found: Collection[str]) -> None:
    """Raise a DataError that names the features of training which documents lack.

    Example
    -------
    >>> features_of_training("new.csv", ["clicks", "age", "bm25"], ["bm25"])
    Traceback (most recent call last):
    ...
    pipeline_lib.core.errors.DataError: new.csv: expected the features of training, found no 'clicks' and no 'age'
    """
    present = set(found)
    if missing := [one for one in expected if one not in present]:
        more = f", {len(missing)} missing in all" if len(missing) > 5 else ""
        words = " and no ".join(map(repr, missing[:5]))
        raise DataError(f"{name}: expected the features of training, found no {words}{more}")


def shown(value: Any) -> str:
    """How an error shows what it found: briefly, whatever it is.

    Example
    -------
    >>> shown(np.zeros((3, 2))), shown("x" * 100)
    ('an array of float64, shape (3, 2)', "'xxxxxxxxxxxxxxxxxxx...xxxxxxxxxxxxxxxxxxxx'")
    """
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype}, shape {value.shape}"
    if isinstance(value, int) and abs(value) >= 10**20:
        return f"a whole number of {value.bit_length()} bits"
    if isinstance(value, str | int | float | np.generic | list | tuple | dict | set | NoneType):
        short = reprlib.Repr()
        short.maxstring, short.maxother = 44, 60
        return short.repr(value)
    return f"a {type(value).__name__}"


# --- Arrays -----------------------------------------------------------------------------------------------------------


def array(name: str, value: Any, *, ndim: int | None = None, if_nan: str = "") -> NDArray[Any]:
    """The numbers of ``value`` as a plain array: nothing masked, nothing but numbers, and finite.

    ``if_nan`` is what an error says of the remedy for a number that is missing.

    Raises
    ------
    ArgumentError
        When they are no numbers.
    DataError
        When an entry is masked or not finite, rows differ in length, or there are not ``ndim`` dimensions.

    Example
    -------
    >>> array("x", [1, 2.5])
    array([1. , 2.5])
    >>> array("x", np.ma.array([1.0, 2.0], mask=[False, True]))
    Traceback (most recent call last):
    ...
    pipeline_lib.core.errors.DataError: x: expected no masked entries, found 1; fill them or drop them first
    """
    numbers = value if type(value) is np.ndarray else _plain(name, value)
    if numbers.dtype.kind not in "biuf":
        raise ArgumentError(f"{name}: expected numbers, found {shown(numbers) if numbers.ndim else shown(value)}")
    if ndim is not None and numbers.ndim != ndim:
        raise DataError(f"{name}: expected {_DIMENSIONS[ndim]}, found {shown(numbers)}")
    if numbers.dtype.kind == "f":
        _refuse_infinite(name, numbers, if_nan)
    return numbers


_DIMENSIONS = ("a single number", "one dimension", "a matrix (two dimensions)", "three dimensions")


def _plain(name: str, value: Any) -> NDArray[Any]:
    parts = value if isinstance(value, list | tuple) else (value,)
    masked = sum(int(np.ma.getmaskarray(part).sum()) for part in parts if isinstance(part, np.ma.MaskedArray))
    if masked:
        raise DataError(f"{name}: expected no masked entries, found {masked}; fill them or drop them first")
    try:
        return np.asarray(value)
    except Exception as error:
        raise ArgumentError(f"{name}: expected an array of numbers, found {shown(value)} ({error})") from error


def _refuse_infinite(name: str, numbers: NDArray[Any], if_nan: str = "") -> None:
    # A sum of finite numbers may overflow but is never NaN; only where it is not finite is every entry looked at.
    with np.errstate(over="ignore", invalid="ignore"):
        if numbers.size == 0 or math.isfinite(float(np.add.reduce(numbers, axis=None))):
            return
    good = np.isfinite(numbers)
    if not good.all():
        where = np.argwhere(~good)[0]
        found = numbers[tuple(where)]
        raise DataError(
            f"{entry(name, where)}: expected a finite number, found {found}{if_nan if np.isnan(found) else ''}"
        )


def entry(name: str, where: Sequence[Any] | NDArray[Any]) -> str:
    """How an error names one entry of an array.

    Example
    -------
    >>> entry("X", (2, 0)), entry("w", ())
    ('X[2, 0]', 'w')
    """
    places = ", ".join(str(int(place)) for place in where)
    return f"{name}[{places}]" if places else name


def floats(
    name: str, value: Any, *, ndim: int | None = None, shape: tuple[int, ...] | None = None
) -> NDArray[np.float64]:
    """The numbers of ``value`` in double precision (no copy if they have it), of a given shape if there is one.

    Example
    -------
    >>> floats("start", [1, 2], shape=(2,))
    array([1., 2.])
    """
    numbers = array(name, value, ndim=ndim)
    if shape is not None and numbers.shape != shape:
        raise DataError(f"{name}: expected numbers of shape {shape}, found shape {numbers.shape}")
    if numbers.dtype == np.float64:
        return numbers
    with np.errstate(over="ignore"):
        wide = numbers.astype(np.float64)
    _refuse_infinite(name, wide)
    return wide


def whole_numbers(
    name: str, value: Any, low: int = -(2**63), high: int = 2**63 - 1, *, ndim: int | None = 1
) -> NDArray[np.int64]:
    """The whole numbers of ``value`` from ``low`` to ``high`` as int64; floats are taken when they are whole.

    Example
    -------
    >>> whole_numbers("qid", [3.0, 4.0])
    array([3, 4])
    >>> whole_numbers("order", [0, 7], 0, 3)
    Traceback (most recent call last):
    ...
    pipeline_lib.core.errors.DataError: order[1]: expected a whole number from 0 to 3, found 7
    >>> whole_numbers("m", [True, True], 2, 3)
    Traceback (most recent call last):
    ...
    pipeline_lib.core.errors.DataError: m[0]: expected a whole number from 2 to 3, found 1
    """
    numbers = array(name, value, ndim=ndim)
    if not numbers.size or numbers.dtype.kind == "b":
        numbers = numbers.astype(np.int64)
    if not numbers.size:
        return numbers
    if numbers.dtype.kind == "f":
        # 2^63 is a float64, the largest int64 is not.
        outside = (numbers < low) | (numbers > high) | (numbers >= 2.0**63)
        _refuse_entries(name, numbers, outside | (numbers != np.floor(numbers)), low, high)
    elif numbers.min() < low or numbers.max() > high:
        _refuse_entries(name, numbers, (numbers < low) | (numbers > high), low, high)
    return numbers.astype(np.int64, copy=False)


def _refuse_entries(name: str, numbers: NDArray[Any], wrong: NDArray[np.bool_], low: int, high: int) -> None:
    if not wrong.any():
        return
    where = np.argwhere(wrong)[0]
    ends = "of 64 bits" if (low, high) == (-(2**63), 2**63 - 1) else f"from {low} to {high}"
    if high == MOST and not (numbers > high).any():
        ends = f">= {low}"
    raise DataError(f"{entry(name, where)}: expected a whole number {ends}, found {numbers[tuple(where)]}")


def labels(name: str, value: Any) -> NDArray[np.int32]:
    """Labels, one a document: whole numbers from 0 to 255, as int32.

    Example
    -------
    >>> labels("y", [0, 300])
    Traceback (most recent call last):
    ...
    pipeline_lib.core.errors.DataError: y[1]: expected a whole number from 0 to 255, found 300
    """
    numbers = array(name, value, ndim=1)
    if numbers.dtype == np.uint8 or numbers.dtype.kind == "b":
        return numbers.astype(np.int32)
    if numbers.dtype != np.int32:
        return whole_numbers(name, numbers, 0, MAX_LABEL).astype(np.int32)
    if numbers.size and (numbers.min() < 0 or numbers.max() > MAX_LABEL):
        _refuse_entries(name, numbers, (numbers < 0) | (numbers > MAX_LABEL), 0, MAX_LABEL)
    return numbers


def offsets(name: str, value: Any, documents: int) -> NDArray[np.int64]:
    """Where the queries begin: whole numbers that rise strictly from 0 to the number of documents, as int64.

    Example
    -------
    >>> offsets("offsets", [0, 2, 2], 2)
    Traceback (most recent call last):
    ...
    pipeline_lib.core.errors.DataError: offsets: expected whole numbers that rise strictly from 0 to 2, found 2 after 2
    """
    numbers = array(name, value, ndim=1)
    wanted = f"{name}: expected whole numbers that rise strictly from 0 to {documents}"
    if not len(numbers):
        raise DataError(f"{wanted}, found none")
    if numbers.dtype.kind not in "iu":
        raise DataError(f"{wanted}, found {numbers.dtype}")
    bounds = whole_numbers(name, numbers)
    if bounds[0] != 0 or bounds[-1] != documents:
        raise DataError(f"{wanted}, found {bounds[0]} to {bounds[-1]}")
    falls = np.flatnonzero(bounds[1:] <= bounds[:-1])
    if len(falls):
        raise DataError(f"{wanted}, found {bounds[falls[0] + 1]} after {bounds[falls[0]]}")
    return bounds


def ranking(scores: Any, y: Any, bounds: Any) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int64]]:
    """Scores, labels and offsets that fit together, in the types that kernels expect (no copy if they have them).

    Raises
    ------
    DataError
        When a score is not finite, a label is not a whole number in 0..255, there is not one of each a document, or
        the offsets do not rise strictly from 0 to the number of documents.

    Example
    -------
    >>> ranking([0.5, 1.5], [0, 1], [0, 2])
    (array([0.5, 1.5]), array([0, 1], dtype=int32), array([0, 2]))
    """
    s = np.ascontiguousarray(floats("scores", scores, ndim=1))
    numbers = np.ascontiguousarray(labels("y", y))
    if len(numbers) != len(s):
        raise DataError(f"y: expected one label for each of {len(s)} scores, found {len(numbers)}")
    return s, numbers, np.ascontiguousarray(offsets("offsets", bounds, len(s)))


def query_indices(name: str, value: Any, n_queries: int) -> NDArray[np.int64]:
    """Queries by position: whole numbers from 0 to ``n_queries`` - 1, any of them any number of times, as int64.

    Example
    -------
    >>> query_indices("order", [1, 1, 0], 2)
    array([1, 1, 0])
    """
    numbers = array(name, value, ndim=1)
    if len(numbers) and numbers.dtype.kind not in "iu":
        raise ArgumentError(f"{name}: expected whole numbers, positions of queries, found {shown(numbers)}")
    return whole_numbers(name, numbers, 0, n_queries - 1)


def weights(name: str, value: Any, n: int) -> NDArray[np.float64]:
    """``n`` finite weights >= 0, not all 0, whose mean is finite and can be divided by, as float64.

    Example
    -------
    >>> weights("weights", [1, 3], 2)
    array([1., 3.])
    >>> weights("weights", [1e308] * 3, 3)
    Traceback (most recent call last):
    ...
    pipeline_lib.core.errors.DataError: weights: expected numbers whose sum stays below 1.8e308, found up to 1e+308
    """
    numbers = floats(name, value, shape=(n,))
    negative = np.flatnonzero(numbers < 0.0)
    if len(negative):
        raise DataError(f"{name}[{negative[0]}]: expected a weight >= 0, found {numbers[negative[0]]}")
    if not numbers.any():
        raise DataError(f"{name}: expected a weight above 0, found none")
    with np.errstate(over="ignore"):
        total = float(numbers.sum())
    if not math.isfinite(total):
        raise DataError(f"{name}: expected numbers whose sum stays below 1.8e308, found up to {numbers.max():g}")
    if total / n < np.finfo(np.float64).tiny:
        raise DataError(f"{name}: expected a mean of at least 2.3e-308, found {total / n:g}")
    return numbers


# --- Arguments, by their annotations ----------------------------------------------------------------------------------

Count = Annotated[int, COUNT]
Several = Annotated[int, Range(2, MOST)]
Total = Annotated[int, Range(2, 2**53)]
Natural = Annotated[int, Range(0, MOST)]
Label = Annotated[int, Range(0, MAX_LABEL)]
AtLeast1 = Annotated[float, Range(1)]
AtLeast2 = Annotated[float, Range(2)]
NonNegative = Annotated[float, AT_LEAST_0]
Positive = Annotated[float, POSITIVE]
Factor = Annotated[float, Range(0, 1e9, open=True)]
Probability = Annotated[float, PROBABILITY]
Extended = Annotated[float, extended]
Seed = Annotated[Axis | tuple[Axis, ...], seed]
SeedAxes = Annotated[tuple[Axis, ...], lambda name, value: seed(name, instance(name, value, tuple))]

C = TypeVar("C", bound=Callable[..., Any])


def checked(target: C) -> C:
    """Have the arguments of a function checked before it runs, or those of the methods of a class.

    Arithmetic that overflows in spite of good types is an ``OutOfRangeError``.

    Example
    -------
    >>> @checked
    ... def part(of: int, share: Probability) -> float:
    ...     return of * share
    >>> part(10, 0.5)
    5.0
    >>> part(10, 1.5)
    Traceback (most recent call last):
    ...
    pipeline_lib.core.errors.DataError: share: expected a finite number strictly between 0 and 1, found 1.5
    """
    if inspect.isclass(target):
        guard_methods(target)
        return target
    return _guarded(target)


def guard_methods(kind: type, internal: Collection[str] = ()) -> None:
    """Have ``__init__`` and every public method that ``kind`` itself defines check its arguments.

    Abstract methods, methods that have their checks already and those named as ``internal`` are left as they are. An
    argument that a base class declares may be what its annotation there says.
    """
    for name, method in list(vars(kind).items()):
        inner = method.__func__ if isinstance(method, classmethod | staticmethod) else method
        public = name == "__init__" or not (name.startswith("_") or name in internal)
        done = hasattr(inner, "__wrapped__") or getattr(inner, "__isabstractmethod__", False)
        if public and inspect.isfunction(inner) and not done:
            declared = [vars(base)[name] for base in kind.__mro__[:0:-1] if inspect.isfunction(vars(base).get(name))]
            setattr(kind, name, _guarded(method, declared))


def _guarded(target: Any, declared: Sequence[Any] = ()) -> Any:
    """The function with its checks; ``declared`` are the methods that it overrides, the most basic one first."""
    if isinstance(target, classmethod | staticmethod):
        return type(target)(_guarded(target.__func__))
    parameters = inspect.signature(target).parameters.values()
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    checks: dict[str, Check | None] = {}

    @functools.wraps(target)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        if not checks:  # when it is first called, all that the annotations name can be imported
            for function in (target, *reversed(declared)):
                checks.update(_checks_of(inspect.unwrap(function)))
        given = list(args)
        for place, name in enumerate(names[: len(given)]):
            if (check := checks.get(name)) is not None:
                given[place] = check(name, given[place])
        for name, value in kwargs.items():
            if (check := checks.get(name)) is not None:
                kwargs[name] = check(name, value)
        try:
            result = target(*given, **kwargs)
        except ArithmeticError as error:
            raise _overflow(target, dict(zip(names, given, strict=False)) | kwargs, str(error)) from error
        if _is_nan(result):
            raise _overflow(target, dict(zip(names, given, strict=False)) | kwargs, "the result is not a number")
        return result

    return guarded


def _checks_of(function: Callable[..., Any]) -> Iterator[tuple[str, Check | None]]:
    for name, annotation in inspect.get_annotations(function).items():
        if name != "return":
            if isinstance(annotation, str):  # the module's own source, not a caller's
                annotation = eval(annotation, function.__globals__)
            yield name, _check_of(annotation)


def _is_nan(result: Any) -> bool:
    # Every number that went in was finite: NaN comes from one in between that float64 cannot hold.
    if isinstance(result, float):
        return math.isnan(result)
    if type(result) is np.ndarray and result.dtype.kind == "f":
        with np.errstate(over="ignore", invalid="ignore"):
            return bool(np.isnan(np.add.reduce(result, axis=None)) and np.isnan(result).any())
    return False


def _overflow(target: Any, given: Mapping[str, Any], reason: str) -> OutOfRangeError:
    numbers = ", ".join(
        f"{name} = {value!r:.40}" for name, value in given.items() if isinstance(value, int | float | np.number)
    )
    arguments = numbers or ", ".join(name for name in given if name != "self")
    return OutOfRangeError(
        f"{arguments}: expected numbers with which {target.__qualname__} stays within the range of float64, "
        f"found some that are too large or too small ({reason})"
    )


def _check_of(annotation: Any, allowed: Range = Range()) -> Check | None:  # noqa: B008
    """The check that an annotation asks for, or None where it does not restrict the argument."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation in (Any, object):
        return None
    if annotation is int:
        return lambda name, value: whole(name, value, allowed)
    if annotation is float:
        return lambda name, value: real(name, value, allowed)
    if annotation is bool:
        return truth
    if annotation is Path:
        return lambda name, value: Path(path(name, value))
    if annotation is ArrayLike or annotation is np.ndarray:
        return array
    if origin is Annotated:
        kind, rule, *_ = arguments
        return _check_of(kind, rule) if isinstance(rule, Range) else rule
    if origin in (typing.Union, UnionType):
        return _of_union(arguments)
    if origin is Literal:
        return lambda name, value: one_of(name, value, arguments)
    if origin is np.ndarray:
        return _of_dtype(typing.get_args(arguments[1])[0])
    if origin is os.PathLike:
        return path
    if origin in (Sequence, list):
        return _of_items(Sequence, _check_of(arguments[0]))
    if origin is tuple and arguments[1:] == (...,):
        return _of_items(tuple, _check_of(arguments[0]))
    if origin in (Mapping, dict):
        return _of_values(*map(_check_of, arguments))
    kind = origin or annotation
    return (lambda name, value: instance(name, value, kind)) if inspect.isclass(kind) else None


def _of_union(members: Sequence[Any]) -> Check | None:
    arrays = typing.get_args(ArrayLike)
    if set(arrays) <= set(members):
        members = (*(member for member in members if member not in arrays), ArrayLike)
    if any(typing.get_origin(member) is os.PathLike for member in members):
        members = tuple(member for member in members if member is not str)
    checks = [_check_of(member) for member in members if member is not NoneType]
    known = [check for check in checks if check is not None]
    if len(known) < len(checks):
        return None
    inner = known[0] if len(known) == 1 else _any_of(known)
    if NoneType not in members:
        return inner
    return lambda name, value: None if value is None else inner(name, value)


def _any_of(checks: Sequence[Check]) -> Check:
    def either(name: str, value: Any) -> Any:
        errors: list[DataError] = []
        for check in checks:
            try:
                return check(name, value)
            except DataError as error:
                # Its frames would keep alive what callers hold, such as features, until cycles are next collected.
                errors.append(error.with_traceback(None))
        said = [str(error).removeprefix(f"{name}: expected ").partition(", found ")[0] for error in errors]
        for complaint in errors:  # one that speaks of a part of the value knows best
            if not str(complaint).startswith(f"{name}: expected "):
                raise complaint
        kind = ArgumentError if all(isinstance(complaint, ArgumentError) for complaint in errors) else DataError
        raise kind(f"{name}: expected {' or '.join(dict.fromkeys(said))}, found {shown(value)}")

    return either


def _of_values(of_key: Check | None, of_value: Check | None) -> Check:
    def entries(name: str, value: Any) -> Any:
        for key, item in instance(name, value, Mapping).items():
            if of_key is not None:
                of_key(f"{name}[{shown(key)}]", key)
            if of_value is not None:
                of_value(f"{name}[{shown(key)}]", item)
        return value

    return entries


def _of_dtype(scalar: Any) -> Check:
    if not issubclass(scalar, np.integer):
        return floats if scalar is np.float64 else array
    low, high = (int(end) for end in (np.iinfo(scalar).min, np.iinfo(scalar).max))
    return lambda name, value: whole_numbers(name, value, low, high, ndim=None).astype(scalar, copy=False)


def _of_items(kind: type, check: Check | None) -> Check:
    def items(name: str, value: Any) -> Any:
        if isinstance(value, np.ndarray) and kind is Sequence:
            value = array(name, value, ndim=1).tolist()
        if isinstance(value, str | bytes) or not isinstance(value, kind):
            raise ArgumentError(f"{name}: expected a {'tuple' if kind is tuple else 'list'}, found {shown(value)}")
        if check is not None:
            for place, item in enumerate(typing.cast(Sequence[Any], value)):
                check(f"{name}[{place}]", item)
        return value

    return items

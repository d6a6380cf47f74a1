"""Which check follows from the annotation of a parameter?

``int`` is a whole number, ``float`` a finite one, ``ArrayLike`` an array of finite numbers, a ``Literal`` one of its
values, a class an instance of it, and a union whatever fits one of its members. :data:`RANGES` restricts the numbers of
parameters whose name means the same everywhere.
"""

from __future__ import annotations

import inspect
import os
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib.array_checks import array, floats, whole_numbers
from pipeline_lib.errors import ArgumentError, DataError
from pipeline_lib.labels import MAX_LABEL
from pipeline_lib.value_checks import (
    AT_LEAST_0,
    COUNT,
    MOST,
    POSITIVE,
    PROBABILITY,
    Check,
    Range,
    instance,
    one_of,
    path,
    real,
    seed,
    shown,
    texts,
    truth,
    whole,
)

RANGES: Mapping[str, Range] = {
    **dict.fromkeys(
        ("m", "n", "k", "rounds", "draws", "resamples", "passes", "components", "count", "K", "P", "sizes"), COUNT
    ),
    **dict.fromkeys(("fold_steps", "repeats", "vc_dimension"), COUNT),
    **dict.fromkeys(("n_queries", "n_features", "d", "restarts", "query", "fold"), Range(0, MOST)),
    **dict.fromkeys(("delta", "level"), PROBABILITY),
    **dict.fromkeys(("score_bound", "l2", "lipschitz", "lipschitz_l2", "smoothness", "feature_norm"), AT_LEAST_0),
    **dict.fromkeys(("radius", "risk", "empirical_risk", "optimal_risk"), AT_LEAST_0),
    **dict.fromkeys(("margin", "sigma", "width", "factor", "loss_bound"), POSITIVE),
    "c1": Range(0, 1e9, open=True),
    "y_max": Range(0, MAX_LABEL),
}
"""What the numbers of an argument may be wherever an argument of that name occurs."""


def check_of(
    parameter: inspect.Parameter,
    function: Callable[..., Any],
    rules: Mapping[str, Check | Range],
    overridden: Callable[..., Any] | None = None,
) -> Check | None:
    """The check of one parameter of ``function``, or None where its annotation does not restrict it.

    A rule for the parameter's name comes first: a function is the check itself, a range replaces that of
    :data:`RANGES`. A parameter without an annotation is checked as in the method that ``function`` overrides.
    """
    rule = rules.get(parameter.name)
    if rule is not None and not isinstance(rule, Range):
        return rule
    variadic = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    if parameter.annotation is parameter.empty and overridden is not None:
        inherited = inspect.signature(overridden).parameters.get(parameter.name)
        return check_of(inherited, inspect.unwrap(overridden), rules) if inherited is not None else None
    if variadic or parameter.annotation is parameter.empty:
        return None
    allowed = rule if rule is not None else RANGES.get(parameter.name, Range())
    return _of_annotation(_resolved(parameter.annotation, function), allowed, parameter.name)


def _resolved(annotation: Any, function: Callable[..., Any]) -> Any:
    if not isinstance(annotation, str):
        return annotation
    return eval(annotation, getattr(function, "__globals__", {}))  # the module's own source, not a caller's


def _of_annotation(annotation: Any, allowed: Range, name: str) -> Check | None:
    if annotation in (Any, object):
        return None
    if name == "seed" and annotation is not int:
        return seed if _is_union(annotation) else lambda name, value: seed(name, instance(name, value, tuple))
    members = typing.get_args(annotation) if _is_union(annotation) else (annotation,)
    arrays = set(typing.get_args(ArrayLike))
    if arrays <= set(members):
        members = (*(member for member in members if member not in arrays), ArrayLike)
    if any(typing.get_origin(member) is os.PathLike for member in members):
        members = tuple(member for member in members if member is not str)
    checks = [_of_type(member, allowed) for member in members if member not in (None, NoneType)]
    if any(check is None for check in checks):
        return None
    known = [check for check in checks if check is not None]
    inner = known[0] if len(known) == 1 else _any_of(known)
    if not {None, NoneType} & set(members):
        return inner
    return lambda name, value: None if value is None else inner(name, value)


def _is_union(annotation: Any) -> bool:
    return typing.get_origin(annotation) in (typing.Union, UnionType)


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


def _of_type(annotation: Any, allowed: Range) -> Check | None:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation in (Any, object):
        return None
    if annotation is int:
        return lambda name, value: whole(name, value, allowed)
    if annotation is float:  # a formula takes any number of documents, only lists of them must fit into memory
        wide = Range(allowed.low) if allowed.high == MOST else allowed
        return lambda name, value: real(name, value, wide)
    if annotation is ArrayLike or annotation is np.ndarray:
        return array
    if origin is Literal:
        return lambda name, value: one_of(name, value, arguments)
    if origin is np.ndarray:
        return _of_dtype(typing.get_args(arguments[1])[0])
    if annotation is Path:
        return lambda name, value: Path(path(name, value))
    if origin is os.PathLike:
        return path
    if origin in (Sequence, list):
        return _of_items(Sequence, _of_annotation(arguments[0], allowed, ""))
    if origin in (Mapping, dict):
        return _of_values(*(_of_annotation(argument, Range(), "") for argument in arguments))
    if origin is Iterable:
        return _iterable if arguments[0] is not str else lambda name, value: texts(name, _listed(name, value))
    if origin is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        return _of_items(tuple, _of_annotation(arguments[0], allowed, ""))
    kind = origin or annotation
    if kind is Callable:
        return _callable
    if kind is bool:
        return truth
    if getattr(kind, "_is_protocol", False):
        return lambda name, value: _with_methods(name, value, kind)
    return (lambda name, value: instance(name, value, kind)) if inspect.isclass(kind) else None


def _with_methods(name: str, value: Any, protocol: type) -> Any:
    missing = [method for method in vars(protocol) if not (method.startswith("_") or hasattr(value, method))]
    if missing:
        raise ArgumentError(f"{name}: expected an object with {', '.join(missing)}, found {shown(value)}")
    return value


def _of_values(of_key: Check | None, of_value: Check | None) -> Check:
    def entries(name: str, value: Any) -> Any:
        for key, item in instance(name, value, Mapping).items():
            if of_key is not None:
                of_key(f"{name}[{shown(key)}]", key)
            if of_value is not None:
                of_value(f"{name}[{shown(key)}]", item)
        return value

    return entries


def _listed(name: str, value: Any) -> Any:
    return value if isinstance(value, str | bytes) else tuple(_iterable(name, value))


def _iterable(name: str, value: Any) -> Any:
    try:
        iter(value)
    except TypeError:
        raise ArgumentError(f"{name}: expected something to iterate over, found {shown(value)}") from None
    return value


def _callable(name: str, value: Any) -> Any:
    if not callable(value):
        raise ArgumentError(f"{name}: expected a function, found {shown(value)}")
    return value


def _of_dtype(scalar: Any) -> Check:
    if not inspect.isclass(scalar) or issubclass(scalar, np.floating):
        return floats if scalar is np.float64 else array
    if issubclass(scalar, np.bool_):
        return array
    ends = np.iinfo(np.int64 if scalar is np.integer else typing.cast(Any, scalar))
    return lambda name, value: _as(scalar, whole_numbers(name, value, int(ends.min), int(ends.max), ndim=None))


def _as(scalar: Any, numbers: NDArray[np.int64]) -> NDArray[Any]:
    return numbers if scalar is np.integer else numbers.astype(scalar, copy=False)


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

"""Prompting methods: loops over prompt, model and environment, without I/O; and compositions of them."""

from __future__ import annotations

from contextlib import suppress
from typing import TypeGuard

from ..domain import BackOff, Method
from ..errors import Usage
from ..registry import Registry

METHODS: Registry[type[Method]] = Registry(
    "method",
    {
        "react": "reactrepro.methods.react:React",
        "act": "reactrepro.methods.act:Act",
        "cot": "reactrepro.methods.answering:Cot",
        "cot_sc": "reactrepro.methods.answering:CotSc",
        "standard": "reactrepro.methods.answering:Standard",
    },
)
"""Method names to classes, which are made without arguments."""

BACK_OFFS: Registry[type[BackOff]] = Registry(
    "back-off",
    {
        "react_then_cot_sc": "reactrepro.methods.back_off:ReactThenCotSc",
        "cot_sc_then_react": "reactrepro.methods.back_off:CotScThenReact",
    },
)
"""The same for the methods that are composed of others."""


def is_back_off(kind: type[Method] | type[BackOff]) -> TypeGuard[type[BackOff]]:
    """Tell of which kind a class is that `method_or_back_off` returned: a back-off has parts."""
    return hasattr(kind, "parts")


def method_or_back_off(name: str) -> type[Method] | type[BackOff]:
    """Return the class of the method *name*, of whichever kind; see `is_back_off`.

    Raises:
        Usage: neither the tables nor an installed package knows the name.
    """
    if name in BACK_OFFS:
        return BACK_OFFS.get(name)
    try:
        return METHODS.get(name)
    except Usage:
        with suppress(Usage):
            return BACK_OFFS.get(name)
        raise Usage(f"unknown method {name!r}; known here: {', '.join([*METHODS, *BACK_OFFS])}") from None

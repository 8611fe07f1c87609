"""Prompting methods: loops over prompt, model and environment, without I/O; and compositions of them."""

from __future__ import annotations

from ..domain import BackOff, Method
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

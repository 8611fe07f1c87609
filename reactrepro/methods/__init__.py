"""Prompting methods: loops over prompt, model and environment, without I/O."""

from __future__ import annotations

from ..domain import Method
from ..registry import Registry

METHODS: Registry[type[Method]] = Registry("method", {"react": "reactrepro.methods.react:React"})
"""Method names to classes, which are made without arguments."""

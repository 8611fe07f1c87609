"""The official SDKs: which client, which typed method, which arguments. Imported when a call is about to be sent."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final

from ..domain import Json
from ..errors import Usage


@dataclass(frozen=True, slots=True)
class Method:
    """A typed method of an SDK.

    Attributes:
        create: the method; it returns the response as it came.
        names: the names of its arguments that stand in the body.
        client: the SDK's client that it belongs to.
        sdk: the SDK's module, for its exceptions.
    """

    create: Callable[..., Any]
    names: frozenset[str]
    client: Any
    sdk: Any

    def arguments(self, body: Mapping[str, Json]) -> dict[str, Any]:
        """Return *body* as arguments; what the SDK has no argument for (anymore) goes beside them, as extra body."""
        known = {name: value for name, value in body.items() if name in self.names}
        extra = {name: value for name, value in body.items() if name not in self.names}
        return {**known, "extra_body": extra} if extra else known


_NOT_IN_THE_BODY = frozenset({"extra_headers", "extra_query", "extra_body", "timeout"})


def method(
    endpoint: str,
    *,
    http_client: Any,
    base_url: str,
    key: str = "none",
    timeout: Any = None,
    asynchronous: bool = False,
    plain: bool = True,
) -> Method:
    """Return the method that sends bodies to *endpoint*. It never retries; that is its caller's business.

    Args:
        endpoint: logical endpoint.
        http_client: the client of the SDK's own HTTP library, on a transport of ours.
        base_url: where the API is, as the SDK wants it.
        key: the API key.
        timeout: seconds for one call, or the HTTP library's own form of it; None for no limit.
        asynchronous: for asyncio.
        plain: send nothing that the environment adds (organisation, project, another key, custom headers).

    Raises:
        Usage: no SDK has a method for the endpoint.
    """
    if endpoint not in _SDKS:
        raise Usage(f"no SDK's method sends {endpoint!r}: only {', '.join(_SDKS)} can be sent over the wire.")
    make, path = _SDKS[endpoint]
    client, sdk = make(
        asynchronous, api_key=key, base_url=base_url, http_client=http_client, max_retries=0, timeout=timeout
    )
    if plain:
        client.organization = client.project = None  # what OPENAI_ORG_ID and OPENAI_PROJECT_ID said
        client.auth_token = None  # what ANTHROPIC_AUTH_TOKEN said: older versions send it beside the key
        client._custom_headers = {}  # OPENAI_CUSTOM_HEADERS and the like, which no argument turns off
    create = attrgetter(f"{path}.with_raw_response.create")(client)
    return Method(create, frozenset(inspect.signature(create).parameters) - _NOT_IN_THE_BODY, client, sdk)


def _openai(asynchronous: bool, **arguments: Any) -> tuple[Any, Any]:
    import openai

    return (openai.AsyncOpenAI if asynchronous else openai.OpenAI)(**arguments), openai


def _anthropic(asynchronous: bool, **arguments: Any) -> tuple[Any, Any]:
    import anthropic

    kind: Any = anthropic.AsyncAnthropic if asynchronous else anthropic.Anthropic
    # Newer versions trace prompts into whatever OpenTelemetry exporter the process has; older ones know no such option.
    untraced = {"open_telemetry": False} if "open_telemetry" in inspect.signature(kind).parameters else {}
    return kind(**untraced, **arguments), anthropic


_SDKS: Final[Mapping[str, tuple[Callable[..., tuple[Any, Any]], str]]] = {
    "chat/completions": (_openai, "chat.completions"),
    "completions": (_openai, "completions"),
    "messages": (_anthropic, "messages"),
}
"""Logical endpoint -> who makes the client, and where in it the method `create` is."""

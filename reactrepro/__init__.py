"""reactrepro: ReAct evaluations that replay offline, to the byte, from recorded fixtures.

`http_client` and `async_http_client` record and replay agents of any other kind (docs/any-agent.md).
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .exchanges.http_client import async_http_client, http_client

__version__ = "0.1.0"
__all__ = ["__version__", "async_http_client", "http_client"]


def __getattr__(name: str) -> Any:
    """Import what is public when it is asked for (PEP 562): the command line needs none of it."""
    if name in ("http_client", "async_http_client"):
        from .exchanges import http_client

        return getattr(http_client, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

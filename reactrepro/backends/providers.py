"""Who is asked: base URL, key variable and wire APIs of each provider. A compatible provider is one row."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import urlsplit, urlunsplit

from ..errors import Usage
from . import BACKENDS

COMPATIBLE = "openai-api"
"""Any OpenAI-compatible server: ``openai-api/<service>/<model>``."""

RECORDING = "REACTREPRO_"
"""Before a key variable's name: a key for recording only, which wins over the ordinary one."""

_SERVICE = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}\Z")
_NEAR = (".localhost", ".local", ".internal", ".lan", ".home.arpa")


@dataclass(frozen=True, slots=True)
class Provider:
    """A row of the table.

    Attributes:
        base_url: as its SDK wants it.
        key_variable: the environment variable that people keep its key in.
        apis: the wire APIs that it speaks, the default first.
    """

    base_url: str
    key_variable: str
    apis: tuple[str, ...]


PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider("https://api.openai.com/v1", "OPENAI_API_KEY", ("chat", "completions")),
    "anthropic": Provider("https://api.anthropic.com", "ANTHROPIC_API_KEY", ("messages",)),
    "volcengine": Provider("https://ark.cn-beijing.volces.com/api/v3", "ARK_API_KEY", ("chat",)),
    "deepseek": Provider("https://api.deepseek.com", "DEEPSEEK_API_KEY", ("chat",)),
}

ALL_APIS = ("chat", "completions", "messages")


@dataclass(frozen=True, slots=True)
class Target:
    """One model at one address.

    Attributes:
        provider: as a run names it: ``openai``, or ``openai-api/<service>``.
        model: the model asked for.
        api: wire API.
        base_url: as the SDK wants it; without credentials, query and fragment.
        key: the key; empty for a loopback server that needs none. Never shown, never written.
        key_variable: the environment variable that people keep the provider's key in.
        found_in: the environment variable that the key was found in; "" where there is none.
    """

    provider: str
    model: str
    api: str
    base_url: str
    key: str = field(repr=False)
    key_variable: str = ""
    found_in: str = ""

    @property
    def host(self) -> str:
        """The host that is asked, without its port."""
        return urlsplit(self.base_url).hostname or ""

    @property
    def loopback(self) -> bool:
        """Whether that is this machine."""
        return is_loopback(self.host)

    @property
    def key_hint(self) -> str:
        """Where the key comes from, and how to give another, as a sentence."""
        ways = f"{RECORDING}{self.key_variable} (for recording only, it comes first) or {self.key_variable}"
        if self.found_in:
            return f"The key came from {self.found_in}; set another one in {ways}."
        return f"No key was sent, since none is set; set one in {ways}."


def target(
    name: str,
    *,
    environment: Mapping[str, str],
    api: str | None = None,
    preferred: str | None = None,
    base_url: str | None = None,
    keyless: bool = False,
) -> Target:
    """Return whom ``--model name`` means.

    Args:
        name: ``provider/model`` or ``openai-api/<service>/<model>``; a model's name may hold slashes.
        environment: where keys and base URLs are looked up.
        api: the wire API asked for; None to choose: *preferred* where the provider speaks it, else its first.
        preferred: the profile's wire API.
        base_url: an address that overrides the table's.
        keyless: nothing will be sent, so that no key is looked for.

    Raises:
        Usage: unknown provider or API, no base URL, an unsafe one, no key for a server that needs one, or one that
            cannot be sent.
    """
    provider, _, model = name.partition("/")
    if provider == COMPATIBLE:
        row, provider, model = _service(model, environment)
    elif provider in PROVIDERS:
        row = PROVIDERS[provider]
    else:
        known = ", ".join([*PROVIDERS, f"{COMPATIBLE}/<service>"])
        raise Usage(f"{name!r} names no provider: write provider/model, with one of {known}.")
    if not model.strip() or not model.isprintable():
        raise Usage(f"{name!r} names no model: write provider/model.")
    api = api or (preferred if preferred in row.apis else row.apis[0])
    try:
        endpoint = BACKENDS.get(api)().endpoint  # of one that another package adds, the user says that it fits
        if api in BACKENDS and api not in row.apis:
            raise Usage(f"unknown to {provider}")
    except Usage:
        raise Usage(f"{provider} does not speak the {api!r} API; it speaks: {', '.join(row.apis)}.") from None
    address = _address(base_url or row.base_url, provider)
    if endpoint == "messages":
        address = address.removesuffix("/v1")  # its SDK adds that
    key, found_in = ("", "") if keyless else _key(row.key_variable, provider, address, environment)
    return Target(provider, model, api, address, key, row.key_variable, found_in)


def _service(rest: str, environment: Mapping[str, str]) -> tuple[Provider, str, str]:
    service, _, model = rest.partition("/")
    if not _SERVICE.match(service):
        raise Usage(f"{COMPATIBLE}/{rest}: write {COMPATIBLE}/<service>/<model>, the service in lower case.")
    variable = service.upper().replace("-", "_")
    base = environment.get(f"{variable}_BASE_URL", "").strip()
    return Provider(base, f"{variable}_API_KEY", ALL_APIS), f"{COMPATIBLE}/{service}", model


def _address(url: str, provider: str) -> str:
    """Return *url* if an API can be asked there. What it holds is not repeated in messages: it can be a key."""
    if not url:
        variable = provider.partition("/")[2].upper().replace("-", "_")
        raise Usage(f"{provider} has no address: give --base-url, or set {variable}_BASE_URL.")
    try:
        parts = urlsplit(url)
        _ = parts.port  # is checked when it is read
    except ValueError:
        raise Usage("the base URL is no address: it needs the form https://host/v1.") from None
    if parts.scheme not in {"http", "https"} or not parts.hostname or not url.isprintable() or " " in url:
        raise Usage("the base URL has to begin with http:// or https:// and name a host: https://host/v1.")
    if "@" in parts.netloc or "?" in url or "#" in url:
        raise Usage("the base URL holds credentials, a query or a fragment; a key belongs into its variable.")
    if parts.scheme == "http" and not _is_near(parts.hostname):
        raise Usage(f"the base URL would send keys and prompts to {parts.hostname} in the clear; use https.")
    return urlunsplit(parts._replace(path=parts.path.rstrip("/")))


def _key(variable: str, provider: str, address: str, environment: Mapping[str, str]) -> tuple[str, str]:
    """Return the key and the variable that holds it."""
    for name in (RECORDING + variable, variable):
        key = environment.get(name, "").strip()
        if not key:
            continue
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise Usage(f"what {name} holds is no key: it has characters that no HTTP header can carry.")
        return key, name
    if is_loopback(urlsplit(address).hostname or ""):
        return "", ""
    raise Usage(
        f"recording from {provider} needs a key: set {RECORDING}{variable} (for recording only) or {variable}. "
        "Replaying needs none."
    )


def _is_near(host: str) -> bool:
    """Tell whether *host* is on this machine or in this network, where http is common."""
    try:
        return ip_address(host).is_private
    except ValueError:
        return "." not in host.rstrip(".") or host.endswith(_NEAR)


def is_loopback(host: str) -> bool:
    """Tell whether *host* is this machine: such a server needs no key."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False

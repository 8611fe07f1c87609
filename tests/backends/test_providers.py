"""Who is asked: providers, addresses, keys, wire APIs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from reactrepro.backends.providers import PROVIDERS, Target, target
from reactrepro.errors import Usage

KEYS = {f"{name}_API_KEY": f"{name}-key" for name in ("OPENAI", "ANTHROPIC", "ARK", "DEEPSEEK", "LOCAL", "MY_LAB")}


def at(name: str, environment: Mapping[str, str] = KEYS, **changes: Any) -> Target:
    """Whom *name* means."""
    return target(name, environment=environment, **changes)


@pytest.mark.parametrize(
    ("name", "provider", "model", "api", "base_url", "key"),
    [
        ("openai/gpt-x", "openai", "gpt-x", "chat", "https://api.openai.com/v1", "OPENAI-key"),
        ("anthropic/m", "anthropic", "m", "messages", "https://api.anthropic.com", "ANTHROPIC-key"),
        ("volcengine/deepseek-v3-250324", "volcengine", "deepseek-v3-250324", "chat",
         "https://ark.cn-beijing.volces.com/api/v3", "ARK-key"),
        ("deepseek/deepseek-chat", "deepseek", "deepseek-chat", "chat", "https://api.deepseek.com", "DEEPSEEK-key"),
    ],
)  # fmt: skip
def test_the_table(name: str, provider: str, model: str, api: str, base_url: str, key: str) -> None:
    """Each provider has its address, its key variable and its first API."""
    found = at(name)
    assert (found.provider, found.model, found.api, found.base_url, found.key) == (provider, model, api, base_url, key)
    assert not found.loopback


def test_any_compatible_server_is_a_service() -> None:
    """Its key and address stand in variables named after it; its model's name may hold slashes."""
    environment = KEYS | {"MY_LAB_BASE_URL": "https://lab.invalid/v1/"}
    found = at("openai-api/my-lab/Qwen/Qwen3-8B", environment)
    assert (found.provider, found.model, found.key) == ("openai-api/my-lab", "Qwen/Qwen3-8B", "MY_LAB-key")
    assert (found.base_url, found.host) == ("https://lab.invalid/v1", "lab.invalid")
    assert at("openai-api/my-lab/x", environment, base_url="http://127.0.0.1:1/v1").base_url == "http://127.0.0.1:1/v1"


@pytest.mark.parametrize("provider", [*PROVIDERS, "openai-api/local"])
def test_a_key_for_recording_only_comes_first(provider: str) -> None:
    """REACTREPRO_<KEY> wins over <KEY>; an empty variable is none."""
    name, base = f"{provider}/m", {"base_url": "https://host.invalid"}
    variable = PROVIDERS[provider].key_variable if provider in PROVIDERS else "LOCAL_API_KEY"
    both = {variable: " plain-key\n", f"REACTREPRO_{variable}": "recording-key"}
    assert (at(name, both, **base).key, at(name, both, **base).found_in) == ("recording-key", f"REACTREPRO_{variable}")
    assert at(name, both | {f"REACTREPRO_{variable}": ""}, **base).key == "plain-key"
    with pytest.raises(Usage, match=f"needs a key: set REACTREPRO_{variable} .* or {variable}") as caught:
        at(name, {}, **base)
    assert caught.value.exit_code == 2
    assert at(name, {}, keyless=True, **base).key == ""


def test_a_key_is_never_shown() -> None:
    """Not even by accident: not in a repr, not in a hint, not in a message about a key that is none."""
    found = at("openai/m")
    assert "OPENAI-key" not in repr(found) + found.key_hint
    assert found.key_hint.startswith("The key came from OPENAI_API_KEY;")
    assert at("openai-api/x/m", {}, base_url="http://localhost:1").key_hint.startswith("No key was sent")
    for bad in ("sk-canary\x00", "sk-canary-ü", "sk canary"):
        with pytest.raises(Usage, match="what OPENAI_API_KEY holds is no key") as caught:
            at("openai/m", {"OPENAI_API_KEY": bad})
        assert "canary" not in str(caught.value)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "[::1]", "localhost", "llm.localhost"])
def test_a_server_on_this_machine_needs_no_key(host: str) -> None:
    """Wherever the loopback address is spelt out."""
    found = at("openai-api/local/m", {}, base_url=f"http://{host}:8080/v1")
    assert (found.key, found.loopback) == ("", True)


@pytest.mark.parametrize("host", ["192.168.0.9", "10.0.0.1", "gpu-box", "gpu.local", "host.docker.internal"])
def test_a_server_nearby_may_be_asked_without_tls_and_needs_a_key(host: str) -> None:
    """In one's own network plain http is common; it is not this machine."""
    assert not at("openai-api/local/m", base_url=f"http://{host}:8080/v1").loopback
    with pytest.raises(Usage, match="needs a key"):
        at("openai-api/local/m", {}, base_url=f"http://{host}:8080/v1")


@pytest.mark.parametrize(
    ("base_url", "says"),
    [
        ("http://api.example.org/v1", "in the clear; use https"),
        ("http://8.8.8.8/v1", "in the clear"),
        ("https://user:canary@host.invalid/v1", "holds credentials"),
        ("https://canary@host.invalid/v1", "holds credentials"),
        ("https://host.invalid/v1?key=canary", "holds credentials, a query"),
        ("https://host.invalid/v1#canary", "a fragment"),
        ("ftp://host.invalid/canary", "begin with http"),
        ("host.invalid/canary", "begin with http"),
        ("https:///canary", "name a host"),
        ("https://host.invalid:99999/canary", "is no address"),
        ("https://[::1/canary", "is no address"),
        ("https://host.invalid/can ary", "begin with http"),
        ("https://host.invalid/canary\x7f", "begin with http"),
    ],
)
def test_an_unsafe_address_is_refused(base_url: str, says: str) -> None:
    """And what it holds is not repeated."""
    with pytest.raises(Usage, match=says) as caught:
        at("openai/m", base_url=base_url)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "changes", "says"),
    [
        ("gpt-x", {}, "names no provider: write provider/model, with one of openai, anthropic"),
        ("nobody/m", {}, "names no provider"),
        ("openai/", {}, "names no model"),
        ("openai/ ", {}, "names no model"),
        ("openai/a\nb", {}, "names no model"),
        ("openai-api/local", {}, "names no model"),
        ("openai-api/LOCAL/m", {}, "the service in lower case"),
        ("openai-api//m", {}, "write openai-api/<service>/<model>"),
        ("openai-api/my-lab/m", {}, "give --base-url, or set MY_LAB_BASE_URL"),
        ("openai/m", {"api": "messages"}, "openai does not speak the 'messages' API; it speaks: chat, completions"),
        ("anthropic/m", {"api": "chat"}, "it speaks: messages"),
    ],
)
def test_what_names_nobody_is_a_usage_error(name: str, changes: dict[str, Any], says: str) -> None:
    """The message says what would be right."""
    with pytest.raises(Usage, match=says):
        at(name, **changes)


@pytest.mark.parametrize(
    ("name", "api", "preferred", "chosen"),
    [
        ("openai/m", None, "completions", "completions"),
        ("openai/m", "chat", "completions", "chat"),
        ("anthropic/m", None, "completions", "messages"),
        ("deepseek/m", None, "completions", "chat"),
        ("openai-api/local/m", None, "completions", "completions"),
        ("openai-api/local/m", "messages", "chat", "messages"),
    ],
)
def test_the_api_is_the_one_asked_for_or_the_profiles_or_the_first(
    name: str, api: str | None, preferred: str, chosen: str
) -> None:
    """A provider that does not speak the profile's API is asked by its own."""
    assert at(name, api=api, preferred=preferred, base_url="http://127.0.0.1:1/v1").api == chosen


def test_one_address_serves_all_apis() -> None:
    """Anthropic's SDK adds /v1 itself, OpenAI's does not; nobody has to know that."""
    for address in ("http://127.0.0.1:1/v1", "http://127.0.0.1:1/v1/", "http://127.0.0.1:1"):
        assert at("openai-api/local/m", api="messages", base_url=address).base_url == "http://127.0.0.1:1"
    assert at("openai-api/local/m", base_url="http://127.0.0.1:1/v1").base_url == "http://127.0.0.1:1/v1"

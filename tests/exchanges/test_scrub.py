"""Scrubbing: what may stand in a recording, by allow-list; and what a server's words may show to people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reactrepro.backends import BACKENDS
from reactrepro.errors import Corrupt
from reactrepro.exchanges.scrub import REMOVED, Scrubber, secrets_in

from ..llm_server import wrapped
from .roads import APIS

KEY = "sk-canary-0711-abcdefgh"


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> str:
    """A home folder of a known name."""
    monkeypatch.setattr(Path, "home", lambda: Path("/home/canary"))
    return "/home/canary"


# --- headers and addresses ------------------------------------------------------------------------------------------


@pytest.mark.case("B25")
def test_of_the_headers_only_the_content_type_is_kept() -> None:
    """Cookies, account names and request ids go, in whatever spelling."""
    headers = {
        "Set-Cookie": "__cf_bm=abc",
        "set-cookie": "a=b",
        "OpenAI-Organization": "org-demo1",
        "openai-project": "proj_1",
        "anthropic-organization-id": "11-22",
        "X-Request-ID": "req_1",
        "request-id": "req_2",
        "CF-RAY": "8f",
        "Authorization": f"Bearer {KEY}",
        "x-api-key": KEY,
        "Content-type": f"application/json; key={KEY}",
    }
    assert Scrubber([KEY]).headers(headers) == {"Content-Type": [f"application/json; key={REMOVED}"]}


@pytest.mark.parametrize(
    ("uri", "kept"),
    [
        ("https://api.openai.com/v1/chat/completions", "https://api.openai.com/v1/chat/completions"),
        ("http://127.0.0.1:8080/v1/messages?beta=1#x", "http://127.0.0.1:8080/v1/messages"),
        ("https://user:pass@host.invalid/api/v3/chat/completions", "https://host.invalid/api/v3/chat/completions"),
        ("https://[::1]:9/v1beta2/completions", "https://[::1]:9/v1beta2/completions"),
        ("https://gw.invalid/v1/0123abcd/acme/openai/chat/completions", "https://gw.invalid/v1/-/-/openai/chat/completions"),
        (f"https://gw.invalid/{KEY}/v1/completions", "https://gw.invalid/-/v1/completions"),
    ],
)  # fmt: skip
def test_of_an_address_what_is_known_is_kept(uri: str, kept: str) -> None:
    """No credentials, no query, no account of a gateway's customer in the path."""
    assert Scrubber([KEY]).uri(uri) == kept


# --- bodies ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("api", APIS)
def test_a_reply_loses_ids_and_keeps_its_meaning(api: str) -> None:
    """What a backend reads is the same before and after; no member that is not listed is left, at any depth."""
    canaries = {name: f"canary-{name}" for name in ("request_id", "organization", "account", "user", "x")}
    body = wrapped(f"/v1/{APIS[api]}", f"héllo {KEY} – 日本 \U0001f408", {**canaries, "metadata": {"k": KEY}})
    for row in body.get("choices", body.get("content")):
        row["canary"] = row.setdefault("message", {})["canary"] = "canary"
    kept = Scrubber([KEY]).response(json.dumps(body))
    assert "canary" not in kept
    assert REMOVED in kept
    read = BACKENDS.get(api)().completion
    before, after = read(body), read(json.loads(kept))
    assert after.text == before.text.replace(KEY, REMOVED)
    assert (after.finish, after.tokens, after.model, after.fingerprint) == (
        before.finish, before.tokens, before.model, before.fingerprint,
    )  # fmt: skip


def test_a_reply_that_has_nothing_to_hide_stays_as_it_came() -> None:
    """To the character: spaces, order and escapes are kept where no member has to go."""
    body = '{ "object":"x",\n "choices": [{"text": "a\\u2013b", "index": 0}], "usage": {"prompt_tokens": 1.0} }'
    assert Scrubber([KEY]).response(body) == body


def test_a_key_is_found_however_it_is_spelt() -> None:
    """JSON can write a character in several ways."""
    spelt = "".join(f"\\u{ord(char):04x}" for char in KEY)
    kept = Scrubber([KEY]).response(f'{{"choices": [{{"text": "{spelt}"}}]}}')
    assert json.loads(kept) == {"choices": [{"text": REMOVED}]}


def test_a_member_that_comes_twice_hides_nothing() -> None:
    """The text of such a body holds more than its value does."""
    body = f'{{"choices": [{{"id": "{KEY}"}}], "choices": []}}'
    assert Scrubber().response(body) == '{"choices":[]}'


def test_half_a_character_can_be_kept() -> None:
    """A token limit cuts an emoji in two; the recording holds what came, and can be written."""
    kept = Scrubber().response('{"id": "x", "choices": [{"text": "cat \\ud83d"}]}')
    assert kept.isascii()
    assert json.loads(kept) == {"choices": [{"text": "cat \ud83d"}]}


def test_usage_keeps_numbers_only() -> None:
    """Whatever their names; a text among them could be anything."""
    usage = {"a": 1, "tier": "canary", "details": {"b": 2, "c": "canary", "d": None}, "rows": [1, "canary"]}
    kept = json.loads(Scrubber().response(json.dumps({"choices": [], "usage": usage})))
    assert kept["usage"] == {"a": 1, "details": {"b": 2, "d": None}, "rows": [1]}


def test_thinking_is_kept_in_every_known_form() -> None:
    """Parts of a message: text, thinking as text or as parts, summaries; not their ids."""
    parts: list[Any] = [
        {"type": "text", "text": "a", "id": "canary"},
        {"type": "thinking", "thinking": "b", "signature": "s"},
        {"type": "thinking", "thinking": [{"type": "text", "text": "c", "id": "canary"}]},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "d"}], "id": "canary"},
    ]
    kept = json.loads(Scrubber().response(json.dumps({"content": parts})))
    assert "canary" not in json.dumps(kept)
    assert [len(part) for part in kept["content"]] == [2, 3, 2, 2]


@pytest.mark.parametrize("body", ["", "[1,", "nothing", "[" * 100_000])
def test_what_is_no_json_is_refused(body: str) -> None:
    """It is no reply; the recorder says so."""
    with pytest.raises((ValueError, RecursionError)):
        Scrubber().response(body)


# --- the home folder ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("/home/canary/models/a.gguf", "~/models/a.gguf"),
        ("file:///home/canary", "file://~"),
        ("in '/home/canary'", "in '~'"),
        ("/home/canary2/a", "/home/canary2/a"),
        ("/mnt/home/canary-x", "/mnt/home/canary-x"),
    ],
)
def test_the_home_folder_is_not_written(home: str, text: str, kept: str) -> None:
    """Servers name a model by its file; other folders whose names begin alike are left alone."""
    assert Scrubber().text(text) == kept
    assert json.loads(Scrubber().response(json.dumps({"model": text})))["model"] == kept


def test_somebody_without_a_home_can_record(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a container, nobody may know where it is."""

    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nowhere)
    assert Scrubber([KEY]).text(f"/home/x {KEY}") == f"/home/x {REMOVED}"


# --- secrets --------------------------------------------------------------------------------------------------------


def test_a_short_key_is_no_secret() -> None:
    """People give local servers keys such as "none"; such words stand in replies."""
    assert Scrubber(["none", "", "EMPTY"]).text("none of them is EMPTY") == "none of them is EMPTY"


def test_the_longest_secret_goes_first() -> None:
    """One key may begin with another."""
    assert Scrubber(["abcdef", "abcdef-ghijkl"]).text("abcdef-ghijkl abcdef") == f"{REMOVED} {REMOVED}"


def test_secrets_are_found_anywhere_in_a_request() -> None:
    """Names, values, lists: a request that holds one is not sent."""
    scrubber = Scrubber([KEY])
    assert scrubber.holds({"messages": [{"role": "user", "content": f"x{KEY}y"}]})
    assert scrubber.holds({KEY: 1})
    assert not scrubber.holds({"messages": [{"content": "sk-canary"}], "n": 1, "x": None})


def test_a_file_that_would_hold_a_key_is_refused() -> None:
    """The last line of defence, behind all others."""
    scrubber = Scrubber(['quo"ted-key-1'])
    with pytest.raises(Corrupt, match=r"^x\.yaml was not written: it would hold a key\.") as caught:
        scrubber.refuse(b'{"a": "quo\\"ted-key-1"}', "x.yaml")
    assert "ted-key" not in str(caught.value)
    scrubber.refuse(b"nothing", "x.yaml")


def test_the_environment_names_its_secrets() -> None:
    """Keys of all services, tokens, passwords, account names, headers for an SDK, a proxy's user; no ordinary word."""
    found = secrets_in(
        {
            "OPENAI_API_KEY": KEY,
            "SOME_AUTH_TOKEN": "tok-0123456789 ",
            "DB_PASSWORD": "pass0word0pass",
            "OPENAI_ORG_ID": "org-0123456789",
            "OPENAI_PROJECT_ID": "proj_0123456789",
            "ANTHROPIC_CUSTOM_HEADERS": "X-A: header-canary\nX-B: other-canary",
            "https_proxy": "http://some%2Fuser:some-pass@proxy.invalid:3128",
            "NO_PROXY": "host.invalid",
            "CI_TOKEN": "disabled-for-now",
            "EDITOR": "vi0123456789",
        }
    )
    assert found == {
        KEY, "tok-0123456789", "pass0word0pass", "org-0123456789", "proj_0123456789", "header-canary", "other-canary",
        "some/user", "some-pass",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (f"Incorrect API key provided: {KEY}.", f"Incorrect API key provided: {REMOVED}."),
        ("Incorrect API key provided: sk-ab*****wxyz.", "Incorrect API key provided: …"),
        ("Rate limit reached in organization org-Abc on tokens", "Rate limit reached in organization … on tokens"),
        ("see request req_011CQ2 and 8f3a9bc04d5e6f70", "see request … and …"),
        ("The model `a-model-3-5-large-20241022` is gone", "The model `a-model-3-5-large-20241022` is gone"),
        ("This is a\n chat model", "This is a chat model"),
        ("x" * 400, "x" * 300 + "…"),
    ],
)
def test_a_servers_words_are_shown_without_ids(said: str, shown: str) -> None:
    """Servers echo keys, half-hidden ones too, and name accounts and requests; a model's name may stay."""
    assert Scrubber([KEY]).said(said, "a-model-3-5-large-20241022") == shown

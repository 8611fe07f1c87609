"""What looks like a key is found wherever it stands, and what only resembles one is left in peace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactrepro.cassettes.model import Cassette
from reactrepro.cassettes.read import parse_cassette
from reactrepro.cassettes.secrets import Scan, secret_in_address, secrets_in_bytes
from reactrepro.cassettes.write import cassette_bytes, seal
from reactrepro.errors import SecretFound

from ..world import checkout
from .conftest import chat

BODY = "Ab3dE5gh1Jk7Mn9pQr2tUv4xYz6B8c0D1F3H5"
KEYS = {
    "an API key": [f"sk-{BODY}", f"sk-proj-{BODY}", f"sk-ant-api03-{BODY}-AA", f"sk-or-v1-{BODY}"],
    "an AWS key id": ["AKIA" + "Q7RJ2LM4WZ8TKV3N", "ASIA" + "Q7RJ2LM4WZ8TKV3N"],
    "a Google key": ["AIza" + BODY[:35]],
    "a GitHub token": [f"ghp_{BODY}", f"github_pat_{BODY}"],
    "a GitLab token": [f"glpat-{BODY[:20]}"],
    "a Hugging Face token": [f"hf_{BODY}"],
    "a Groq key": [f"gsk_{BODY}{BODY}"],
    "an xAI key": [f"xai-{BODY}{BODY}"],
    "a Perplexity key": [f"pplx-{BODY}{BODY}"],
    "a Replicate token": [f"r8_{BODY}"],
    "a Slack token": [f"xoxb-1234567890-{BODY}"],
    "a JSON web token": [f"eyJ{BODY}.eyJ{BODY}.{BODY}"],
    "a bearer token": [f"Bearer {BODY}"],
    "a private key": ["-----BEGIN RSA PRIVATE KEY-----"],
}
INNOCENT = [
    "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "AKIAIOSFODNN7EXAMPLE",
    "sk-your-key-goes-here-1234567890",
    f"task-{BODY}",
    "risk-averse-strategies-for-2024-and-beyond",
    "e52ba17b32d98144c4ee3f95f3cd5a2fec2016629219427f8aa9ddcfbdcc3fdf",
    "chatcmpl-000000000000000000000123",
    "bearer of the crown of the old kingdom",
    "123e4567-e89b-12d3-a456-426614174000",
]


@pytest.mark.parametrize(("name", "key"), [(name, key) for name, keys in KEYS.items() for key in keys])
@pytest.mark.parametrize("around", ["{}", "a line\n{}\n", '"{}"', "Observation 1: {}.", "one\\n{}\\ntwo", "key={}&x=1"])
def test_a_key_is_found_and_never_shown(name: str, key: str, around: str) -> None:
    """In text, in JSON, behind an escaped line's end; the report has its beginning, length and hash."""
    found = list(secrets_in_bytes(around.format(key).encode()))
    assert name in {one.name for one in found}
    assert not any(key in str(one) for one in found)
    assert list(secrets_in_bytes(around.format(key).encode(), {one.digest for one in found})) == []


@pytest.mark.parametrize("text", INNOCENT)
def test_what_resembles_a_key_is_none(text: str) -> None:
    """Placeholders, words, hashes and ids."""
    assert list(secrets_in_bytes(f"a {text} b".encode())) == []


def test_no_committed_file_has_one() -> None:
    """Recordings, pages and their texts: nothing in them looks like a key."""
    files = [path for name in ("cassettes", "wiki_snapshot") for path in (checkout() / name).rglob("*.*")]
    scan = Scan()
    assert len(files) > 100
    assert [path for path in files if scan(path.read_bytes())] == []


@given(
    st.lists(st.lists(st.sampled_from(["a", "b", f"x sk-{BODY}", f"hf_{BODY}", "sk-", BODY]), max_size=5), max_size=5)
)
def test_a_scan_of_many_files_finds_what_one_of_each_finds(files: list[list[str]]) -> None:
    """Lines that were seen before are passed over only where nothing was found in them."""
    scan = Scan()
    for lines in files:
        data = "\n".join(lines).encode()
        assert scan(data) == tuple(secrets_in_bytes(data))


@pytest.mark.parametrize(
    ("address", "has"),
    [
        ("https://api.example.org/v1/chat/completions", None),
        ("https://x.invalid/v1/chat/completions?api-version=2024-10-21", None),
        ("https://x.invalid/v1/messages?key=abcdef1", "the parameter 'key'"),
        ("https://x.invalid/v1/messages?a=1&X-Api-Key=abcdef1", "the parameter 'X-Api-Key'"),
        ("https://x.invalid/?sig=q1w2e3", "the parameter 'sig'"),
        ("https://x.invalid/?key=", None),
        ("https://ada:pw@x.invalid/v1", "a user's name before the host"),
        ("https://x.invalid/wiki?search=key+of+C", None),
        ("http://[", None),
    ],
)
def test_an_address_can_hold_one(address: str, has: str | None) -> None:
    """Before the host, or as a parameter with a telling name."""
    assert secret_in_address(address) == has


@pytest.mark.case("B25")
@pytest.mark.parametrize(
    "part", ["https://u:p@h.invalid/v1/chat/completions", "https://h.invalid/v1/messages?token=q1"]
)
def test_no_reader_takes_a_recording_with_one_in_an_address(make: Callable[..., Cassette], part: str) -> None:
    """A recording that holds a secret is refused by whoever reads it, like one with an account's header."""
    whole = make(chat("one", "two"))
    leaky = seal(whole.meta, (replace(whole.interactions[0], uri=part),))
    with pytest.raises(SecretFound, match="address of interaction 1"):
        parse_cassette(cassette_bytes(leaky), None)


@pytest.mark.case("B25")
def test_no_reader_takes_one_with_an_accounts_header(make: Callable[..., Cassette]) -> None:
    """Whatever its case: the class is `secret`, the exit code 5."""
    whole = make(chat("one", "two"))
    headers = {"OpenAI-Organization": ["org-1"]}
    leaky = seal(whole.meta, (replace(whole.interactions[0], response_headers=headers),))
    with pytest.raises(SecretFound) as caught:
        parse_cassette(cassette_bytes(leaky), None)
    assert (caught.value.kind, caught.value.exit_code) == ("secret", 5)
    assert "org-1" not in str(caught.value)

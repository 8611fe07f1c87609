"""The files are vcrpy's own format: stock vcrpy and pytest-recording load them unmodified."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from reactrepro.cassettes.runs import Run

from ..world import checkout

RECORDINGS = [
    (run, key)
    for file in sorted((checkout() / "cassettes").rglob("run.json"))
    for run in [Run.at(file.parent)]
    if not run.config.parts
    for key in run.keys()[:1]
]
"""The first episode of every committed run that has exchanges of its own."""

NAMES = [f"{run.label}/{key}" for run, key in RECORDINGS]


@pytest.mark.parametrize(("run", "key"), RECORDINGS, ids=NAMES)
def test_stock_vcrpy_and_the_openai_sdk_replay_a_committed_recording(run: Run, key: str) -> None:
    """`vcr.use_cassette` answers the real SDK from our file, matching on method, URI and body, sockets blocked."""
    import openai
    import vcr

    if run.config.settings.api == "messages":
        pytest.skip("another SDK's API")
    cassette = run.read(key)
    with vcr.use_cassette(str(run.path(key)), record_mode="none", match_on=("method", "uri", "body")) as played:
        for interaction in cassette.interactions:
            body = interaction.request_json
            endpoint = "/chat/completions" if "messages" in body else "/completions"
            base = interaction.uri.removesuffix(endpoint)
            client = openai.OpenAI(api_key="none", base_url=base, max_retries=0)
            answers = json.loads(interaction.response)["choices"]
            if "messages" in body:
                choices = client.chat.completions.create(**body).choices
                assert [choice.message.content for choice in choices] == [a["message"]["content"] for a in answers]
            else:
                assert [c.text for c in client.completions.create(**body).choices] == [a["text"] for a in answers]
        assert played.all_played
    assert run.read(key) == cassette


@pytest.mark.parametrize(("run", "key"), RECORDINGS, ids=NAMES)
def test_stock_vcrpy_and_requests_replay_a_committed_recording(run: Run, key: str) -> None:
    """The same through requests: the characters of each reply, as they came."""
    import requests
    import vcr

    cassette = run.read(key)
    with vcr.use_cassette(str(run.path(key)), record_mode="none", match_on=("method", "uri", "body")):
        for interaction in cassette.interactions:
            answer = requests.post(interaction.uri, json=interaction.request_json, timeout=5)
            assert answer.content.decode("utf-8") == interaction.response


def test_stock_vcrpy_reads_the_files_under_an_ascii_locale(offline: dict[str, str]) -> None:
    """Pure ASCII, so the locale's encoding cannot make a recording load as nothing."""
    import subprocess
    import sys

    run, key = RECORDINGS[0]
    code = (
        "import sys, vcr.serialize as s; from vcr.persisters.filesystem import FilesystemPersister as P;"
        "from vcr.serializers import yamlserializer as y; print(len(P.load_cassette(sys.argv[1], y)[0]))"
    )
    variables = {"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, "-W", "ignore", "-c", code, str(run.path(key))]
    done = subprocess.run(command, env=offline | variables, capture_output=True, text=True, check=True)
    assert int(done.stdout) == len(run.read(key).interactions)


def test_pytest_recording_replays_a_committed_recording(pytester: pytest.Pytester) -> None:
    """A test marked `vcr` under pytest-recording, with its network blocked, is answered from our file."""
    run, key = RECORDINGS[0]
    (pytester.path / "cassettes").mkdir()
    shutil.copy(run.path(key), pytester.path / "cassettes" / "test_it.yaml")
    first = run.read(key).interactions[0]
    Path(pytester.path / "body.json").write_text(first.body, encoding="utf-8")
    pytester.makepyfile(
        f"""
        import json, pathlib, pytest, requests

        @pytest.fixture(scope="module")
        def vcr_cassette_dir():
            return "cassettes"

        @pytest.mark.vcr
        @pytest.mark.block_network
        def test_it(vcr):
            body = json.loads(pathlib.Path("body.json").read_text("utf-8"))
            answer = requests.post({first.uri!r}, json=body, timeout=5)
            assert "choices" in answer.json() or "content" in answer.json()
            assert vcr.play_count == 1
        """
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "--record-mode=none")
    result.assert_outcomes(passed=1)

"""Refusals: what an error's body means, in the words of many servers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactrepro.errors import ParameterRefused, Unanswered
from reactrepro.exchanges.refusals import ProviderError, refusal
from reactrepro.exchanges.scrub import Scrubber

ASKED = {"model": "m", "max_tokens": 5, "temperature": 0, "stop": ["x"], "n": 3}


def read(status: int, body: Any) -> ProviderError | ParameterRefused | Unanswered:
    """What the SDK's error means."""
    return refusal(SimpleNamespace(status_code=status, body=body), Scrubber([]), asked=ASKED, key_hint="Another key.")


@pytest.mark.case("B33")
@pytest.mark.parametrize(
    ("status", "body", "finish"),
    [
        (400, {"code": "content_filter", "message": "no"}, "content_filter"),
        (400, {"code": None, "innererror": {"code": "ResponsibleAIPolicyViolation"}}, "content_filter"),
        (403, {"code": 403, "message": "Your input was flagged by the provider's moderation."}, "content_filter"),
        (400, {"message": "Content Exists Risk", "type": "invalid_request_error"}, "content_filter"),
        (400, {"code": "SensitiveContentDetected.SevereViolation", "message": "no"}, "content_filter"),
        (400, {"code": "context_length_exceeded", "message": "no"}, "model_context_window_exceeded"),
        (
            400,
            {"type": "error", "error": {"message": "input length and `max_tokens` exceed context limit: 9 + 2 > 10"}},
            "model_context_window_exceeded",
        ),
        (
            400,
            {"code": 400, "type": "exceed_context_size_error", "message": "the request exceeds the context size"},
            "model_context_window_exceeded",
        ),
        (413, {"message": "prompt is too long"}, "model_context_window_exceeded"),
    ],
)
def test_some_requests_are_never_answered(status: int, body: Any, finish: str) -> None:
    """A filter or a full context, whatever the status; not the key, not a parameter."""
    found = read(status, body)
    assert isinstance(found, Unanswered)
    assert (found.finish, found.status) == (finish, status)


@pytest.mark.parametrize(
    ("body", "parameter"),
    [
        ({"message": "no", "param": "temperature"}, "temperature"),
        ({"message": "no", "param": "body.stop"}, "stop"),
        ({"message": "`n` > 1 and 'stop' are not supported"}, "n"),
        ({"message": "Unknown field max_tokens"}, "max_tokens"),
        ({"message": "This model does not support stop_sequences"}, "stop"),
        ({"detail": [{"loc": ["body", "n"], "msg": "Extra inputs are not permitted"}, "odd"]}, "n"),
    ],
)
def test_a_parameter_is_found_in_many_forms(body: Any, parameter: str) -> None:
    """By its field, its quotes, its name, the place where a schema was broken."""
    found = read(400, body)
    assert isinstance(found, ParameterRefused)
    assert found.parameter == parameter


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, {"message": "Do stop it."}),
        (400, {"message": "no", "param": "tools"}),
        (400, {"message": "the nth value"}),
        (404, {"message": "'stop' is not supported"}),
        (400, "stopped"),
        (400, None),
        (400, {"detail": "no"}),
    ],
)
def test_other_refusals_are_about_no_parameter(status: int, body: Any) -> None:
    """A word that happens to be one's name is not enough."""
    assert isinstance(read(status, body), ProviderError)


junk = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=6)
    | st.sampled_from(["stop", "'n'", "content_filter"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["error", "message", "detail", "loc", "msg", "param", "code", "type", "innererror"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


@given(st.sampled_from([400, 401, 404, 413, 422, 451]), junk)
def test_no_error_body_crashes_anything(status: int, body: Any) -> None:
    """Whatever JSON came with it, a refusal is one of ours."""
    assert isinstance(read(status, body), ProviderError | ParameterRefused | Unanswered)

"""Wire APIs, each as two pure functions: a request body out of a prompt, a completion out of a response body."""

from __future__ import annotations

from ..domain import Backend
from ..registry import Registry

BACKENDS: Registry[type[Backend]] = Registry(
    "backend",
    {
        "chat": "reactrepro.backends.openai_chat:OpenAIChat",
        "completions": "reactrepro.backends.openai_completions:OpenAICompletions",
        "messages": "reactrepro.backends.anthropic_messages:AnthropicMessages",
    },
)

"""Serves one GGUF file with llama.cpp's own HTTP server. Run by `live.llama` with the Python that has xllamacpp."""

from __future__ import annotations

import argparse
import os
import signal
from importlib import import_module

JOIN_TEXTS = "{% for message in messages %}{{ message.content }}{% endfor %}"
"""For a base model: a chat call continues the messages' texts as they are, without any marks of turns."""


def main() -> None:
    """Serve until told to end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("weights")
    parser.add_argument("--alias", required=True, help="the model's name in requests and replies")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--context", type=int, required=True, help="tokens of context, shared by the slots")
    parser.add_argument("--slots", type=int, required=True, help="sequences at once; `n` may be at most this")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--join-texts", action="store_true", help="use a chat template that only joins the texts")
    options = parser.parse_args()

    # Waited for below, and blocked before the library starts its threads, which inherit that.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    xllamacpp = import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = options.weights
    params.model_alias = {options.alias}
    params.hostnames = ["127.0.0.1"]
    params.port = options.port
    params.n_ctx = options.context
    params.kv_unified = True
    params.n_parallel = options.slots
    params.cpuparams.n_threads = options.threads
    params.offline = True  # never fetch a model from anywhere
    params.ui = False
    params.warmup = True
    if options.join_texts:
        params.use_jinja = True
        params.chat_template = JOIN_TEXTS
    server = xllamacpp.Server(params)
    print("listening on", server.listening_address, flush=True)
    signal.sigwait({signal.SIGTERM, signal.SIGINT})
    print("stopping", flush=True)
    os._exit(0)  # the library's threads are in no hurry


if __name__ == "__main__":
    main()

"""No secret gets into any byte that is written or printed, however it was passed and whoever echoes it."""

from __future__ import annotations

from ..relay import Relay
from . import on_disk
from .apis import APIS
from .stage import MARK, MODEL, Stage, require


def check(stage: Stage) -> str:
    """Record through each API from a server that echoes secrets; then look through all that the checks have written."""
    key = stage.canaries["LOCAL_API_KEY"]
    echoes = {"Set-Cookie": f"session={MARK}", "X-Request-Id": f"req-{MARK}", "OpenAI-Organization": MARK}
    for api in APIS:
        with Relay(stage.servers.url(MODEL), headers=echoes) as relay:
            address = relay.base_url.removesuffix("/v1" if api == "messages" else "")
            done = stage.recording(f"leaks-{api}", "0", "--api", api, llm=address, steps=1).record()
            require(done.code == 0, f"{api}: exit code {done.code}; {done.said}")
            sent = {value.removeprefix("Bearer ") for value in relay.keys}
            require(sent == {key}, f"{api}: the server was sent {len(sent)} keys, and not just the one of its service")
    files, size = on_disk.size(stage.folder)
    found = on_disk.holding(stage.folder, MARK)
    require(not found, f"a secret stands in {found}")
    return f"{len(stage.canaries)} secrets and 3 echoes; none in {files} files, {size / 1e6:.1f} MB"

"""A warm hit in DSPy's disk cache, per call: the goal beyond. Needs dspy, which nothing else here does."""

from __future__ import annotations

import importlib
import os
from pathlib import Path

from clock import Side
from recordings import Workload, prompt_of


def hits(workload: Workload, folder: Path, calls: int) -> Side:
    """Return what asks `dspy.LM` for as many prompts of *workload* as *calls*, all of them in its disk cache.

    The memory cache is off; the disk cache is filled in *folder*, with replies made up on the spot.
    """
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # or the import asks the network for prices
    os.environ["DSPY_CACHEDIR"] = str(folder)
    dspy = importlib.import_module("dspy")
    dspy.configure_cache(enable_disk_cache=True, enable_memory_cache=False, disk_cache_dir=str(folder))
    reply = " I know it.\nAction 1: Finish[yes]"
    model = dspy.LM("openai/scripted", api_key="none", temperature=0, max_tokens=512, mock_response=reply)
    prompts = [prompt_of(one) for cassette in workload.cassettes() for one in cassette.interactions][:calls]
    for prompt in prompts:
        model(prompt)

    def hit() -> int:
        for prompt in prompts:
            if model(prompt) != [reply]:
                raise AssertionError("DSPy gave another reply")
        return len(prompts)

    return hit

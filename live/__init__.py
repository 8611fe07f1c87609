"""Two real servers on loopback to record from: llama.cpp with small models, and a MediaWiki with the world of `pelm`.

For development only, no part of the wheel. `python -m live.servers start`, `stop`, `status`; see docs/pelm.md. Standard
library only.
"""

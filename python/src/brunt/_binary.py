"""Finds the program `brunt`."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import sysconfig
from pathlib import Path
from typing import Iterator

from ._errors import BinaryNotFoundError

VARIABLE = "BRUNT_BIN"


def find_binary() -> str:
    """Returns the path of the program `brunt`.

    The first one of: the environment variable BRUNT_BIN, `bin/brunt` in this package, the file that
    the wheel of this package installed, and `brunt` in PATH.
    """
    path = os.environ.get(VARIABLE)
    if path:
        if _is_executable(path):
            return os.path.abspath(path)
        raise BinaryNotFoundError(
            f"{VARIABLE} is `{path}`, which is not an executable file; "
            f"write the path of brunt, such as {VARIABLE}=/usr/bin/brunt"
        )
    for candidate in _installed():
        if _is_executable(candidate):
            return str(candidate)
    found = shutil.which("brunt")
    if found:
        return os.path.abspath(found)
    raise BinaryNotFoundError(
        "the program `brunt` was not found: it is neither in this package nor in PATH; "
        f"write: pip install --force-reinstall brunt, or set {VARIABLE}=/path/of/brunt"
    )


def _installed() -> Iterator[Path]:
    """Yields the places of the program that belongs to this package."""
    package = Path(__file__).resolve().parent
    yield package / "bin" / "brunt"
    # The list of installed files is right for virtual environments, --user and --prefix alike.
    try:
        files = importlib.metadata.files("brunt") or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.name == "brunt" and file.parent.name == "bin":
            yield Path(os.path.normpath(str(file.locate())))
    # `pip install --target DIR` writes DIR/bin/brunt, and does not list it.
    if files:
        yield package.parent / "bin" / "brunt"
        yield Path(sysconfig.get_path("scripts")) / "brunt"


def _is_executable(path: os.PathLike[str] | str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)

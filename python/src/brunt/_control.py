"""Sends orders to the control socket of an active run (docs/studio.md, Active runs)."""

from __future__ import annotations

import os
import re
import socket
import struct
from pathlib import Path
from typing import Iterator, Optional, Union

from ._errors import BruntError

_MAX_SECONDS = 5.0
_MAX_MARK_BYTES = 1000
_RUN_ID = re.compile(r"[a-z0-9]+")


def store_directory(store: Union[str, os.PathLike[str], None] = None) -> Path:
    """Returns the directory of stored runs that brunt uses (docs/store.md)."""
    if store:
        return Path(store)
    if os.environ.get("BRUNT_STORE"):
        return Path(os.environ["BRUNT_STORE"])
    data = os.environ.get("XDG_DATA_HOME")
    base = Path(data) if data and os.path.isabs(data) else Path.home() / ".local" / "share"
    return base / "brunt"


def run_of_process(store: Path, pid: int) -> Optional[str]:
    """Returns the id of the run that a process performs now, None if it performs none."""
    for run_id in _active_runs(store):
        try:
            with _connected(store, run_id) as connection:
                # For the side that connects, these are the credentials of the process that listens.
                peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        except OSError:
            continue
        if struct.unpack("3i", peer)[0] == pid:
            return run_id
    return None


def send(store: Path, run_id: str, order: str) -> None:
    """Sends an order, `stop` or `mark TEXT`, to an active run."""
    try:
        with _connected(store, run_id) as connection:
            connection.sendall(f"{order}\n".encode())
            reply = connection.makefile("r", encoding="utf-8", errors="replace").readline().strip()
    except OSError:
        raise BruntError(f"{run_id} is not an active run of {store}", id=run_id) from None
    if reply != "ok":
        raise BruntError(reply or f"{run_id} ended before it answered", id=run_id)


def mark_order(text: str) -> str:
    """Returns the order that marks this instant with a text."""
    line = " ".join(text.split())
    if not line:
        raise ValueError("a mark needs a text, such as `deployed 1.2`")
    if len(line.encode()) > _MAX_MARK_BYTES:
        raise ValueError(f"a mark has at most {_MAX_MARK_BYTES} bytes")
    return f"mark {line}"


def _active_runs(store: Path) -> Iterator[str]:
    try:
        names = os.listdir(store / "control")
    except OSError:
        return
    yield from (name for name in names if name != "studio")


def _connected(store: Path, run_id: str) -> socket.socket:
    if not _RUN_ID.fullmatch(run_id):
        raise BruntError(f"`{run_id}` is not an id of a run; list them with brunt.runs()")
    folder = os.open(store / "control", os.O_RDONLY | os.O_DIRECTORY)
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(_MAX_SECONDS)
        # The path of a socket has at most 107 bytes, and the store's may be longer.
        connection.connect(f"/proc/self/fd/{folder}/{run_id}")
    except BaseException:
        connection.close()
        raise
    finally:
        os.close(folder)
    return connection

"""Reads stored runs and experiments."""

from __future__ import annotations

import builtins
import json
import os
from typing import List, Mapping, Optional, Union

from . import _control
from ._errors import BruntError
from ._options import arguments
from ._process import Target, call, plan_path
from ._record import Record
from ._results import Result, Run, Study, parse, read

Source = Union[str, "os.PathLike[str]"]


class StoredItem(Record):
    """A stored run or experiment, with the keys of `brunt runs --json`."""

    #: Short id.
    id: str
    #: `run` or `experiment`.
    kind: str
    #: `whole`; `running`; `interrupted`; `torn` if brunt was killed.
    progress: str
    #: Id of the experiment that a run belongs to.
    experiment: Optional[str]
    #: Start in seconds since 1970-01-01 UTC.
    started_unix_seconds: float
    #: URL, or name of the experiment.
    what: str
    tags: List[str]
    note: Optional[str]
    pinned: bool

    def __init__(
        self, data: Mapping[str, object], store: Union[str, os.PathLike[str], None] = None
    ) -> None:
        super().__init__(data)
        self._store = store

    def open(self) -> Union[Run, Study]:
        """Returns the result. That of an active run has its figures up to now."""
        result = open(self["id"], store=self._store)
        assert isinstance(result, (Run, Study))
        return result

    def stop(self) -> None:
        """Stops this run as Ctrl-C does, if it is active."""
        _control.send(_control.store_directory(self._store), self["id"], "stop")

    def mark(self, text: str) -> None:
        """Marks this instant of this run with a text, if it is active."""
        order = _control.mark_order(text)
        _control.send(_control.store_directory(self._store), self["id"], order)


def runs(
    store: Union[str, os.PathLike[str], None] = None,
    *,
    experiment: Optional[str] = None,
    all: bool = False,
) -> List[StoredItem]:
    """Returns the stored runs and experiments, the latest last: `brunt runs`.

    `experiment` selects the runs of one experiment. With `all`, the list also has the runs of all
    experiments.
    """
    line = ["runs", "list", "--json", *arguments({"store": store, "all": all})]
    text = call([*line, "--", experiment] if experiment else line)
    try:
        items = json.loads(text)
    except ValueError as error:
        raise BruntError(f"the list of runs is not JSON: {error}") from None
    return [StoredItem(item, store) for item in items]


def open(*sources: Source, store: Union[str, os.PathLike[str], None] = None) -> Result:
    """Returns a stored run or experiment, or the result in a file: `brunt report`.

    A source is an id or its beginning, a tag, the name of an experiment, `last`, or the path of an
    event log or of a JSON report. Several runs give a `Study` with one trial each.
    """
    if not sources:
        raise TypeError("open needs an id, or the path of a file")
    names = [os.fspath(source) for source in sources]
    if len(names) == 1 and os.path.isfile(names[0]) and _is_json(names[0]):
        return read(names[0])
    line = ["report", "--output=json", *arguments({"store": store}), "--", *names]
    is_file = os.path.isfile(names[0])
    return parse(call(line), names[0], id=None if is_file else _id(names, store))


def report(
    *sources: Source, format: str = "text", store: Union[str, os.PathLike[str], None] = None
) -> str:
    """Returns the report of stored runs or of an event log as text: `brunt report`.

    `format` is `text`, `markdown`, `csv`, `tsv`, `junit`, `html` or `json`.
    """
    if not sources:
        raise TypeError("report needs an id, or the path of an event log")
    if not format.isalpha():
        raise ValueError(f"format `{format}`: expected one such as `markdown`")
    names = [os.fspath(source) for source in sources]
    return call(["report", f"--output={format}", *arguments({"store": store}), "--", *names])


def check_plan(plan: Target, set: Optional[Mapping[str, object]] = None) -> str:
    """Checks a plan without starting anything, and returns a summary: `brunt plan check`.

    `set` has other values for variables and keys of the plan. Raises `BruntError` with line and
    column if the plan has an error.
    """
    with plan_path(plan) as path:
        summary = call(["plan", "check", *arguments({"set": set}), "--", path]).strip()
    return summary.replace(path, "plan.yaml") if isinstance(plan, Mapping) else summary


def version() -> str:
    """Returns the version of the program, such as `0.1.0`."""
    return call(["--version"]).split()[-1]


def _is_json(path: str) -> bool:
    with builtins.open(path, "rb") as file:
        return file.read(64).lstrip()[:1] in (b"{", b"[")


def _id(names: List[str], store: Union[str, os.PathLike[str], None]) -> Optional[str]:
    """Returns the whole id of a stored run. Its JSON report does not contain it."""
    if len(names) != 1:
        return None
    name = names[0]
    if name == "last":
        items = runs(store)
        return items[-1]["id"] if items else None
    items = runs(store, all=True)
    tagged = [item["id"] for item in items if name in item["tags"]]
    found = tagged or [item["id"] for item in items if item["id"].startswith(name)]
    return found[0] if len(found) == 1 else None

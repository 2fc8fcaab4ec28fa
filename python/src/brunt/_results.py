"""Results: the JSON reports of brunt, with their names and units."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Type, Union

from ._errors import BruntError
from ._record import Record
from .documents import AnalysisDocument, ResultDocument, StudyDocument

#: Version of the JSON reports that this package reads.
DOCUMENT_VERSION = 1

# These have hundreds of values, and are the same for most runs in a table.
_NOT_IN_FIGURES = {"plan", "environment"}


class Run(ResultDocument):
    """Result of one run: its JSON Schema is that of `brunt schema result`."""

    def __init__(
        self,
        data: Mapping[str, Any],
        *,
        id: Optional[str] = None,
        exit_code: Optional[int] = None,
    ) -> None:
        super().__init__(data)
        #: Id in the store; None if the run is not stored, or was read from a file.
        self.id = id
        #: Exit code of the process (docs/exit-codes.md); None if the run was read from the store.
        self.exit_code = exit_code

    def rows(self, path: Optional[str] = None) -> List[Dict[str, Any]]:
        """Returns a list of this run as flat dictionaries; without `path`, its figures as one row.

        `path` is for example `series`, `labels`, `findings`, `objectives`,
        `response_time_intervals_seconds` or `verdict.evidence`. See `Record.rows`.
        """
        if path is not None:
            return super().rows(path)
        figures = {key: value for key, value in self._data.items() if key not in _NOT_IN_FIGURES}
        return [{"id": self.id, **row} for row in ResultDocument(figures).rows()]

    def __repr__(self) -> str:
        text = self["conclusion"] or self["error"] or "nothing was measured"
        return f"<Run {self.id or 'not stored'}: {text} Verdict: {self['verdict'].state}>"


class Study(StudyDocument):
    """Result of an experiment: its JSON Schema is that of `brunt schema study`."""

    def __init__(self, data: Mapping[str, Any], *, exit_code: Optional[int] = None) -> None:
        super().__init__(data)
        #: Exit code of the process (docs/exit-codes.md); None if it was read from the store.
        self.exit_code = exit_code

    def rows(self, path: Optional[str] = "trials") -> List[Dict[str, Any]]:
        """Returns a list of this experiment as flat dictionaries; without `path`, its trials.

        `path` is for example `trials.labels`, `analysis.contenders.curve`,
        `analysis.contenders.limits`, `analysis.comparison.pairs.measures` or
        `analysis.answers.trials`. See `Record.rows`.
        """
        return super().rows(path or "trials")

    def __repr__(self) -> str:
        conclusions = [conclusion.sentence for conclusion in self["analysis"].conclusions]
        text = " ".join(conclusions) or "no conclusion"
        return f"<Study {self['id'] or 'not stored'} ({self['name']}): {text}>"


class Analysis(AnalysisDocument):
    """Analysis of results of other tools: its JSON Schema is that of `brunt schema analysis`."""


Result = Union[Run, Study, Analysis]


def parse(
    text: Union[str, bytes],
    source: str,
    *,
    id: Optional[str] = None,
    exit_code: Optional[int] = None,
) -> Result:
    """Returns the result in a JSON document. `source` is its name in messages."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BruntError(f"{source} is not a JSON report of brunt: {error}") from None
    if not isinstance(data, dict) or "version" not in data:
        raise BruntError(
            f"{source} is not a JSON report of brunt: it has no `version`; "
            "write one with: brunt report ID -o json=FILE"
        )
    if data["version"] != DOCUMENT_VERSION:
        raise BruntError(
            f"{source} has version {data['version']!r} of the JSON report, and this package reads "
            f"version {DOCUMENT_VERSION}; write: pip install --upgrade brunt"
        )
    missing = _missing(ResultDocument, data)
    if not missing:
        return Run(data, id=id, exit_code=exit_code)
    if not _missing(StudyDocument, data):
        return Study(data, exit_code=exit_code)
    if not _missing(AnalysisDocument, data):
        return Analysis(data)
    raise BruntError(f"{source} is not a JSON report of brunt: `{missing[0]}` is missing")


def read(path: Union[str, os.PathLike[str]]) -> Result:
    """Returns the result in a JSON file."""
    try:
        return parse(Path(path).read_bytes(), str(path))
    except OSError as error:
        raise BruntError(f"cannot read {path}: {error.strerror}") from None


def _missing(kind: Type[Record], data: Mapping[str, Any]) -> List[str]:
    return [name for name in kind.__annotations__ if name not in {*kind._defaults, *data}]

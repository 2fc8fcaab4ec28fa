"""Reads an object of a JSON document by attributes, and its lists as flat rows."""

from __future__ import annotations

import copy
import difflib
from collections.abc import Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Dict,
    Iterator,
    List,
    Optional,
    Tuple,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

if TYPE_CHECKING:
    import pandas

# Plain values of the entries that contain a row, outermost first, each with the name of its list.
_Parents = List[Tuple[str, Dict[str, Any]]]
_Entry = Tuple[_Parents, Dict[str, Any]]

# A histogram is one long text; `Times.percentile` reads it.
_NOT_IN_ROWS = {"histogram", "histogram_unit"}


class Record(Mapping[str, Any]):
    """An object of a JSON document, with its keys as attributes and as items.

    `record.p99` and `record["p99"]` are the same value. Objects in it are records, lists are lists.
    A key that has the name of a method (`keys`, `items`, `values`, `get`, `rows`) is an item only.
    """

    # Values of keys that a document may leave out.
    _defaults: ClassVar[Dict[str, Any]] = {}

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data

    def __getattr__(self, name: str) -> Any:
        # copy and pickle look up attributes before `_data` is set.
        if name.startswith("__") or name == "_data":
            raise AttributeError(name)
        try:
            value = self[name]
        except KeyError:
            close = difflib.get_close_matches(name, self._data, n=1)
            hint = f"; write `{close[0]}`" if close else ""
            kind = type(self).__name__
            raise AttributeError(f"`{name}` is not a key of {kind}{hint}") from None
        # The next access does not call `__getattr__`.
        self.__dict__[name] = value
        return value

    def __getitem__(self, name: str) -> Any:
        if name in self._data:
            return _wrap(self._data[name], _hints(type(self)).get(name))
        if name in self._defaults:
            return copy.copy(self._defaults[name])
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __dir__(self) -> List[str]:
        return sorted({*super().__dir__(), *self._data})

    def __repr__(self) -> str:
        shown = ", ".join(f"{key}={_short(value)}" for key, value in list(self._data.items())[:6])
        more = ", …" if len(self._data) > 6 else ""
        return f"{type(self).__name__}({shown}{more})"

    def to_dict(self) -> Dict[str, Any]:
        """Returns a copy of the JSON object."""
        return copy.deepcopy(dict(self._data))

    def rows(self, path: Optional[str] = None) -> List[Dict[str, Any]]:
        """Returns a list of this record as flat dictionaries, one for each entry.

        `path` names the list by its keys: `"series"`, `"labels"`, `"analysis.contenders.curve"`. If
        it leads through another list, each row also has the plain values of that list's entry.
        Without `path`, the only row is the record itself.

        The keys of nested objects are joined by dots: `response_time_seconds.p99`. Rows contain no
        lists and no histograms.
        """
        if path is None:
            return [_flat(self._data)]
        rows = [_joined(parents, entry) for parents, entry in self._entries(path)]
        # All rows have the same columns: a value that is null in one row is an object in another.
        columns = dict.fromkeys(column for row in rows for column in row)
        empty = {column for column in columns if any(c.startswith(column + ".") for c in columns)}
        return [{c: row.get(c) for c in columns if c not in empty} for row in rows]

    def to_frame(self, path: Optional[str] = None) -> pandas.DataFrame:
        """Returns `rows(path)` as a DataFrame of pandas."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_frame needs pandas; write: pip install pandas") from error
        return pandas.DataFrame(self.rows(path))

    def _entries(self, path: str) -> Iterator[_Entry]:
        """Yields each entry of a list as a flat row, with the plain values of the entries above."""
        level: List[Any] = [([], self._data, type(self))]
        keys = path.split(".")
        for depth, key in enumerate(keys):
            below: List[Any] = []
            for parents, data, kind in level:
                if not isinstance(data, Mapping) or (key not in data and key not in kind._defaults):
                    raise KeyError(f"`{'.'.join(keys[: depth + 1])}` is not in this document")
                value = data.get(key, kind._defaults.get(key))
                inner = _record_class(_hints(kind).get(key))
                if not isinstance(value, list):
                    below += [(parents, value, inner)] if value is not None else []
                    continue
                for entry in value:
                    is_last = depth == len(keys) - 1
                    chain = parents if is_last else [*parents, (key, _plain(entry))]
                    below.append((chain, entry, inner))
            level = below
        for parents, data, _ in level:
            yield parents, _flat(data) if isinstance(data, Mapping) else {keys[-1]: data}


def _joined(parents: _Parents, row: Dict[str, Any]) -> Dict[str, Any]:
    """Returns a row with the values of its parents, left of its own.

    If a name is used twice, the parent's column has the name of the parent's list, too:
    `pairs.ours`.
    """
    columns: Dict[str, Any] = {}
    for number, (name, values) in enumerate(parents):
        inner = [row, *(other for _, other in parents[number + 1 :])]
        for key, value in values.items():
            is_taken = any(key in other for other in inner)
            columns[f"{name}.{key}" if is_taken else key] = value
    return {**columns, **row}


def _plain(data: Any) -> Dict[str, Any]:
    if not isinstance(data, Mapping):
        return {}
    return {
        key: value
        for key, value in data.items()
        if isinstance(value, (str, int, float)) and key not in _NOT_IN_ROWS
    }


def _flat(data: Mapping[str, Any], prefix: str = "") -> Dict[str, Any]:
    row: Dict[str, Any] = {}
    for key, value in data.items():
        if isinstance(value, Mapping):
            row.update(_flat(value, f"{prefix}{key}."))
        elif not isinstance(value, list) and key not in _NOT_IN_ROWS:
            row[prefix + key] = value
    return row


def _short(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{…}" if value else "{}"
    if isinstance(value, list):
        return f"[{len(value)} entries]" if value else "[]"
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"


_hints_of_class: Dict[type, Dict[str, Any]] = {}


def _hints(kind: type) -> Dict[str, Any]:
    """Returns the types of the attributes of a class of records."""
    if kind not in _hints_of_class:
        _hints_of_class[kind] = get_type_hints(kind)
    return _hints_of_class[kind]


def _record_class(hint: Any) -> type:
    """Returns the class of records in an annotation such as `Optional[List[LabelRow]]`."""
    if isinstance(hint, type) and issubclass(hint, Record):
        return hint
    for inner in get_args(hint):
        found = _record_class(inner)
        if found is not Record:
            return found
    return Record


def _wrap(value: Any, hint: Any) -> Any:
    if isinstance(value, list):
        return [_wrap(entry, _element(hint)) for entry in value]
    if isinstance(value, Mapping):
        value_type = _map_values(hint)
        if value_type is not None:
            return {key: _wrap(entry, value_type) for key, entry in value.items()}
        return _record_class(hint)(value)
    return value


def _element(hint: Any) -> Any:
    return _argument(hint, list, 0)


def _map_values(hint: Any) -> Any:
    return _argument(hint, dict, 1)


def _argument(hint: Any, kind: type, index: int) -> Any:
    """Returns an argument of `List[…]` or `Dict[…]`, also within `Optional`."""
    if get_origin(hint) is kind:
        return get_args(hint)[index]
    if get_origin(hint) is Union:
        for choice in get_args(hint):
            found = _argument(choice, kind, index)
            if found is not None:
                return found
    return None

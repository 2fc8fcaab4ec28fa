"""Converts options to arguments of the program."""

from __future__ import annotations

import datetime
import decimal
import math
import os
import re
from typing import Any, Iterator, List, Mapping, Optional, Sequence, Union

#: Options as a mapping (`{"timeout": "5s", "insecure": True}`), or as arguments
#: (`["--timeout", "5s", "--insecure"]`).
Options = Union[Mapping[str, Any], Sequence[str]]

_LONG_NAME = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def arguments(options: Options) -> List[str]:
    """Returns options as arguments of the program.

    A key of a mapping is the long name of an option, with `-` or `_`. Its value is a text or a
    number; True for an option without a value; None or False to leave it out; a list for a
    repeatable option; a mapping for one that takes NAME=VALUE, such as `set`. For a time, it is a
    `timedelta`, or a number of seconds.
    """
    if isinstance(options, str):
        raise TypeError("options is a text; write a list of arguments, or a dict")
    if isinstance(options, Mapping):
        return [each for name, value in options.items() for each in _option(name, value)]
    return [_text(argument, "options") for argument in options]


def _option(name: str, value: Any) -> Iterator[str]:
    if not isinstance(name, str) or len(name) < 2 or not _LONG_NAME.fullmatch(name):
        raise ValueError(
            f"option {name!r}: not the long name of an option; write it as in `timeout`"
        )
    flag = "--" + name.replace("_", "-")
    if value is None or value is False:
        return
    if value is True:
        yield flag
    elif isinstance(value, Mapping):
        if flag == "--header":
            raise ValueError("option `header`: a dict of headers is the argument `headers=`")
        for key, each in value.items():
            yield f"{flag}={key}={_text(each, name)}"
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield f"{flag}={_text(each, name)}"
    else:
        # One argument, because a value may begin with a hyphen.
        yield f"{flag}={_text(value, name)}"


def _text(value: Any, name: str) -> str:
    """Returns a value as the text that the command line takes."""
    if isinstance(value, bool):
        text = "true" if value else "false"
    elif isinstance(value, (int, str)):
        text = str(value)
    elif isinstance(value, (float, decimal.Decimal)):
        text = _number(value, name)
    elif isinstance(value, datetime.timedelta):
        microseconds = value // datetime.timedelta(microseconds=1)
        text = _number(decimal.Decimal(microseconds) / 1_000_000, name) + "s"
    elif isinstance(value, os.PathLike):
        text = os.fspath(value)
    else:
        # numpy's numbers convert themselves.
        item = getattr(value, "item", None)
        if not callable(item):
            raise TypeError(f"option `{name}`: {type(value).__name__} is not a value of an option")
        return _text(item(), name)
    if not isinstance(text, str) or "\0" in text:
        raise ValueError(f"option `{name}`: a value is text without null characters")
    return text


def _number(value: Union[float, decimal.Decimal], name: str) -> str:
    if not math.isfinite(value):
        raise ValueError(f"option `{name}`: {value} is not a finite number")
    # brunt reads no exponents.
    text = format(decimal.Decimal(repr(value)) if isinstance(value, float) else value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def header_lines(headers: Mapping[str, Union[str, Sequence[str]]]) -> Optional[str]:
    """Returns headers as the content of a file for `--header-file`, None without headers."""
    lines = []
    for name, values in headers.items():
        if not _HEADER_NAME.fullmatch(name):
            raise ValueError(f"header {name!r}: not the name of a header")
        for value in values if isinstance(values, (list, tuple)) else [values]:
            # Messages never contain values: they may be secrets.
            if not isinstance(value, str) or any(c in value for c in "\r\n\0"):
                raise ValueError(f"header `{name}`: a value is text without line breaks")
            lines.append(f"{name}: {value}\n")
    return "".join(lines) or None

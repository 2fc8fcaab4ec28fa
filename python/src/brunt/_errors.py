"""Errors of the package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional, Union

if TYPE_CHECKING:
    from ._results import Analysis, Run, Study


class BruntError(Exception):
    """brunt failed, or a document is not a result of brunt.

    The text is brunt's own message. It contains no command line, because options may be secrets.
    """

    def __init__(
        self,
        message: str,
        exit_code: Optional[int] = None,
        *,
        id: Optional[str] = None,
        result: Optional[Union[Run, Study, Analysis]] = None,
    ) -> None:
        super().__init__(message)
        #: Message of brunt, without the prefix `brunt: `.
        self.message = message
        #: Exit code (docs/exit-codes.md); negative: number of the signal that killed brunt; None if
        #: no process ended.
        self.exit_code = exit_code
        #: Id of the stored run or experiment; None if nothing is known to be stored.
        self.id = id
        #: Result up to the failure; None if there is none.
        self.result = result


class BinaryNotFoundError(BruntError):
    """The program `brunt` was not found, or cannot be started."""


class RunInterrupted(KeyboardInterrupt):
    """Ctrl-C stopped the run. Its result up to then is stored and in `result`."""

    def __init__(
        self, id: Optional[str] = None, result: Optional[Union[Run, Study, Analysis]] = None
    ) -> None:
        saved = f"; saved as {id}" if id else ""
        super().__init__(f"the run was interrupted{saved}")
        #: Id of the stored run or experiment; None if it is not stored.
        self.id = id
        #: Result up to the interruption; None if nothing was measured.
        self.result = result

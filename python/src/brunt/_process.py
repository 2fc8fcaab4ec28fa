"""Starts the program, and returns its result."""

from __future__ import annotations

import atexit
import collections
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Deque, Iterator, List, Mapping, Optional, Sequence, Set, Tuple, Union

from . import _control
from ._binary import find_binary
from ._errors import BinaryNotFoundError, BruntError, RunInterrupted
from ._options import Options, arguments, header_lines
from ._results import Run, Study, parse

#: A URL (in a comparison also `NAME=URL`), the path of a plan file, or a plan as a dict.
Target = Union[str, "os.PathLike[str]", Mapping[str, Any]]
Headers = Mapping[str, Union[str, Sequence[str]]]

# docs/exit-codes.md: the run was measured. Other codes are errors.
_MEASURED = {0, 4, 5, 6, 8, 9, 130}
_INTERRUPTED = 130
_SAVED = re.compile(r"saved as ([a-z0-9]+);")
_PREFIX = "brunt: "
_USAGE_PREFIX = "error: "
_PREFIXES = (_PREFIX, _USAGE_PREFIX)
_MAX_LINES = 1000
# A grandchild, such as a server that a hook started, can hold the pipe open.
_MAX_PIPE_SECONDS = 2.0
_MAX_START_SECONDS = 5.0
_MAX_EXIT_SECONDS = 10.0


class RunningProcess:
    """A process of brunt that carries out a run or an experiment.

    Use it in a `with` statement, so that an exception stops the load. When Python exits, its
    processes are stopped as by Ctrl-C. If Python is killed, the process goes on until its end.
    """

    def __init__(
        self,
        process: subprocess.Popen[str],
        directory: tempfile.TemporaryDirectory[str],
        store: Optional[Path],
        progress: bool,
    ) -> None:
        self._process = process
        self._directory = directory
        self._store = store
        self._owner = os.getpid()
        self._lines: Deque[str] = collections.deque(maxlen=_MAX_LINES)
        self._saved_id: Optional[str] = None
        self._outcome: Optional[Tuple[Optional[Union[Run, Study]], Optional[BruntError]]] = None
        self._lock = threading.Lock()
        self._reader = threading.Thread(
            target=self._read_messages, args=(progress,), name="brunt-messages", daemon=True
        )
        self._reader.start()
        _active.add(self)

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """True until the process has ended."""
        return self._process.poll() is None

    @property
    def active_run_id(self) -> Optional[str]:
        """Id of the run that is active now; None between runs, and if nothing is stored.

        In an experiment, it is that of the current trial. `result.id` is the id of the experiment.
        """
        if self._store is None or not self.is_running:
            return None
        return _control.run_of_process(self._store, self.pid)

    def mark(self, text: str) -> None:
        """Marks this instant of the active run with a text, such as `deployed 1.2`.

        The mark is in `marks` of the result, and is a line in charts. A run that has just been
        started is awaited for 5 s.
        """
        order = _control.mark_order(text)
        deadline = time.monotonic() + _MAX_START_SECONDS
        while self.is_running and self._store is not None:
            run_id = self.active_run_id
            if run_id is not None:
                # The process listens shortly before the load begins.
                return _control.send(self._store, run_id, order)
            if time.monotonic() > deadline:
                break
            time.sleep(0.02)
        if self._store is None:
            raise BruntError("a mark needs a stored run; leave out `no_store`")
        raise BruntError("no run of this process is active")

    def wait(self, timeout: Optional[float] = None) -> Union[Run, Study]:
        """Waits for the end, and returns the result.

        Raises `BruntError` if nothing was measured, `TimeoutError` after `timeout` seconds (the run
        goes on), and `RunInterrupted` on Ctrl-C, which stops the run and keeps its result.
        """
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"brunt still runs after {timeout} s") from None
        except KeyboardInterrupt:
            result = self._interrupt()
            raise RunInterrupted(self._saved_id or getattr(result, "id", None), result) from None
        result, error = self._finish()
        if error is not None:
            raise error
        assert result is not None
        return result

    def stop(self, timeout: Optional[float] = None) -> Union[Run, Study]:
        """Stops the run as Ctrl-C does, and returns its result up to now (`interrupted` is true).

        A run that has already ended is returned as it is.
        """
        self._signal()
        return self.wait(timeout)

    def __enter__(self) -> RunningProcess:
        return self

    def __exit__(self, *_: object) -> None:
        if self.is_running:
            self._interrupt()
        else:
            self._finish()

    def __repr__(self) -> str:
        state = "active" if self.is_running else f"exit code {self._process.returncode}"
        return f"<RunningProcess {self.pid}: {state}>"

    def _signal(self) -> None:
        if self.is_running:
            self._process.send_signal(signal.SIGINT)

    def _interrupt(self) -> Optional[Union[Run, Study]]:
        """Stops the run. A second Ctrl-C ends it without a result."""
        self._signal()
        while True:
            try:
                self._process.wait()
                return self._finish()[0]
            except KeyboardInterrupt:
                self._signal()

    def _read_messages(self, progress: bool) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._lines.append(line.rstrip("\n"))
            if progress:
                # brunt would wait if nothing read its messages.
                with contextlib.suppress(OSError, ValueError):
                    sys.stderr.write(line)
                    sys.stderr.flush()

    def _finish(self) -> Tuple[Optional[Union[Run, Study]], Optional[BruntError]]:
        """Returns result and error of the process, which has ended."""
        with self._lock:
            if self._outcome is None:
                self._reader.join(_MAX_PIPE_SECONDS)
                self._outcome = self._read_outcome(self._process.returncode)
                if not self._reader.is_alive() and self._process.stderr is not None:
                    self._process.stderr.close()
                self._directory.cleanup()
                _active.discard(self)
            return self._outcome

    def _read_outcome(self, code: int) -> Tuple[Optional[Union[Run, Study]], Optional[BruntError]]:
        lines = list(self._lines)
        saved = [found.group(1) for found in map(_SAVED.match, lines) if found]
        self._saved_id = saved[-1] if saved else None
        result: Optional[Union[Run, Study]] = None
        reason = None
        try:
            text = Path(self._directory.name, "result.json").read_bytes()
            if text:
                document = parse(text, "the result", id=self._saved_id, exit_code=code)
                if isinstance(document, (Run, Study)):
                    result = document
        except OSError:
            pass
        except BruntError as error:
            reason = error.message
        if result is not None and code in _MEASURED:
            return result, None
        if isinstance(result, Run) and result.interrupted:
            reason = "nothing was measured: the run was interrupted before the first reply"
        # The path of a plan that was given as a dict.
        message = _message(lines, code, reason).replace(f"{self._directory.name}/", "")
        run_id = self._saved_id or getattr(result, "id", None)
        return result, BruntError(message, code, id=run_id, result=result)


def _message(lines: Sequence[str], code: int, reason: Optional[str]) -> str:
    """Returns brunt's own message. Its lines contain no secrets: brunt redacts them."""
    if code == -signal.SIGINT:
        # brunt did not handle signals yet.
        return "brunt was interrupted before the run began"
    if code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return f"brunt was killed ({name}); a stored run is complete up to then: see brunt.runs()"
    first = next((i for i, line in enumerate(lines) if line.startswith(_PREFIXES)), len(lines))
    paragraph: List[str] = []
    for line in lines[first:]:
        if not line and lines[first].startswith(_USAGE_PREFIX):
            # The usage of the command follows, with its name.
            break
        if not _SAVED.match(line) and not line.startswith(f"{_PREFIX}exit code "):
            paragraph.append(_without_prefix(line))
    if paragraph:
        return "\n".join(paragraph)
    if reason is not None:
        return reason
    if code == _INTERRUPTED:
        return "brunt was interrupted before it had a result"
    return f"brunt wrote no result (exit code {code})"


def _without_prefix(line: str) -> str:
    for prefix in _PREFIXES:
        if line.startswith(prefix):
            return line[len(prefix) :]
    return line


_active: Set[RunningProcess] = set()


@atexit.register
def _stop_all() -> None:
    """Stops the runs of this process, so that no load remains after it."""
    for running in list(_active):
        # A forked process has a copy of this set.
        if running._owner == os.getpid() and running.is_running:
            running._signal()
            try:
                running._process.wait(_MAX_EXIT_SECONDS)
            except subprocess.TimeoutExpired:
                running._process.kill()
            running._directory.cleanup()


def start(
    *targets: Target,
    command: str = "run",
    rate: Union[float, str, None] = None,
    connections: Union[int, str, None] = None,
    duration: Union[float, str, None] = None,
    headers: Optional[Headers] = None,
    options: Options = (),
    store: Union[str, os.PathLike[str], None] = None,
    progress: bool = False,
) -> RunningProcess:
    """Starts a run or an experiment, and returns its process.

    `command` is `run`, `sweep`, `find`, `compare` or `grpc`; the other arguments are those of
    `run`.
    """
    if command not in _COMMANDS:
        raise ValueError(f"command `{command}`: expected one of {', '.join(_COMMANDS)}")
    if not targets:
        raise TypeError("a target is missing: a URL, the path of a plan file, or a plan as a dict")
    main = {"rate": rate, "connections": connections, "duration": duration, "store": store}
    arguments_list = [*arguments(main), *arguments(options)]
    directory = tempfile.TemporaryDirectory(prefix="brunt-")
    try:
        # In a file, because other users can read the arguments of a process.
        lines = header_lines(headers or {})
        if lines is not None:
            path = _written(directory.name, "headers", lines)
            arguments_list.append(f"--header-file={path}")
        positional = [_target(target, directory.name) for target in targets]
        result = os.path.join(directory.name, "result.json")
        line = [
            find_binary(),
            command,
            *arguments_list,
            f"--output=json={result}",
            "--",
            *positional,
        ]
        process = _spawn(line)
    except BaseException:
        directory.cleanup()
        raise
    return RunningProcess(process, directory, _store_of(arguments_list), progress)


def run(
    target: Target,
    *,
    rate: Union[float, str, None] = None,
    connections: Union[int, str, None] = None,
    duration: Union[float, str, None] = None,
    headers: Optional[Headers] = None,
    options: Options = (),
    store: Union[str, os.PathLike[str], None] = None,
    progress: bool = False,
) -> Union[Run, Study]:
    """Measures a server under load, and returns the result: `brunt run`.

    `target` is a URL, or the path of a plan file, or a plan as a dict (relative paths in it do not
    work). A plan file gives a `Study`, everything else a `Run`.

    `rate` (open loop) and `connections` (closed loop) are numbers, or stages such as
    `0..500/30s,500/2m`. `duration` is in seconds, or a text such as `5m`. `headers` are passed in a
    file, so that `ps` does not show them. `options` are all further options of `brunt run --help`:
    `{"timeout": "5s", "objective": ["p99 < 50ms"], "insecure": True}`. `store` is the directory of
    stored runs. With `progress`, messages of brunt go to `sys.stderr`.

    A missed objective is no exception: see `exit_code` and `objectives` of the result. Raises
    `BruntError` if nothing was measured, and `RunInterrupted` on Ctrl-C.
    """
    return _run((target,), "run", rate, connections, duration, headers, options, store, progress)


def sweep(
    *targets: Target,
    rate: Union[float, str, None] = None,
    connections: Union[int, str, None] = None,
    duration: Union[float, str, None] = None,
    headers: Optional[Headers] = None,
    options: Options = (),
    store: Union[str, os.PathLike[str], None] = None,
    progress: bool = False,
) -> Study:
    """Measures servers at several loads, such as `rate="100..1000+100"`: `brunt sweep`.

    The arguments are those of `run`; `options` are those of `brunt sweep --help`.
    """
    return _study(targets, "sweep", rate, connections, duration, headers, options, store, progress)


def find(
    *targets: Target,
    rate: Union[float, str, None] = None,
    connections: Union[int, str, None] = None,
    duration: Union[float, str, None] = None,
    headers: Optional[Headers] = None,
    options: Options = (),
    store: Union[str, os.PathLike[str], None] = None,
    progress: bool = False,
) -> Study:
    """Finds the highest load within an objective: `brunt find`.

    The arguments are those of `run`; `options` are those of `brunt find --help`, such as
    `{"objective": "p99 < 100ms", "time_budget": "2m"}`. The capacity is in
    `result.analysis.answers[0].capacities[0].at`.
    """
    return _study(targets, "find", rate, connections, duration, headers, options, store, progress)


def compare(
    *targets: Target,
    rate: Union[float, str, None] = None,
    connections: Union[int, str, None] = None,
    duration: Union[float, str, None] = None,
    headers: Optional[Headers] = None,
    options: Options = (),
    store: Union[str, os.PathLike[str], None] = None,
    progress: bool = False,
) -> Study:
    """Compares servers, such as `A=http://…` and `B=http://…`, in alternating trials.

    This is `brunt compare`. The arguments are those of `run`; `options` are those of
    `brunt compare --help`. The tests are in `result.analysis.comparison`.
    """
    return _study(
        targets, "compare", rate, connections, duration, headers, options, store, progress
    )


_COMMANDS = ("run", "sweep", "find", "compare", "grpc")


def _run(
    targets: Sequence[Target],
    command: str,
    rate: Union[float, str, None],
    connections: Union[int, str, None],
    duration: Union[float, str, None],
    headers: Optional[Headers],
    options: Options,
    store: Union[str, os.PathLike[str], None],
    progress: bool,
) -> Union[Run, Study]:
    running = start(
        *targets,
        command=command,
        rate=rate,
        connections=connections,
        duration=duration,
        headers=headers,
        options=options,
        store=store,
        progress=progress,
    )
    with running:
        return running.wait()


def _study(targets: Sequence[Target], command: str, *rest: Any) -> Study:
    result = _run(targets, command, *rest)
    if not isinstance(result, Study):
        raise BruntError(f"brunt {command} returned no experiment", result=result)
    return result


def call(line: Sequence[str]) -> str:
    """Runs a command of brunt that ends at once, and returns its standard output."""
    with _spawn([find_binary(), *line], stdout=subprocess.PIPE) as process:
        try:
            output, messages = process.communicate()
        except BaseException:
            # The process is in a session of its own, and does not get Ctrl-C.
            process.kill()
            raise
    if process.returncode != 0:
        lines = messages.splitlines() if messages else []
        raise BruntError(_message(lines, process.returncode, None), process.returncode)
    return output


@contextlib.contextmanager
def plan_path(plan: Target) -> Iterator[str]:
    """Provides the path of a plan, which may be a dict."""
    with tempfile.TemporaryDirectory(prefix="brunt-") as directory:
        try:
            yield _target(plan, directory)
        except BruntError as error:
            message = error.message.replace(f"{directory}/", "")
            raise BruntError(message, error.exit_code) from None


def _spawn(line: List[str], stdout: int = subprocess.DEVNULL) -> subprocess.Popen[str]:
    try:
        return subprocess.Popen(
            line,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            # Ctrl-C in a terminal signals the whole group, and a second signal would discard the
            # report.
            start_new_session=True,
        )
    except OSError as error:
        raise BinaryNotFoundError(f"cannot start {line[0]}: {error.strerror}") from None


def _target(target: Target, directory: str) -> str:
    if isinstance(target, Mapping):
        # JSON is YAML.
        text = json.dumps(target, ensure_ascii=False, indent=1, default=_not_in_a_plan)
        return _written(directory, "plan.yaml", text)
    text = os.fspath(target)
    if not isinstance(text, str) or not text or "\0" in text:
        raise ValueError("a target is a URL, the path of a plan file, or a plan as a dict")
    return text


def _not_in_a_plan(value: Any) -> Any:
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"a plan cannot contain a value of type {type(value).__name__}")


def _written(directory: str, name: str, text: str) -> str:
    path = os.path.join(directory, name)
    with open(
        os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8"
    ) as f:
        f.write(text)
    return path


def _store_of(line: Sequence[str]) -> Optional[Path]:
    """Returns the directory of stored runs that these arguments choose; None without a store."""
    if "--no-store" in line:
        return None
    chosen = None
    for number, argument in enumerate(line):
        if argument.startswith("--store="):
            chosen = argument[len("--store=") :]
        elif argument == "--store" and number + 1 < len(line):
            chosen = line[number + 1]
    return _control.store_directory(chosen).absolute()

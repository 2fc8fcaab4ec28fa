"""Starts load tests of brunt, and reads their results.

    import brunt

    result = brunt.run("http://127.0.0.1:8080/", rate=600, duration=5)
    print(result.throughput_per_second, result.response_time_seconds.p99)
    result.to_frame("series")

Names and units are those of the JSON reports: times are in seconds.
"""

from ._binary import find_binary
from ._errors import BinaryNotFoundError, BruntError, RunInterrupted
from ._histogram import Bucket, Distribution
from ._process import RunningProcess, compare, find, run, start, sweep
from ._record import Record
from ._results import Analysis, Run, Study
from ._store import StoredItem, check_plan, open, report, runs, version

__version__ = "0.1.0"

__all__ = [
    "Analysis",
    "BinaryNotFoundError",
    "BruntError",
    "Bucket",
    "Distribution",
    "Record",
    "Run",
    "RunInterrupted",
    "RunningProcess",
    "StoredItem",
    "Study",
    "check_plan",
    "compare",
    "find",
    "find_binary",
    "open",
    "report",
    "run",
    "runs",
    "start",
    "sweep",
    "version",
]

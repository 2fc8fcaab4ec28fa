#!/usr/bin/env python3
"""Runs tests, each in a process of its own, as many at a time as the machine has idle cores, and keeps their times.

    tools/tests.py [OPTIONS] PROGRAMS [PART…]

PROGRAMS is the output of `cargo build --tests --message-format=json`; dev/tests/commands.tsv lists further tests. Tests that are
`quiet` in dev/tests/needs.txt run last, alone; only they are repeated after a failure. Results go to target/test-times.tsv, which
tools/test_report.py reads.
"""

import argparse
import json
import os
import pathlib
import queue
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILT = pathlib.Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")
TIMES = BUILT / "test-times.tsv"
INTEGRATION = ROOT / "dev/tests"
NEEDS = INTEGRATION / "needs.txt"
COMMANDS = INTEGRATION / "commands.tsv"
PARTS = ["pages", "unit", "integration", "measured"]
COLUMNS = ["group", "test", "seconds", "cpu_seconds", "result", "retries"]

CORES = len(os.sched_getaffinity(0))
# Most integration tests wait for a server or a deadline. While cores are idle, more of them run than there are cores.
MOST_AT_A_TIME = 6 * CORES
IDLE_SHARE = 0.3
# Time after the start of a test in which the idle share is read: it must contain the work of the new test.
READING_SECONDS = 0.15
DEADLINE_SECONDS = 300
MOST_RETRIES = 2
SHOWN_LINES = 80

running = set()


class Test:
    """A command, and the result of its last execution."""

    def __init__(self, group, name, folder, command):
        self.group = group
        self.name = name
        self.folder = folder
        self.command = command
        self.seconds = 0.0
        self.cpu_seconds = 0.0
        self.result = "not run"
        self.retries = 0
        self.output = ""

    def __str__(self):
        return f"{self.group}: {self.name}"

    def part(self, quiet_names):
        if self.name in quiet_names:
            return "measured"
        if self.group == "pages":
            return "pages"
        return "integration" if self.group.startswith("it ") or self.group == "python" else "unit"

    def row(self):
        return [self.group, self.name, f"{self.seconds:.2f}", f"{self.cpu_seconds:.2f}", self.result, str(self.retries)]

    def run(self):
        environment = {**os.environ, "CARGO_MANIFEST_DIR": str(self.folder), "INSTA_WORKSPACE_ROOT": str(ROOT)}
        began = time.monotonic()
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(
                self.command,
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                # A group and no session: Linux schedules each session as a unit (sched_autogroup_enabled). With version
                # 6.18, four tests that used both cores kept all others from running for five seconds.
                process_group=0,
            )
            running.add(process.pid)
            deadline = threading.Timer(DEADLINE_SECONDS, kill_group, [process.pid])
            deadline.start()
            # Popen.wait does not return the CPU time.
            _, status, usage = os.wait4(process.pid, 0)
            deadline.cancel()
            running.discard(process.pid)
            process.returncode = os.waitstatus_to_exitcode(status)
            output.seek(0)
            self.output = output.read().decode(errors="replace")
        self.seconds = time.monotonic() - began
        self.cpu_seconds = usage.ru_utime + usage.ru_stime
        if process.returncode != 0:
            self.result = "failed"
        elif re.search(r"^SKIPPED ", self.output, re.MULTILINE):
            self.result = "skipped"
        else:
            self.result = "passed"
        if self.seconds >= DEADLINE_SECONDS:
            self.output += f"\nended after {DEADLINE_SECONDS} s, because it did not end by itself"

    def print(self):
        # A line for each short test would hide the others.
        if self.result != "passed" or self.seconds >= 1:
            print(f"{self.result:8}{self.seconds:7.1f} s  {self}", flush=True)
        if self.result == "failed":
            lines = self.output.splitlines()
            if len(lines) > 2 * SHOWN_LINES:
                lines[SHOWN_LINES:-SHOWN_LINES] = [f"… {len(lines) - 2 * SHOWN_LINES} lines"]
            print(*("    " + line for line in lines), sep="\n", flush=True)


def kill_group(leader):
    """Kills a test and the processes that it started."""
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        pass


def cpu_seconds_of_machine():
    """Busy and idle CPU seconds of all cores since the start of the machine."""
    line = pathlib.Path("/proc/stat").read_text().split("\n", 1)[0]
    user, nice, system, idle, iowait, irq, softirq, steal = (int(field) for field in line.split()[1:9])
    ticks = os.sysconf("SC_CLK_TCK")
    return (user + nice + system + irq + softirq + steal) / ticks, (idle + iowait) / ticks


class IdleShare:
    """Share of the CPU time that was idle since the last start of a test."""

    def __init__(self):
        self.began = time.monotonic()
        self.busy, self.idle = cpu_seconds_of_machine()

    def value(self):
        """None if too little time has passed."""
        if time.monotonic() - self.began < READING_SECONDS:
            return None
        busy, idle = cpu_seconds_of_machine()
        total = (busy - self.busy) + (idle - self.idle)
        return (idle - self.idle) / total if total > 0 else None


def run_tests(tests, most_at_a_time):
    """Runs as many tests at a time as there are cores, and more while cores are idle."""
    pending = list(reversed(tests))
    ended = queue.Queue()
    active = 0
    idle_share = IdleShare()

    def run_one(test):
        test.run()
        ended.put(test)

    while pending or active:
        is_free = active < min(CORES, most_at_a_time)
        if pending and not is_free and active < most_at_a_time:
            share = idle_share.value()
            is_free = share is not None and share >= IDLE_SHARE
            if share is not None:
                idle_share = IdleShare()
        if pending and is_free:
            threading.Thread(target=run_one, args=[pending.pop()], daemon=True).start()
            active += 1
            idle_share = IdleShare()
            continue
        try:
            test = ended.get(timeout=READING_SECONDS)
        except queue.Empty:
            continue
        active -= 1
        test.print()


def tests_of_programs(messages):
    """The tests of the programs that cargo built."""
    tests = []
    for line in messages.read_text().splitlines():
        message = json.loads(line)
        if message["reason"] != "compiler-artifact" or not message["executable"] or not message["profile"]["test"]:
            continue
        folder = pathlib.Path(message["manifest_path"]).parent
        program = message["executable"]
        ignored = names_of(program, folder, "--ignored")
        for name in names_of(program, folder):
            if name not in ignored:
                group = f"it {name.split('::')[0]}" if folder == INTEGRATION else folder.name
                tests.append(Test(group, name, folder, [program, "--exact", name, "--nocapture"]))
    return tests


def names_of(program, folder, *options):
    words = [program, "--list", "--format", "terse", *options]
    listing = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, text=True, check=True).stdout
    return [line.removesuffix(": test") for line in listing.splitlines() if line.endswith(": test")]


def tests_of_commands():
    """The tests that are shell commands."""
    rows = [line.split("\t") for line in COMMANDS.read_text().splitlines() if not line.startswith("#")]
    return [Test(group, name, ROOT, ["sh", "-c", command]) for group, name, command in rows]


def names_with_needs(is_wanted):
    """Names of the tests in the table whose set of needs fulfills a condition."""
    rows = [line.split() for line in NEEDS.read_text().splitlines() if line and not line.startswith("#")]
    return {row[0] for row in rows if is_wanted(set(row[1].split(",")))}


def write_times(tests, disturbance):
    rows = ["\t".join(row) for row in [COLUMNS, *(test.row() for test in tests)]]
    TIMES.write_text(f"# disturbance {disturbance:.3f}\n" + "".join(row + "\n" for row in rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=pathlib.Path, metavar="PROGRAMS")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"parts to run: {', '.join(PARTS)} [default: all]")
    parser.add_argument("--only", default="", metavar="REGEX", help="run only tests whose `GROUP: NAME` matches")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="run each test N times, without retries")
    parser.add_argument("--busy", type=int, default=0, metavar="N", help="run N endless loops beside the tests")
    parser.add_argument("--most", type=int, default=MOST_AT_A_TIME, metavar="N", help="most tests at a time")
    options = parser.parse_args()

    every_test = tests_of_programs(options.programs) + tests_of_commands()
    parts = options.parts or PARTS
    quiet_names = names_with_needs(lambda needs: "quiet" in needs)
    chosen = [test for test in every_test if test.part(quiet_names) in parts and re.search(options.only, str(test))]
    chosen = [Test(t.group, t.name, t.folder, t.command) for _ in range(options.repeat) for t in chosen]
    quiet = [test for test in chosen if test.name in quiet_names]
    long_names = names_with_needs(lambda needs: "long" in needs)
    # Long tests begin first, so that none is left alone at the end. Tests of the crates, which only compute, fill the gaps there.
    parallel = sorted(
        (test for test in chosen if test.name not in quiet_names),
        key=lambda test: (test.name not in long_names and test.command[0] != "sh", test.part(quiet_names) == "unit"),
    )
    if not parallel and not quiet:
        sys.exit("no test matches")

    busy_before, idle_before = cpu_seconds_of_machine()
    loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(options.busy)]
    try:
        run_tests(parallel, options.most)
        run_tests(quiet, 1)
        for _ in range(MOST_RETRIES if options.repeat == 1 else 0):
            failed = [test for test in quiet if test.result == "failed"]
            for test in failed:
                test.retries += 1
            run_tests(failed, 1)
    finally:
        for loop in loops:
            loop.kill()
        for leader in list(running):
            kill_group(leader)
        busy, idle = cpu_seconds_of_machine()
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        others = (busy - busy_before) - (usage.ru_utime + usage.ru_stime)
        total = (busy - busy_before) + (idle - idle_before)
        write_times(parallel + quiet, max(0, others / total))
    sys.exit(any(test.result not in ("passed", "skipped") for test in parallel + quiet))


if __name__ == "__main__":
    main()

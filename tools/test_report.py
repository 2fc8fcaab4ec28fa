#!/usr/bin/env python3
"""Prints where the time of `make test` went, and fails where a rule about the tests is broken.

The rules: no group of tests takes a quarter longer than its budget (dev/tests/budget.tsv), which is longer on a slow machine; each simulated
test of a promise (dev/tests/promises.txt) passed; in CI, each skipped test is in dev/tests/needs.txt. `--write-budget` makes the last times
the budget.

    tools/test_report.py PART…
"""

import collections
import os
import re
import statistics
import subprocess
import sys
import time

import tests

BUDGET = tests.ROOT / "dev/tests/budget.tsv"
PROMISES = tests.ROOT / "dev/tests/promises.txt"
STAGES = tests.BUILT / "stage-times.tsv"
LONGEST = 30
LONG_SECONDS = 60
ALLOWED_EXCESS = 1.25
# The sum of a short group varies by more than a quarter, and a test that waits for a quiet moment by seconds.
ALLOWED_EXCESS_SECONDS = 15
# Groups by which the speed of the machine is compared with that of the budget: shorter ones vary too much.
COMPARED_SECONDS = 10
# Share of the CPU time of the machine that other processes may use, with servers that no test waits for: 9 % on a quiet machine. With more,
# times are not those of the tests alone.
ALLOWED_DISTURBANCE = 0.2
NEWEST = 5


def lines_of(file):
    """Lines of a file, without comments."""
    return [line for line in file.read_text().splitlines() if line and not line.startswith("#")]


def rows_of(file):
    """Rows of a table of which the first line has the names of the columns."""
    names, *rows = (line.split("\t") for line in lines_of(file))
    return [dict(zip(names, row)) for row in rows]


def print_table(title, rows):
    """Prints rows of numbers that end in a text."""
    print(f"\n== {title}")
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    for *numbers, text in rows:
        print("  ".join([*(number.rjust(width) for number, width in zip(numbers, widths)), text]))


def print_stages():
    starts = [line.split("\t") for line in lines_of(STAGES)]
    ends = [float(start) for start, _ in starts[1:]] + [time.time()]
    rows = [(f"{end - float(start):.0f}", title) for (start, title), end in zip(starts, ends)]
    print_table("stages", [("seconds", "stage"), *rows])


def print_longest(results):
    longest = sorted(results, key=lambda row: float(row["seconds"]), reverse=True)[:LONGEST]
    reasons = {line.split()[0]: line.partition("#")[2] for line in lines_of(tests.NEEDS) if "long" in line.split()[1].split(",")}
    rows = [("seconds", "CPU", "test")]
    for row in longest:
        reason = ""
        if float(row["seconds"]) > LONG_SECONDS:
            reason = reasons.get(row["test"], " longer than a minute, and dev/tests/needs.txt has no reason")
        rows.append((row["seconds"], row["cpu_seconds"], f"{row['group']}: {row['test']}" + (f"  #{reason}" if reason else "")))
    print_table(f"the {LONGEST} longest tests", rows)


def sums_by_group(results, column):
    sums = collections.Counter()
    for row in results:
        sums[row["group"]] += float(row[column])
    return sums


def newest_tests(group, results):
    """Names of the tests of a group that were changed last, by git."""
    names = {row["test"].rsplit("::", 1)[-1] for row in results if row["group"] == group}
    function = r"fn (\w+)\(\)"
    grep = ["git", "grep", "-n", "-E", r"fn \w+\(\)", "--", "*.rs"]
    times = {}
    for line in output_of(grep).splitlines():
        file, number, text = line.split(":", 2)
        name = re.search(function, text).group(1)
        if name in names:
            blame = output_of(["git", "blame", "--porcelain", "-L", f"{number},{number}", "--", file])
            changed = re.search(r"^committer-time (\d+)", blame, re.MULTILINE)
            times[name] = int(changed.group(1)) if changed else 0
    return sorted(times, key=times.get, reverse=True)[:NEWEST]


def output_of(words):
    return subprocess.run(words, cwd=tests.ROOT, capture_output=True, text=True).stdout


def slowness_of_machine(seconds, budget):
    """Median ratio of times to budgets, at least 1: a slow machine needs more time for all groups."""
    ratios = [seconds[group] / allowed for group, allowed in budget.items() if allowed >= COMPARED_SECONDS and group in seconds]
    return max(1, statistics.median(ratios)) if ratios else 1


def budget_errors(results):
    """Groups that exceed their budget. Prints the sums of all groups."""
    budget = {row["group"]: float(row["seconds"]) for row in rows_of(BUDGET)}
    # A skipped test may have waited in vain for a quiet moment.
    results = [row for row in results if row["result"] != "skipped"]
    seconds = sums_by_group(results, "seconds")
    cpu_seconds = sums_by_group(results, "cpu_seconds")
    slowness = slowness_of_machine(seconds, budget)
    rows = [("seconds", "budget", "CPU", "tests", "group")]
    errors = []
    for group, sum_of_group in seconds.most_common():
        allowed = budget.get(group, 0) * slowness
        count = sum(row["group"] == group for row in results)
        rows.append((f"{sum_of_group:.0f}", f"{allowed:.0f}", f"{cpu_seconds[group]:.0f}", str(count), group))
        if sum_of_group > max(allowed * ALLOWED_EXCESS, allowed + ALLOWED_EXCESS_SECONDS):
            newest = ", ".join(newest_tests(group, results))
            errors.append(f"{group} took {sum_of_group:.0f} s, its budget is {allowed:.0f} s here (dev/tests/budget.tsv); its newest tests: {newest}")
    print_table("groups of tests", rows)
    disturbance = float(re.search(r"^# disturbance (\S+)", tests.TIMES.read_text()).group(1))
    if errors and disturbance > ALLOWED_DISTURBANCE:
        print(f"other processes used {disturbance:.0%} of the CPU time, so the budget is not enforced:", *errors, sep="\n  ")
        return []
    return errors


def promise_errors(results):
    """Promises whose simulated test did not pass. Prints the numbers of simulated and real-time tests that passed."""
    passed = {row["test"] for row in results if row["result"] == "passed"}
    promises = [re.split(r" *\| *", line) for line in lines_of(PROMISES)]
    errors = [f"not checked in simulation: {promise}: {simulated}" for promise, simulated, _ in promises if simulated not in passed]
    measurable = [(promise, real) for promise, _, real in promises if real != "-"]
    unmeasured = [f"{promise}: {real}" for promise, real in measurable if real not in passed]
    print(f"\nstatistical promises: {len(promises) - len(errors)} of {len(promises)} checked in simulation, ", end="")
    print(f"{len(measurable) - len(unmeasured)} of {len(measurable)} in real time")
    if unmeasured:
        print("checked in real time by make prove, or not on this machine:", *unmeasured, sep="\n  ")
    return errors


def skip_errors():
    """Skips that CI does not allow. Prints all skips."""
    file = os.environ.get("BRUNT_SKIPS")
    skips = sorted(set(lines_of(tests.pathlib.Path(file)))) if file else []
    if skips:
        print("\n== skipped", *skips, sep="\n")
    if os.environ.get("CI") != "true":
        return []
    allowed = tests.names_with_needs(lambda needs: needs != {"long"})
    names = [skip.removeprefix("SKIPPED ").split(": ")[0] for skip in skips]
    return [f"not allowed in CI (dev/tests/needs.txt): {skip}" for name, skip in zip(names, skips) if name not in allowed]


def main():
    results = rows_of(tests.TIMES)
    if "--write-budget" in sys.argv:
        sums = sums_by_group(results, "seconds")
        head = [line for line in BUDGET.read_text().splitlines() if line.startswith("#")]
        rows = [f"{group}\t{max(1, round(seconds))}" for group, seconds in sorted(sums.items())]
        BUDGET.write_text("\n".join([*head, "group\tseconds", *rows]) + "\n")
        return
    print_stages()
    print_longest(results)
    is_whole = set(tests.PARTS) <= set(sys.argv)
    errors = budget_errors(results)
    if is_whole:
        errors += promise_errors(results)
    errors += skip_errors()
    retried = [f"{row['group']}: {row['test']}" for row in results if row["retries"] != "0" and row["result"] == "passed"]
    if retried:
        print("\nfailed at first, passed alone:", *retried, sep="\n  ")
    failed = [f"{row['group']}: {row['test']}" for row in results if row["result"] not in ("passed", "skipped")]
    if failed:
        print("\nfailed:", *failed, sep="\n  ")
    counts = collections.Counter(row["result"] for row in results)
    print(f"\n{counts['passed']} tests passed, {len(failed)} failed, {counts['skipped']} skipped")
    for error in errors:
        print(error, file=sys.stderr)
    sys.exit(bool(errors or failed))


if __name__ == "__main__":
    main()

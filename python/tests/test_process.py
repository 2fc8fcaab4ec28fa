"""Runs are started, marked, stopped and interrupted; failures are errors."""

import os
import signal
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path

import brunt

from .support import PROJECT, Lab, LabTestCase, closed_port

SECRET = "hunter2hunter2"


def command_line(pid):
    return Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")


def is_active(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def wait_until(condition, seconds=10):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError("timed out")
        time.sleep(0.02)


def wait_for_replies(*processes):
    wait_until(lambda: all(running.active_run_id for running in processes), 30)
    # The store has no figures of active runs. A reply of the server on this machine arrives in milliseconds, but a busy
    # machine can delay the process.
    time.sleep(2)


class Runs(LabTestCase):
    def test_a_run_is_measured_and_stored(self):
        result = brunt.run(self.url, rate=200, duration=1)
        self.assertIsInstance(result, brunt.Run)
        self.assertEqual(result.plan.populations[0].load.rate.stages[0].to, 200)
        self.assertEqual(result.requests.good, result.requests.planned)
        self.assertEqual(result.exit_code, 0)
        self.assertEqual([item.id for item in brunt.runs()], [result.id])

    def test_the_store_is_chosen(self):
        other = self.directory / "other"
        result = brunt.run(self.url, options={"requests": 5}, store=other)
        self.assertEqual([item.id for item in brunt.runs(other)], [result.id])
        self.assertEqual(brunt.runs(), [])
        self.assertIsNone(brunt.run(self.url, options={"requests": 5, "no_store": True}).id)
        self.assertEqual(brunt.runs(), [])

    def test_a_missed_objective_is_a_result(self):
        options = {"requests": 20, "objective": "p99 < 1us"}
        result = brunt.run(self.url, connections=2, options=options)
        self.assertEqual(result.exit_code, 4)
        self.assertFalse(result.objectives[0].met)

    def test_other_reports_are_written_too(self):
        page, events = self.directory / "page.html", self.directory / "run.events"
        options = {"requests": 20, "output": [f"html={page}", "markdown"], "events": events}
        result = brunt.run(self.url, options=options)
        self.assertIn("<html", page.read_text()[:500].lower())
        self.assertEqual(brunt.open(events).requests.completed, result.requests.completed)

    def test_a_plan_is_an_experiment(self):
        path = self.directory / "plan.yaml"
        path.write_text(
            f"script: {{request: {self.url}}}\n"
            "load: {rate: 50..100+50, duration: 300ms}\n"
            "repetitions: 1\n"
        )
        study = brunt.run(path, options={"set": {"load.duration": "400ms"}})
        self.assertIsInstance(study, brunt.Study)
        self.assertEqual([trial.load for trial in study.trials], [50, 100])
        self.assertEqual(study.trials[0].measured_seconds, 0.4)
        self.assertEqual(study.id, brunt.runs()[-1].id)
        plan = {"script": {"request": self.url}, "load": {"rate": 50, "duration": "300ms"}}
        study = brunt.run({**plan, "repetitions": 2, "name": "from a dict"})
        self.assertEqual(study.name, "from a dict")
        self.assertEqual(len(study.trials), 2)

    def test_experiments_have_their_answers(self):
        study = brunt.compare(
            f"A={self.url}",
            f"B={self.url}",
            rate=100,
            duration=0.3,
            options={"repeat": 2, "metric": "p50"},
        )
        self.assertEqual(len(study.rows("analysis.comparison.pairs.measures")), 1)
        self.assertEqual({trial.contender for trial in study.trials}, {"A", "B"})
        options = {"objective": "p99 < 500ms", "time_budget": 8, "trial_duration": 1}
        study = brunt.find(self.url, options=options)
        (capacity,) = study.analysis.answers[0].capacities
        self.assertTrue(capacity.sentence)
        self.assertLessEqual(capacity.at.low or 0, capacity.at.high or float("inf"))
        self.assertEqual(len(study.rows("analysis.answers.trials")), len(study.trials))

    def test_messages_are_shown_on_request(self):
        script = (
            "import brunt, sys\n"
            "brunt.sweep(sys.argv[1], rate='50..100+50', duration=.2, options={'repeat': 1}, "
            "progress=len(sys.argv) > 2)"
        )
        for arguments, number in [((), 0), (("x",), 2)]:
            done = python(script, self.url, *arguments)
            _, messages = done.communicate(timeout=30)
            self.assertEqual(done.returncode, 0, messages)
            self.assertEqual(messages.count("repetition 1"), number)

    def test_runs_in_threads_do_not_mix(self):
        results = {}

        def measure(rate):
            results[rate] = brunt.run(self.url, rate=rate, duration=0.5)

        threads = [threading.Thread(target=measure, args=(rate,)) for rate in (20, 40, 60)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for rate, result in results.items():
            self.assertEqual(result.plan.populations[0].load.rate.stages[0].to, rate)
        self.assertEqual(len({result.id for result in results.values()}), 3)


class Failures(LabTestCase):
    def error(self, *arguments, **options):
        with self.assertRaises(brunt.BruntError) as raised:
            brunt.run(*arguments, **options)
        return raised.exception

    def test_a_dead_server_is_an_error(self):
        port = closed_port()
        url = f"http://127.0.0.1:{port}/"
        error = self.error(url, rate=10, duration=1)
        self.assertEqual(error.exit_code, 3)
        self.assertEqual(
            str(error),
            f"nothing was measured: no reply from {url} (connection refused); "
            f"for the cause write `brunt check {url}`",
        )
        self.assertEqual(error.result.error, "connection refused")
        self.assertIsNone(error.id)
        self.assertEqual(brunt.runs(), [])
        with self.assertRaises(brunt.BruntError) as raised:
            brunt.sweep(f"http://127.0.0.1:{port}/", rate="10..20+10", duration=1)
        self.assertEqual(raised.exception.exit_code, 3)

    def test_a_wrong_option_is_an_error(self):
        for options, message in [
            ({"rate": "x"}, "--rate: `x`: not a number"),
            ({"rate": 5, "options": ["--rate=6"]}, "--rate is given twice"),
            ({"options": {"bogus": True}}, "`--bogus`: unknown option"),
            ({"options": {"insecure": "yes"}}, "--insecure"),
            ({"duration": -1}, "a duration is not negative"),
        ]:
            with self.subTest(options=options):
                error = self.error(self.url, **options)
                self.assertEqual(error.exit_code, 2)
                self.assertIn(message, str(error))
                self.assertIsNone(error.result)
        self.assertEqual(self.error("plan-that-is-missing.yaml").exit_code, 2)
        with self.assertRaises(ValueError):
            brunt.start(self.url, command="lab")
        with self.assertRaises(TypeError):
            brunt.sweep()

    def test_a_failed_hook_is_an_error(self):
        plan = {
            "script": {"request": self.url},
            "load": {"rate": 50, "duration": "200ms"},
            "repetitions": 1,
            "hooks": {"before": {"contender": "echo no license; exit 3"}},
        }
        error = self.error(plan)
        self.assertEqual(error.exit_code, 7)
        self.assertIn("failed (exit code 3); it wrote:", str(error))
        self.assertIn("no license", str(error))

    def test_a_report_that_cannot_be_written_is_an_error_with_a_result(self):
        options = {"requests": 20, "output": f"html={self.directory}/missing/page.html"}
        error = self.error(self.url, options=options)
        self.assertIn(error.exit_code, (1, 2))
        if error.exit_code == 1:
            self.assertEqual(error.result.requests.completed, 20)
            self.assertEqual(error.id, error.result.id)

    def test_a_killed_process_is_an_error(self):
        with brunt.start(self.url, rate=50, duration=30) as running:
            wait_until(lambda: running.active_run_id is not None)
            os.kill(running.pid, signal.SIGKILL)
            with self.assertRaises(brunt.BruntError) as raised:
                running.wait(10)
        self.assertEqual(raised.exception.exit_code, -signal.SIGKILL)
        self.assertIn("killed (SIGKILL)", str(raised.exception))
        (item,) = brunt.runs()
        self.assertEqual(item.progress, "torn")
        self.assertTrue(item.open().interrupted)

    def test_a_program_that_is_not_brunt_is_an_error(self):
        for text, code in [("#!/bin/sh\nexit 0\n", 0), ("#!/bin/sh\nexit 77\n", 77)]:
            stub = self.directory / "stub"
            stub.write_text(text)
            stub.chmod(0o700)
            self.set_variable("BRUNT_BIN", str(stub))
            error = self.error(self.url)
            self.assertEqual(str(error), f"brunt wrote no result (exit code {code})")
        stub.write_text("no program\n")
        with self.assertRaises(brunt.BinaryNotFoundError):
            brunt.run(self.url)

    def test_a_truncated_result_is_an_error(self):
        stub = self.directory / "stub"
        stub.write_text(
            "#!/bin/sh\nfor a; do case $a in --output=json=*) printf '{\"version\": 1,' "
            ">${a#--output=json=};; esac; done\n"
        )
        stub.chmod(0o700)
        self.set_variable("BRUNT_BIN", str(stub))
        error = self.error(self.url)
        self.assertEqual(error.exit_code, 0)
        self.assertIn("the result is not a JSON report of brunt", str(error))

    def test_no_files_remain(self):
        temporary = self.directory / "temporary"
        temporary.mkdir()
        self.set_variable("TMPDIR", str(temporary))
        import tempfile

        before, tempfile.tempdir = tempfile.tempdir, None
        try:
            brunt.run(self.url, headers={"A": "b"}, options={"requests": 5})
            self.error("http://127.0.0.1:1/", options={"bogus": 1}, headers={"A": "b"})
            with self.assertRaises(ValueError):
                brunt.run(self.url, headers={"A": "b\n"})
            self.assertEqual(list(temporary.iterdir()), [])
        finally:
            tempfile.tempdir = before


class Control(LabTestCase):
    def test_a_run_is_marked_and_stopped(self):
        with brunt.start(self.url, rate=50, duration=30) as running:
            self.assertTrue(running.is_running)
            running.mark("deployed\n 1.2 — ü")
            run_id = running.active_run_id
            item = brunt.runs()[-1]
            self.assertEqual((item.id, item.progress), (run_id, "running"))
            item.mark("second")
            with self.assertRaises(TimeoutError):
                running.wait(0.3)
            self.assertGreaterEqual(item.open().elapsed_seconds, 0)
            result = running.stop(10)
        self.assertFalse(running.is_running)
        self.assertEqual([mark.text for mark in result.marks], ["deployed 1.2 — ü", "second"])
        self.assertTrue(result.interrupted)
        self.assertEqual((result.exit_code, result.id), (130, run_id))
        self.assertLess(result.elapsed_seconds, 10)
        self.assertIs(running.stop(), result)
        self.assertIs(running.wait(), result)
        self.assertIsNone(running.active_run_id)
        for call in (lambda: running.mark("late"), lambda: item.mark("late"), item.stop):
            with self.assertRaises(brunt.BruntError):
                call()

    def test_marks_have_limits(self):
        with brunt.start(self.url, rate=50, duration=30) as running:
            wait_for_replies(running)
            running.mark("x" * 1000)
            for text in ["", " \n", "x" * 1001]:
                with self.assertRaises(ValueError):
                    running.mark(text)
            self.assertEqual([mark.text for mark in running.stop().marks], ["x" * 1000])

    def test_two_runs_are_told_apart(self):
        with brunt.start(self.url, rate=50, duration=30) as first:
            with brunt.start(self.url, rate=50, duration=30) as second:
                wait_for_replies(first, second)
                second.mark("second")
                first.mark("first")
                self.assertNotEqual(first.active_run_id, second.active_run_id)
                self.assertEqual([mark.text for mark in second.stop().marks], ["second"])
            self.assertEqual([mark.text for mark in first.stop().marks], ["first"])

    def test_a_stored_run_is_stopped_by_its_id(self):
        with brunt.start(self.url, rate=50, duration=30) as running:
            wait_for_replies(running)
            brunt.runs()[-1].stop()
            self.assertEqual(running.wait(10).exit_code, 130)

    def test_an_experiment_is_stopped(self):
        with brunt.start(self.url, command="sweep", rate="20..40+20", duration=30) as running:
            wait_for_replies(running)
            running.mark("in the first trial")
            study = running.stop(20)
        self.assertIsInstance(study, brunt.Study)
        self.assertTrue(study.interrupted)

    def test_a_run_without_a_store_takes_no_marks(self):
        with brunt.start(self.url, duration=30, options={"no_store": True}) as running:
            with self.assertRaises(brunt.BruntError) as raised:
                running.mark("x")
            self.assertIn("no_store", str(raised.exception))
            self.assertIsNone(running.active_run_id)

    def test_a_long_path_of_the_store_works(self):
        store = self.directory / ("d" * 100) / ("e" * 100)
        with brunt.start(self.url, rate=50, duration=30, store=store) as running:
            wait_for_replies(running)
            running.mark("x")
            self.assertEqual(running.stop().marks[0].text, "x")

    def test_a_run_that_is_stopped_before_the_first_reply_has_no_figures(self):
        with Lab("const:20s") as slow:
            with brunt.start(slow.url, duration=30, options={"grace": 0}) as running:
                wait_until(lambda: running.active_run_id)
                with self.assertRaises(brunt.BruntError) as raised:
                    running.stop(20)
        self.assertEqual(raised.exception.exit_code, 3)
        self.assertIn("nothing was measured", str(raised.exception))
        self.assertTrue(raised.exception.result.interrupted)

    def test_an_exception_stops_the_load(self):
        with self.assertRaises(ZeroDivisionError):
            with brunt.start(self.url, rate=50, duration=30) as running:
                wait_for_replies(running)
                1 / 0
        self.assertFalse(running.is_running)
        self.assertEqual(brunt.runs()[-1].progress, "interrupted")


class Interrupts(LabTestCase):
    """Ctrl-C in Python stops the run, as in a terminal."""

    SCRIPT = """
import brunt, signal, sys
# A shell ignores the signal in jobs in the background, and so does what they start.
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    brunt.run(sys.argv[1], rate=50, duration=30)
except KeyboardInterrupt as error:
    print(type(error).__name__, error.id, error.result.interrupted, error.result.id == error.id)
"""

    def interrupt(self, send):
        child = python(self.SCRIPT, self.url, own_group=True)
        try:
            wait_until(lambda: [item for item in brunt.runs() if item.progress == "running"])
            # Until the first reply, there is nothing to keep.
            time.sleep(2)
            send(child)
            output, messages = child.communicate(timeout=20)
        finally:
            child.kill()
            child.wait()
        self.assertEqual(messages, "")
        (item,) = brunt.runs()
        self.assertEqual(output, f"RunInterrupted {item.id} True True\n")
        self.assertEqual(item.progress, "interrupted")

    def test_a_signal_to_python_stops_the_run(self):
        self.interrupt(lambda child: child.send_signal(signal.SIGINT))

    def test_ctrl_c_in_a_terminal_stops_the_run(self):
        self.interrupt(lambda child: os.killpg(child.pid, signal.SIGINT))

    def test_no_load_remains_after_python(self):
        script = "import brunt, sys; print(brunt.start(sys.argv[1], rate=50, duration=30).pid)"
        child = python(script, self.url)
        output, messages = child.communicate(timeout=30)
        self.assertEqual((child.returncode, messages), (0, ""))
        self.assertFalse(is_active(int(output)))


class Secrets(LabTestCase):
    def test_headers_are_neither_in_arguments_nor_in_texts(self):
        headers = {"Authorization": f"Bearer {SECRET}", "X-Api-Key": [SECRET, SECRET]}
        with brunt.start(self.url, rate=50, duration=30, headers=headers) as running:
            wait_for_replies(running)
            line = command_line(running.pid)
            (argument,) = [each for each in line if each.startswith("--header-file=")]
            path = argument.partition("=")[2]
            self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
            self.assertEqual(os.stat(os.path.dirname(path)).st_mode & 0o777, 0o700)
            self.assertNotIn(SECRET, "\0".join(line))
            self.assertNotIn(SECRET, repr(running))
            result = running.stop()
        self.assertFalse(os.path.exists(path))
        sent = result.plan.populations[0].scenario.requests[0].headers
        self.assertIn("Authorization", [name for name, _ in sent])
        for text in (str(result.to_dict()), repr(result), brunt.report(result.id)):
            self.assertNotIn(SECRET, text)

    def test_errors_do_not_contain_options(self):
        options = {"bearer": SECRET, "bogus": SECRET}
        with self.assertRaises(brunt.BruntError) as raised:
            brunt.run(self.url, headers={"A": SECRET}, options=options)
        self.assertNotIn(SECRET, str(raised.exception))
        self.assertNotIn(SECRET, repr(vars(raised.exception)))


def python(script, *arguments, own_group=False):
    return subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        start_new_session=own_group,
        env={**os.environ, "PYTHONPATH": str(PROJECT / "src")},
    )


if __name__ == "__main__":
    unittest.main()

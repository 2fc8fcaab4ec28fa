"""JSON reports become results, and wrong ones errors."""

import copy
import importlib.util
import json
import pickle
import random
import subprocess
import sys
import unittest
from unittest import mock

import brunt
from brunt import documents
from brunt._results import parse

from .support import REPOSITORY, LabTestCase

HAS_PANDAS = importlib.util.find_spec("pandas") is not None
TIMES = ["p50", "p75", "p90", "p95", "p99", "p99_9", "max"]
QUANTILES = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1]


class Version(unittest.TestCase):
    def test_the_version_is_that_of_the_program(self):
        self.assertEqual(brunt.__version__, brunt.version())
        manifest = REPOSITORY / "Cargo.toml"
        if manifest.exists():
            self.assertIn(f'version = "{brunt.__version__}"', manifest.read_text())


class Results(LabTestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        options = {"no_store": True, "objective": ["p99 < 1s", "errors < 1%"]}
        cls.run_result = brunt.run(cls.url, rate=300, duration=1, options=options)
        cls.study = brunt.sweep(
            cls.url, rate="50..150+50", duration=0.5, options={"no_store": True, "repeat": 2}
        )

    def test_attributes_are_those_of_the_document(self):
        data = self.run_result.to_dict()
        self.assertEqual(self.run_result.throughput_per_second, data["throughput_per_second"])
        self.assertEqual(
            self.run_result.response_time_seconds.p99, data["response_time_seconds"]["p99"]
        )
        self.assertEqual(self.run_result.outcomes, {"200": data["requests"]["completed"]})
        self.assertEqual(self.run_result.plan.populations[0].load.rate.stages[0].to, 300)
        self.assertIsInstance(self.run_result.response_time_seconds, documents.Times)
        self.assertIsInstance(self.run_result.findings[0], documents.Finding)
        self.assertIsInstance(self.run_result.phases_seconds.connect, documents.Times)
        self.assertEqual(dict(self.run_result), {key: self.run_result[key] for key in data})
        self.assertEqual(set(self.run_result), set(data))
        for each in self.run_result.objectives:
            self.assertTrue(each.met)
        self.assertIn("throughput_per_second", dir(self.run_result))
        self.assertEqual(self.run_result.exit_code, 0)
        self.assertIsNone(self.run_result.id)

    def test_keys_that_a_document_leaves_out_are_empty(self):
        self.assertNotIn("marks", self.run_result.to_dict())
        self.assertEqual(self.run_result.marks, [])
        self.assertEqual(self.run_result.agents, [])
        self.assertEqual(self.run_result.series[0].agents_lost, 0)
        self.run_result.marks.append(1)
        self.assertEqual(brunt.Run(self.run_result.to_dict()).marks, [])

    def test_a_misspelled_attribute_is_corrected(self):
        with self.assertRaises(AttributeError) as raised:
            self.run_result.throughput_per_secnd
        self.assertIn("write `throughput_per_second`", str(raised.exception))
        with self.assertRaises(KeyError):
            self.run_result["nothing"]

    def test_copies_and_pickles_are_equal(self):
        for result in (self.run_result, self.study):
            for other in (
                copy.copy(result),
                copy.deepcopy(result),
                pickle.loads(pickle.dumps(result)),
            ):
                self.assertEqual(other.to_dict(), result.to_dict())
                self.assertEqual(other.exit_code, 0)

    def test_the_text_is_the_conclusion(self):
        self.assertIn("Verdict: ", repr(self.run_result))
        self.assertIn(self.run_result.conclusion, repr(self.run_result))
        self.assertLess(len(repr(self.run_result.plan)), 500)
        self.assertIn("sweep", repr(self.study))

    def test_percentiles_of_the_histogram_are_those_of_the_report(self):
        results = [self.run_result, *self.study.trials]
        distributions = [result.response_time_seconds for result in results]
        distributions += [self.run_result.lag_seconds, self.run_result.service_time_seconds]
        for times in distributions:
            self.assertEqual(sum(bucket.count for bucket in times.buckets()), times.count)
            for name, quantile in zip(TIMES, QUANTILES):
                self.assertAlmostEqual(times.percentile(quantile), times[name], 12, name)
            lows = [bucket.low_seconds for bucket in times.buckets()]
            self.assertEqual(lows, sorted(lows))
            mean = sum((b.low_seconds + b.high_seconds) / 2 * b.count for b in times.buckets())
            self.assertAlmostEqual(mean / times.count, times.mean, delta=times.mean * 0.001)
        for quantile in (0, -1, 1.01, float("nan")):
            with self.assertRaises(ValueError):
                times.percentile(quantile)

    def test_percentiles_of_censored_times_are_refused(self):
        data = {**self.run_result.response_time_seconds.to_dict(), "censored": 3}
        with self.assertRaises(ValueError) as raised:
            documents.Times(data).percentile(0.5)
        self.assertIn("3 requests have no known time", str(raised.exception))

    def test_damaged_histograms_are_errors(self):
        data = self.run_result.response_time_seconds.to_dict()
        text = data["histogram"]
        chance = random.Random(1)
        for number in range(300):
            position = chance.randrange(len(text))
            damaged = text[:position] + chance.choice("AZaz09+/=!") + text[position + 1 :]
            if number % 3 == 0:
                damaged = text[:position]
            times = documents.Times({**data, "histogram": damaged})
            try:
                buckets = times.buckets()
            except brunt.BruntError as error:
                self.assertIn("the histogram is damaged", str(error))
            else:
                self.assertGreaterEqual(len(buckets), 0)
        with self.assertRaises(brunt.BruntError):
            documents.Times({**data, "histogram_unit": "microseconds"}).buckets()

    def test_rows_have_all_entries_and_no_lists(self):
        for result, path, number in [
            (self.run_result, "series", len(self.run_result.series)),
            (self.run_result, "labels", 1),
            (self.run_result, "findings", len(self.run_result.findings)),
            (self.run_result, "objectives", 2),
            (self.run_result, "marks", 0),
            (self.run_result, "warnings", len(self.run_result.warnings)),
            (self.run_result, "verdict.evidence", len(self.run_result.verdict.evidence)),
            (self.run_result, "response_time_intervals_seconds", 6),
            (self.run_result, "plan.populations.scenario.requests", 1),
            (self.run_result, "throughput_interval_per_second", 0),
            (self.study, "trials", 6),
            (self.study, "trials.findings", sum(len(t.findings) for t in self.study.trials)),
            (self.study, "trials.labels", 0),
            (self.study, "analysis.contenders.curve", 3),
            (self.study, "analysis.contenders.limits", 3),
            (self.study, "analysis.comparison.pairs.measures", 0),
        ]:
            with self.subTest(path=path):
                if path == "throughput_interval_per_second" and result[path] is not None:
                    number = 1
                rows = result.rows(path)
                self.assertEqual(len(rows), number)
                self.assertLessEqual(len({tuple(row) for row in rows}), 1, "columns differ")
                for row in rows:
                    self.assertFalse([v for v in row.values() if isinstance(v, (dict, list))])
                    self.assertFalse([key for key in row if "histogram" in key])
        for path in ["nothing", "series.nothing", "labels.hops.nothing", "", "version.x"]:
            with self.subTest(path=path), self.assertRaises(KeyError):
                if not brunt.Record.rows(self.run_result, path):
                    raise KeyError(path)

    def test_rows_of_figures_are_one_row(self):
        row = self.run_result.rows()[0]
        self.assertEqual(
            row["response_time_seconds.p99"], self.run_result.response_time_seconds.p99
        )
        self.assertEqual(row["verdict.state"], self.run_result.verdict.state)
        self.assertFalse([key for key in row if key.startswith("plan")])
        self.assertEqual(self.study.rows(), self.study.rows("trials"))
        curve = self.study.rows("analysis.contenders.curve")[0]
        self.assertEqual(curve["contender"], self.study.analysis.contenders[0].contender)
        self.assertEqual(curve["load"], 50)

    def test_names_that_occur_twice_have_the_name_of_their_list(self):
        pairs = [{"ours": "a", "measures": [{"ours": 1}, {"ours": 2}]}]
        rows = brunt.Record({"pairs": pairs}).rows("pairs.measures")
        self.assertEqual(rows, [{"pairs.ours": "a", "ours": 1}, {"pairs.ours": "a", "ours": 2}])

    def test_null_and_object_are_the_same_columns(self):
        rows = brunt.Record({"a": [{"b": None}, {"b": {"c": 1}}]}).rows("a")
        self.assertEqual(rows, [{"b.c": None}, {"b.c": 1}])

    def test_an_analysis_of_files_is_a_result(self):
        table, report = self.directory / "table.csv", self.directory / "analysis.json"
        table.write_text("users throughput\n1 100\n2 190\n4 350\n")
        line = [brunt.find_binary(), "analyse", table, "-o", f"json={report}"]
        subprocess.run(line, check=True, capture_output=True)
        analysis = brunt.open(report)
        self.assertIsInstance(analysis, brunt.Analysis)
        self.assertEqual(len(analysis.rows("analysis.contenders.curve")), 3)
        table.write_text(json.dumps(self.study.to_dict()))
        self.assertEqual(brunt.open(table).to_dict(), self.study.to_dict())

    def test_frames_need_pandas(self):
        with mock.patch.dict(sys.modules, {"pandas": None}):
            with self.assertRaises(ImportError) as raised:
                self.run_result.to_frame("series")
        self.assertIn("pip install pandas", str(raised.exception))

    @unittest.skipUnless(HAS_PANDAS, "pandas is not installed")
    def test_frames_have_the_rows(self):
        frame = self.run_result.to_frame("series")
        self.assertEqual(len(frame), len(self.run_result.series))
        # Replies also arrive in the grace period.
        self.assertEqual(int(frame.completed.sum()), self.run_result.requests.completed)
        self.assertEqual(frame.throughput_per_second.dtype.kind, "f")
        self.assertEqual(frame.response_p99_seconds.dtype.kind, "f")
        trials = self.study.to_frame()
        self.assertEqual(list(trials.load), [trial.load for trial in self.study.trials])
        self.assertEqual(len(self.run_result.to_frame()), 1)
        self.assertEqual(len(self.run_result.to_frame("marks")), 0)


class Documents(LabTestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        result = brunt.run(cls.url, options={"no_store": True, "requests": 50})
        cls.text = json.dumps(result.to_dict())

    def test_a_file_is_a_result(self):
        path = self.directory / "run.json"
        path.write_text(self.text)
        result = brunt.open(path)
        self.assertEqual(result.requests.completed, 50)
        self.assertIsNone(result.exit_code)
        path.write_text("\n  " + self.text)
        self.assertEqual(brunt.open(str(path)).requests.completed, 50)

    def test_truncated_files_are_errors(self):
        path = self.directory / "run.json"
        chance = random.Random(7)
        positions = {
            1,
            2,
            len(self.text) - 1,
            *(chance.randrange(1, len(self.text)) for _ in range(50)),
        }
        for position in positions:
            path.write_text(self.text[:position])
            with self.subTest(position=position), self.assertRaises(brunt.BruntError) as raised:
                brunt.open(path)
            self.assertIn(f"{path} is not a JSON report of brunt", str(raised.exception))
            self.assertIsNone(raised.exception.exit_code)

    def test_other_documents_are_errors(self):
        data = json.loads(self.text)
        without = {key: value for key, value in data.items() if key != "verdict"}
        for text, message in [
            ("{}", "it has no `version`"),
            ("[]", "it has no `version`"),
            ("null", "it has no `version`"),
            ('"version"', "it has no `version`"),
            (json.dumps({**data, "version": 2}), "version 2 of the JSON report"),
            (json.dumps({**data, "version": "1"}), "version '1' of the JSON report"),
            (json.dumps(without), "`verdict` is missing"),
            ('{"version": 1}', "`plan` is missing"),
            ("[" * 100_000, "is not a JSON report"),
            (b"\xff\xfe{", "is not a JSON report"),
        ]:
            with self.subTest(message=message), self.assertRaises(brunt.BruntError) as raised:
                parse(text, "x.json")
            self.assertIn(message, str(raised.exception))
            self.assertIn("x.json", str(raised.exception))

    def test_later_keys_are_kept(self):
        data = {**json.loads(self.text), "later": {"a": 1}}
        self.assertEqual(parse(json.dumps(data), "x").later.a, 1)

    def test_files_that_cannot_be_read_are_errors(self):
        for name in ["nothing.json", "nothing"]:
            with self.assertRaises(brunt.BruntError) as raised:
                brunt.open(self.directory / name)
            self.assertEqual(raised.exception.exit_code, 2)
        path = self.directory / "binary.events"
        path.write_bytes(bytes(range(256)))
        with self.assertRaises(brunt.BruntError) as raised:
            brunt.open(path)
        self.assertIn("unsupported file format", str(raised.exception))
        with self.assertRaises(TypeError):
            brunt.open()


if __name__ == "__main__":
    unittest.main()

"""Stored runs are listed, opened and reported."""

import subprocess
import unittest

import brunt

from .support import LabTestCase


class Store(LabTestCase):
    def setUp(self):
        super().setUp()
        self.first = brunt.run(self.url, options={"requests": 20})
        self.second = brunt.run(self.url, rate=100, duration=0.5)

    def brunt(self, *arguments):
        subprocess.run([brunt.find_binary(), *arguments], check=True, capture_output=True)

    def test_runs_are_listed(self):
        self.brunt("runs", "tag", self.first.id, "before")
        self.brunt("runs", "note", self.first.id, "old kernel")
        self.brunt("runs", "pin", self.first.id)
        first, second = brunt.runs()
        self.assertEqual((first.id, second.id), (self.first.id, self.second.id))
        self.assertEqual((first.tags, first.note, first.pinned), (["before"], "old kernel", True))
        self.assertEqual((second.tags, second.note, second.pinned), ([], None, False))
        self.assertEqual((first.kind, first.progress, first.what), ("run", "whole", self.url))
        self.assertEqual(second.figures.throughput_per_second, self.second.throughput_per_second)

    def test_runs_are_opened_by_id_tag_and_last(self):
        self.brunt("runs", "tag", self.first.id, "before")
        for name in [self.first.id, self.first.id[:5], "before"]:
            result = brunt.open(name)
            self.assertEqual(result.id, self.first.id)
            self.assertIsNone(result.exit_code)
            self.assertEqual(result.to_dict(), self.first.to_dict())
        self.assertEqual(brunt.open("last").id, self.second.id)
        self.assertEqual(brunt.runs()[0].open().to_dict(), self.first.to_dict())

    def test_several_runs_are_one_study(self):
        study = brunt.open(self.first.id, self.second.id)
        self.assertIsInstance(study, brunt.Study)
        figures = [trial.throughput_per_second for trial in study.trials]
        results = [self.first, self.second]
        self.assertEqual(figures, [result.throughput_per_second for result in results])

    def test_experiments_are_listed_with_their_runs(self):
        study = brunt.sweep(self.url, rate="50..100+50", duration=0.2, options={"repeat": 1})
        self.assertEqual([item.kind for item in brunt.runs()], ["run", "run", "experiment"])
        self.assertEqual(len(brunt.runs(all=True)), 5)
        trials = [trial.id for trial in study.trials]
        self.assertEqual([item.id for item in brunt.runs(experiment=study.id)], trials)
        self.assertEqual(brunt.open("last").to_dict(), study.to_dict())
        self.assertEqual(brunt.open(trials[0]).id, trials[0])
        self.assertEqual(brunt.open(study.name).id, study.id)

    def test_reports_are_texts(self):
        self.assertIn("Verdict", brunt.report(self.first.id))
        self.assertIn("# ", brunt.report(self.first.id, format="markdown"))
        self.assertTrue(brunt.report("last", format="csv").startswith("from_seconds,"))
        self.assertIn("<html", brunt.report("last", format="html")[:500].lower())
        for format in ["", "markdown=x", "html=/tmp/x"]:
            with self.assertRaises(ValueError):
                brunt.report("last", format=format)
        with self.assertRaises(TypeError):
            brunt.report()

    def test_unknown_names_are_errors(self):
        for call in (
            lambda: brunt.open("nothing"),
            lambda: brunt.open("--store"),
            lambda: brunt.open(self.first.id, "nothing"),
            lambda: brunt.open(""),
            lambda: brunt.report("nothing"),
            lambda: brunt.report("last", format="nothing"),
            lambda: brunt.runs(experiment="nothing"),
            lambda: brunt.runs(experiment="--all"),
        ):
            with self.assertRaises(brunt.BruntError) as raised:
                call()
            self.assertEqual(raised.exception.exit_code, 2)
            self.assertTrue(str(raised.exception))
        with self.assertRaises(brunt.BruntError) as raised:
            brunt.open("nothing")
        self.assertEqual(
            str(raised.exception),
            "no stored run or experiment matches `nothing`; list them with `brunt runs list --all`",
        )

    def test_an_order_to_a_name_that_is_no_id_is_an_error(self):
        for name in ["../x", "", "nothing", self.first.id]:
            with self.assertRaises(brunt.BruntError):
                brunt.StoredItem({"id": name}).stop()


class NoStore(LabTestCase):
    def test_an_empty_store_has_no_runs(self):
        self.assertEqual(brunt.runs(), [])
        self.assertEqual(brunt.runs(self.directory / "missing"), [])
        with self.assertRaises(brunt.BruntError):
            brunt.open("last")

    def test_a_store_that_cannot_be_written_is_an_error_or_a_warning(self):
        file = self.directory / "file"
        file.write_text("x")
        with self.assertRaises(brunt.BruntError):
            brunt.runs(file)


if __name__ == "__main__":
    unittest.main()

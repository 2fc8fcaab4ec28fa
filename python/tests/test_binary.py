"""The program is found, and its absence is an error."""

import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

import brunt
from brunt import _binary

from .support import PROJECT, BruntTestCase


class FindBinary(BruntTestCase):
    def setUp(self):
        super().setUp()
        self.set_variable("PATH", str(self.directory / "path"))
        (self.directory / "path").mkdir()

    def program(self, name):
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o700)
        return str(path)

    def test_the_variable_comes_first(self):
        self.program("path/brunt")
        chosen = self.program("chosen")
        self.set_variable("BRUNT_BIN", chosen)
        self.assertEqual(brunt.find_binary(), chosen)

    def test_a_wrong_variable_is_an_error(self):
        self.program("path/brunt")
        plain = self.directory / "plain"
        plain.write_text("")
        for path in [str(self.directory / "missing"), str(self.directory), str(plain), "brunt"]:
            self.set_variable("BRUNT_BIN", path)
            with self.subTest(path=path), self.assertRaises(brunt.BinaryNotFoundError) as raised:
                brunt.find_binary()
            self.assertIn(
                f"BRUNT_BIN is `{path}`, which is not an executable", str(raised.exception)
            )

    def test_installed_programs_come_before_path(self):
        self.set_variable("BRUNT_BIN", None)
        in_path = self.program("path/brunt")
        with mock.patch.object(_binary, "_installed", lambda: iter([Path("/nothing")])):
            self.assertEqual(brunt.find_binary(), in_path)
        installed = self.program("installed/bin/brunt")
        with mock.patch.object(_binary, "_installed", lambda: iter([Path(installed)])):
            self.assertEqual(brunt.find_binary(), installed)

    def test_a_missing_program_is_an_error(self):
        self.set_variable("BRUNT_BIN", "")
        with mock.patch.object(_binary, "_installed", lambda: iter(())):
            for call in (
                brunt.find_binary,
                brunt.version,
                brunt.runs,
                lambda: brunt.run("http://127.0.0.1:1/"),
            ):
                with self.assertRaises(brunt.BinaryNotFoundError) as raised:
                    call()
                self.assertIn("the program `brunt` was not found", str(raised.exception))
                self.assertIsInstance(raised.exception, brunt.BruntError)

    def test_a_program_in_the_package_is_found(self):
        package = self.directory / "site" / "brunt"
        shutil.copytree(PROJECT / "src" / "brunt", package)
        program = self.program("site/brunt/bin/brunt")
        environment = {k: v for k, v in os.environ.items() if k != "BRUNT_BIN"}
        done = subprocess.run(
            [sys.executable, "-c", "import brunt; print(brunt.find_binary())"],
            env={**environment, "PYTHONPATH": str(self.directory / "site")},
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertEqual(done.stdout.strip(), program)


if __name__ == "__main__":
    unittest.main()

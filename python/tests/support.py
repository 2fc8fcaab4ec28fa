"""A reference server and a temporary store for the tests."""

import os
import shutil
import socket
import subprocess
import tempfile
import unittest
from pathlib import Path

import brunt

PROJECT = Path(__file__).resolve().parent.parent
REPOSITORY = PROJECT.parent


class Lab:
    """The reference server of brunt on a free port of loopback."""

    def __init__(self, service="exp:2ms", workers=8):
        self.process = subprocess.Popen(
            [
                brunt.find_binary(),
                "lab",
                "--listen=127.0.0.1:0",
                f"--service={service}",
                f"--workers={workers}",
            ],
            stdout=subprocess.PIPE,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        line = self.process.stdout.readline()
        self.url = line.split()[-1] + "/"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def closed_port():
    """Returns a port of loopback that refuses connections."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class BruntTestCase(unittest.TestCase):
    """A test with a store and a working directory of its own."""

    def setUp(self):
        self.directory = Path(tempfile.mkdtemp(prefix="brunt-test-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.set_variable("BRUNT_STORE", str(self.directory / "store"))

    def set_variable(self, name, value):
        before = os.environ.get(name)
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
        self.addCleanup(
            lambda: (
                os.environ.pop(name, None) if before is None else os.environ.update({name: before})
            )
        )


class LabTestCase(BruntTestCase):
    """A test with a reference server, which all tests of the class share."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.lab = Lab()
        cls.addClassCleanup(cls.lab.close)
        cls.url = cls.lab.url

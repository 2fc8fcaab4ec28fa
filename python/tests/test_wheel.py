"""The wheel contains the program, and works in a virtual environment."""

import base64
import csv
import hashlib
import importlib.util
import io
import os
import shutil
import struct
import subprocess
import sys
import unittest
import zipfile

import brunt

from .support import PROJECT, REPOSITORY, BruntTestCase, LabTestCase

SCRIPT = PROJECT / "build_wheel.py"


def elf(machine=62, interpreter=None, libraries=()):
    """Returns an ELF program that consists of its headers."""
    strings = b"\0" + b"".join(name.encode() + b"\0" for name in libraries)
    dynamic, position = b"", 1
    for name in libraries:
        dynamic += struct.pack("<qQ", 1, position)
        position += len(name) + 1
    body_start = 64 + 56 * 3
    loader = (interpreter or "").encode() + b"\0"
    strings_start = body_start + len(loader)
    dynamic += struct.pack("<qQqQ", 5, 0x400000 + strings_start, 0, 0)
    dynamic_start = strings_start + len(strings)
    total = dynamic_start + len(dynamic)
    segments = [struct.pack("<IIQQQQQQ", 1, 5, 0, 0x400000, 0x400000, total, total, 4096)]
    if interpreter:
        segments.append(struct.pack("<IIQQQQQQ", 3, 4, body_start, 0, 0, len(loader), 0, 1))
    if libraries is not None:
        segments.append(struct.pack("<IIQQQQQQ", 2, 4, dynamic_start, 0, 0, len(dynamic), 0, 8))
    header = struct.pack(
        "<16sHHIQQQIHHHHHH",
        b"\x7fELF\x02\x01\x01",
        2,
        machine,
        1,
        0,
        64,
        0,
        0,
        64,
        56,
        len(segments),
        0,
        0,
        0,
    )
    return (header + b"".join(segments)).ljust(body_start, b"\0") + loader + strings + dynamic


@unittest.skipIf(sys.version_info < (3, 11), "build_wheel.py needs Python 3.11")
@unittest.skipUnless(
    (REPOSITORY / "LICENSE-MIT").exists(), "wheels are built in the repository only"
)
class Build(BruntTestCase):
    @classmethod
    def setUpClass(cls):
        spec = importlib.util.spec_from_file_location("build_wheel", SCRIPT)
        cls.module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(cls.module)

    def setUp(self):
        super().setUp()
        self.set_variable("SOURCE_DATE_EPOCH", None)

    def write(self, content, name="brunt"):
        path = self.directory / name
        path.write_bytes(content)
        return path

    def test_a_static_program_runs_on_glibc_and_musl(self):
        for machine, name in [(62, "x86_64"), (183, "aarch64")]:
            path = self.module.build(self.write(elf(machine)), self.directory / "out")
            self.assertEqual(
                path.name,
                f"brunt-{brunt.__version__}-py3-none-manylinux_2_17_{name}.manylinux2014_{name}"
                f".musllinux_1_1_{name}.whl",
            )

    def test_a_dynamic_program_is_refused(self):
        for program, reason in [
            (elf(interpreter="/lib64/ld-linux-x86-64.so.2"), "/lib64/ld-linux-x86-64.so.2"),
            (elf(libraries=["libc.so.6", "libm.so.6"]), "libc.so.6, libm.so.6"),
        ]:
            path = self.write(program)
            with self.assertRaises(self.module.WheelError) as raised:
                self.module.build(path, self.directory / "out")
            self.assertIn(f"is linked dynamically ({reason})", str(raised.exception))
            self.assertIn("--allow-dynamic", str(raised.exception))
            self.assertFalse((self.directory / "out").exists())
            wheel = self.module.build(path, self.directory / "dynamic", allow_dynamic=True)
            self.assertEqual(wheel.name, f"brunt-{brunt.__version__}-py3-none-linux_x86_64.whl")

    def test_other_files_are_refused(self):
        whole = elf(libraries=["libc.so.6"])
        for content in [b"", b"#!/bin/sh\n", b"\x7fELF\x01\x01", elf(3), whole[:60], whole[:100]]:
            with self.subTest(content=content[:20]), self.assertRaises(self.module.WheelError):
                self.module.build(self.write(content), self.directory / "out")
        done = subprocess.run(
            [sys.executable, SCRIPT, self.directory / "missing"], capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("build_wheel.py: ", done.stderr)
        self.assertNotIn("Traceback", done.stderr)

    def test_two_builds_are_identical(self):
        program = self.write(elf())
        first = self.module.build(program, self.directory / "first")
        os.utime(program, (1, 1))
        second = self.module.build(program, self.directory / "second")
        self.assertEqual(first.read_bytes(), second.read_bytes())
        self.set_variable("SOURCE_DATE_EPOCH", "1700000000")
        third = self.module.build(program, self.directory / "third")
        with zipfile.ZipFile(third) as archive:
            self.assertEqual(
                {e.date_time for e in archive.infolist()}, {(2023, 11, 14, 22, 13, 20)}
            )
        self.assertEqual([path.name for path in (self.directory / "first").iterdir()], [first.name])

    def test_the_record_lists_all_files(self):
        program = elf()
        wheel = self.module.build(self.write(program), self.directory / "out")
        info = f"brunt-{brunt.__version__}.dist-info"
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
            record = list(csv.reader(io.StringIO(archive.read(f"{info}/RECORD").decode())))
            self.assertEqual(sorted(name for name, _, _ in record), sorted(names))
            for name, digest, size in record:
                content = archive.read(name)
                if name.endswith("RECORD"):
                    self.assertEqual((digest, size), ("", ""))
                    continue
                hashed = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode()
                self.assertEqual(digest, f"sha256={hashed.rstrip('=')}")
                self.assertEqual(size, str(len(content)))
            script = f"brunt-{brunt.__version__}.data/scripts/brunt"
            self.assertEqual(archive.read(script), program)
            self.assertEqual(archive.getinfo(script).external_attr >> 16, 0o100755)
            metadata = archive.read(f"{info}/METADATA").decode()
        self.assertIn("brunt/documents.py", names)
        self.assertIn("brunt/py.typed", names)
        self.assertIn(f"{info}/licenses/LICENSE-MIT", names)
        self.assertIn("License-Expression: MIT OR Apache-2.0\n", metadata)
        self.assertIn('Requires-Dist: pandas>=1.5; extra == "pandas"\n', metadata)
        self.assertIn((PROJECT / "README.md").read_text(encoding="utf-8"), metadata)
        self.assertFalse([name for name in names if "__pycache__" in name or "tests" in name])


@unittest.skipIf(sys.version_info < (3, 11), "build_wheel.py needs Python 3.11")
@unittest.skipUnless(
    (REPOSITORY / "LICENSE-MIT").exists(), "wheels are built in the repository only"
)
@unittest.skipUnless(importlib.util.find_spec("ensurepip"), "venv has no pip")
class Install(LabTestCase):
    def test_an_installed_wheel_measures(self):
        program = self.directory / "program" / "brunt"
        program.parent.mkdir()
        # A debug binary has 200 MB of symbols.
        if shutil.which("strip"):
            subprocess.run(["strip", "-o", program, brunt.find_binary()], check=True)
        else:
            shutil.copy(brunt.find_binary(), program)
        build = [sys.executable, SCRIPT, program, "--compression=1", "--allow-dynamic"]
        wheel = output([*build, f"--output={self.directory}"])
        environment = {k: v for k, v in os.environ.items() if k not in ("BRUNT_BIN", "PYTHONPATH")}
        environment["PATH"] = "/usr/bin:/bin"
        venv = self.directory / "venv"
        output([sys.executable, "-m", "venv", venv])
        pip = [venv / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "--quiet"]
        output([*pip, "install", "--no-index", wheel], env=environment)
        output([*pip, "check"], env=environment)
        script = (
            "import brunt, sys\n"
            "print(brunt.find_binary())\n"
            "result = brunt.run(sys.argv[1], options={'requests': 50})\n"
            "print(result.requests.completed, result.id)\n"
        )
        python = venv / "bin" / "python"
        lines = output([python, "-c", script, self.url], env=environment, cwd="/").splitlines()
        self.assertEqual(lines[0], str(venv / "bin" / "brunt"))
        self.assertEqual(lines[1].split()[0], "50")
        # The command is the program itself.
        self.assertEqual(
            output([venv / "bin" / "brunt", "--version"]), f"brunt {brunt.__version__}"
        )

        target = self.directory / "target"
        output([*pip, "install", "--no-index", f"--target={target}", wheel], env=environment)
        lines = output(
            [sys.executable, "-c", script, self.url], env={**environment, "PYTHONPATH": str(target)}
        ).splitlines()
        self.assertEqual(lines[0], str(target / "bin" / "brunt"))
        output([*pip, "uninstall", "--yes", "brunt"], env=environment)
        self.assertFalse((venv / "bin" / "brunt").exists())


def output(line, **options):
    done = subprocess.run(
        [str(each) for each in line], capture_output=True, text=True, timeout=120, **options
    )
    if done.returncode != 0:
        raise AssertionError(f"exit code {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout.strip()


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Builds a wheel of the package that contains the program.

    python3 python/build_wheel.py dist/brunt --output dist/

The program prints the schemas from which the classes of its reports are generated, so it must run
on this machine.
Needs Python 3.11 or newer, and nothing else. The same program and commit give the same wheel: all
times in it are SOURCE_DATE_EPOCH, by default 1980-01-01.
"""

import argparse
import base64
import hashlib
import os
import re
import struct
import sys
import time
import tomllib
import zipfile
from pathlib import Path

import generate_documents

PROJECT = Path(__file__).resolve().parent
LICENSES = ("LICENSE-APACHE", "LICENSE-MIT")
# e_machine of ELF.
MACHINES = {62: "x86_64", 183: "aarch64"}
# A static binary needs no C library, so it runs on systems with any version of glibc or musl.
STATIC_PLATFORMS = ("manylinux_2_17", "manylinux2014", "musllinux_1_1")
PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3
DT_NULL, DT_NEEDED, DT_STRTAB = 0, 1, 5
# The earliest time that zip can store: 1980-01-01.
EARLIEST = 315532800


class WheelError(Exception):
    """The wheel cannot be built."""


def main():
    parser = argparse.ArgumentParser(description="Builds a wheel that contains the program brunt.")
    parser.add_argument("binary", type=Path, help="the program; a static binary")
    parser.add_argument(
        "--output", type=Path, default=Path("."), help="directory of the wheel [default: .]"
    )
    parser.add_argument(
        "--allow-dynamic",
        action="store_true",
        help="also accept a binary that needs shared libraries; the wheel then has the tag "
        "linux_ARCH, which PyPI refuses",
    )
    parser.add_argument(
        "--compression", type=int, default=9, choices=range(10), help="level of zlib [default: 9]"
    )
    arguments = parser.parse_args()
    try:
        generate_documents.write(arguments.binary.absolute())
        print(
            build(
                arguments.binary, arguments.output, arguments.allow_dynamic, arguments.compression
            )
        )
    except (WheelError, generate_documents.GenerationError, OSError) as error:
        sys.exit(f"build_wheel.py: {error}")


def build(binary, output, allow_dynamic=False, compression=9):
    """Writes the wheel of the program and of src/brunt to a directory, and returns its path."""
    program = binary.read_bytes()
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version = package_version()
    tags = [f"py3-none-{platform}" for platform in platforms(program, binary, allow_dynamic)]
    info = f"brunt-{version}.dist-info"

    files = {}
    for path in sorted((PROJECT / "src" / "brunt").rglob("*")):
        if path.is_file() and path.suffix in (".py", ".typed"):
            files[path.relative_to(PROJECT / "src").as_posix()] = path.read_bytes()
    # The installer copies this file to the `bin` directory of the environment, so `brunt` is a
    # command. A console script would start Python first: slower, and with its own handling of
    # signals and exit codes. The package finds the program there (src/brunt/_binary.py); a copy in
    # the package would double the size of the wheel.
    script = f"brunt-{version}.data/scripts/brunt"
    files[script] = program
    files[f"{info}/METADATA"] = metadata(project, version).encode()
    files[f"{info}/WHEEL"] = wheel_file(tags).encode()
    for name in LICENSES:
        files[f"{info}/licenses/{name}"] = (PROJECT.parent / name).read_bytes()
    record = f"{info}/RECORD"
    files[record] = record_file(files, record).encode()

    platform_tag = ".".join(tag.removeprefix("py3-none-") for tag in tags)
    target = output / f"brunt-{version}-py3-none-{platform_tag}.whl"
    output.mkdir(parents=True, exist_ok=True)
    partial = target.with_suffix(".partial")
    write_zip(partial, files, script, compression)
    partial.replace(target)
    return target


def package_version():
    text = (PROJECT / "src" / "brunt" / "__init__.py").read_text(encoding="utf-8")
    return re.search(r'^__version__ = "([^"]+)"$', text, re.MULTILINE).group(1)


def platforms(program, path, allow_dynamic):
    """Returns the platform tags for this program."""
    machine, libraries = examine(program, path)
    if not libraries:
        return [f"{platform}_{machine}" for platform in STATIC_PLATFORMS]
    if not allow_dynamic:
        raise WheelError(
            f"{path} is linked dynamically ({', '.join(libraries)}); "
            "build a static one with `make dist`, or add --allow-dynamic for this system only"
        )
    return [f"linux_{machine}"]


def examine(program, path):
    """Returns the machine of an ELF program, and the loader and libraries that it needs."""
    try:
        if program[:4] != b"\x7fELF" or program[4:6] != b"\x02\x01":
            raise WheelError(f"{path} is not a 64-bit little-endian ELF program")
        machine = MACHINES.get(struct.unpack_from("<H", program, 18)[0])
        if machine is None:
            raise WheelError(
                f"{path} is for a machine other than {' and '.join(MACHINES.values())}"
            )
        offset = struct.unpack_from("<Q", program, 32)[0]
        size, number = struct.unpack_from("<HH", program, 54)
        segments = [
            struct.unpack_from("<IIQQQQQQ", program, offset + size * each) for each in range(number)
        ]
        return machine, needed(program, segments)
    except (struct.error, IndexError, ValueError, StopIteration) as error:
        raise WheelError(f"{path} is not a complete ELF program: {error}") from None


def needed(program, segments):
    """Returns the loader and the shared libraries of a program. A static one has neither."""
    names = []
    for kind, _, start, _, _, length, _, _ in segments:
        if kind == PT_INTERP:
            names.append(program[start : start + length].rstrip(b"\0").decode())
        if kind == PT_DYNAMIC:
            entries = struct.iter_unpack("<qQ", program[start : start + length])
            entries = [(tag, value) for tag, value in entries if tag != DT_NULL]
            libraries = [value for tag, value in entries if tag == DT_NEEDED]
            if libraries:
                table = file_offset(
                    segments, next(value for tag, value in entries if tag == DT_STRTAB)
                )
                names += [text(program, table + value) for value in libraries]
    return names


def file_offset(segments, address):
    for kind, _, offset, virtual, _, length, _, _ in segments:
        if kind == PT_LOAD and virtual <= address < virtual + length:
            return offset + address - virtual
    raise ValueError("the table of strings is in no segment")


def text(program, start):
    return program[start : program.index(b"\0", start)].decode()


def metadata(project, version):
    """Returns the metadata of the package (version 2.4) from pyproject.toml."""
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {project['name']}",
        f"Version: {version}",
        f"Summary: {project['description']}",
        f"License-Expression: {project['license']}",
        *(f"License-File: {name}" for name in LICENSES),
        f"Keywords: {','.join(project['keywords'])}",
        *(f"Classifier: {classifier}" for classifier in project["classifiers"]),
        *(f"Project-URL: {name}, {url}" for name, url in project["urls"].items()),
        f"Requires-Python: {project['requires-python']}",
    ]
    for extra, requirements in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [
            f'Requires-Dist: {requirement}; extra == "{extra}"' for requirement in requirements
        ]
    lines.append("Description-Content-Type: text/markdown")
    return "\n".join(lines) + "\n\n" + (PROJECT / project["readme"]).read_text(encoding="utf-8")


def wheel_file(tags):
    lines = ["Wheel-Version: 1.0", "Generator: brunt build_wheel.py", "Root-Is-Purelib: false"]
    return "\n".join(lines + [f"Tag: {tag}" for tag in tags]) + "\n"


def record_file(files, record):
    """Returns the list of all files with their SHA-256 and size."""
    lines = []
    for name, content in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}\n")
    return "".join(lines) + f"{record},,\n"


def write_zip(path, files, executable, compression):
    seconds = max(int(os.environ.get("SOURCE_DATE_EPOCH", EARLIEST)), EARLIEST)
    with zipfile.ZipFile(path, "w") as archive:
        # The metadata are last, as PEP 427 recommends.
        for name in sorted(files, key=lambda name: (".dist-info/" in name, name)):
            entry = zipfile.ZipInfo(name, time.gmtime(seconds)[:6])
            entry.create_system = 3
            entry.external_attr = (0o100755 if name == executable else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED if compression else zipfile.ZIP_STORED
            archive.writestr(entry, files[name], compresslevel=compression or None)


if __name__ == "__main__":
    main()

"""Tests of the package. In the directory python/:

    BRUNT_BIN=../target/debug/brunt python3 -m unittest

All servers listen on loopback, and every process that a test starts is ended by it.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

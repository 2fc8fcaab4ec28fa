#!/bin/sh
# Tests the Python package with the built program. `python3` must be that of Debian, whose packages tools/test.sh installs.
set -eu
. tools/lib.sh

python=/usr/bin/python3
if ! [ -x $python ] || ! $python -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    skipped python "no $python of version 3.11 or later (apt-get install python3 python3-pandas python3-venv)"
    exit 0
fi

say "the Python package"
$python python/generate_documents.py --check
PYTHONDONTWRITEBYTECODE=1 $python -m unittest discover -t python -s python/tests

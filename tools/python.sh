#!/bin/sh
# Tests the Python package with the built program: tools/python.sh [MODULE…], such as test_store. `python3` must be that of Debian, whose packages tools/test.sh installs.
set -eu
. tools/lib.sh

python=/usr/bin/python3
if ! [ -x $python ] || ! $python -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    skipped python "no $python of version 3.11 or later (apt-get install python3 python3-pandas python3-venv)"
    exit 0
fi

[ $# -gt 0 ] || set -- $(basename -s .py -a python/tests/test_*.py)
cd python
$python generate_documents.py "$BRUNT_BIN"
for module; do PYTHONDONTWRITEBYTECODE=1 $python -m unittest "tests.$module"; done

#!/bin/sh
# The integration tests of one module, at full length, one at a time: tools/prove_tests.sh MODULE EVIDENCE-DIRECTORY
set -eu
cargo test --no-run --locked -p brunt-tests --test it
code=0
cargo test --locked -p brunt-tests --test it -- "$1::" --include-ignored --nocapture --test-threads=1 >"$2/$1.txt" 2>&1 || code=$?
cat "$2/$1.txt"
if ! grep -q '^test result: ok. [1-9]' "$2/$1.txt"; then
    echo "no test of $1:: has passed, so nothing is proved" >&2
    exit 1
fi
exit $code

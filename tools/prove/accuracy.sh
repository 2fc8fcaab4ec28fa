#!/bin/sh
# What brunt reports against what brunt-lab knows: the tests of tests/it/accuracy.rs, at full length, one at a time.
set -eu
cargo test --no-run --locked -p brunt-tests --test it
code=0
cargo test --locked -p brunt-tests --test it -- accuracy:: --nocapture --test-threads=1 >"$1/accuracy.txt" 2>&1 || code=$?
cat "$1/accuracy.txt"
if ! grep -q '^test result: ok. [1-9]' "$1/accuracy.txt"; then
    echo "no test of accuracy:: has passed, so nothing is proved" >&2
    exit 1
fi
exit $code

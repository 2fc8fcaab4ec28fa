#!/bin/sh
# Comparisons: 1,000 simulated ones of each kind, then real servers: dev/tests/it/compare.rs.
set -eu
code=0
cargo test --locked -p brunt-judge --lib _in_full -- --nocapture >"$1/compare-simulated.txt" 2>&1 || code=$?
cat "$1/compare-simulated.txt"
sh tools/prove_tests.sh compare "$1" || code=$?
exit $code

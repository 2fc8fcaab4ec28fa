#!/bin/sh
# Coverage of the 95 % intervals: 1,000 simulated runs of each kind, as a Markdown table.
set -eu
code=0
cargo test --locked -p brunt-judge --test coverage the_full_proof -- --nocapture >"$1/intervals.txt" 2>&1 || code=$?
cat "$1/intervals.txt"
exit $code

#!/bin/sh
# How often the 95 % intervals hold the truth: 1000 simulated runs of each kind, as a Markdown table.
set -eu
code=0
cargo test --locked -p brunt-judge --test coverage the_full_proof -- --nocapture >"$1/intervals.txt" 2>&1 || code=$?
cat "$1/intervals.txt"
exit $code

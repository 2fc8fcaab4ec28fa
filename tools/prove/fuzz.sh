#!/bin/sh
# Runs each fuzz target for two minutes: no panic, at most 10 s and 2 GB per input. SKIPPED without nightly and cargo-fuzz.
set -eu
. tools/lib.sh
log=$BUILT/fuzz.log
code=0
sh tools/fuzz.sh all 120 --if-possible >"$log" 2>&1 || code=$?
if [ "$code" != 0 ]; then tail -n 40 "$log"; fi
grep -E '^(== |SKIPPED |Done )' "$log" | tee "$1/fuzz.txt"
exit "$code"

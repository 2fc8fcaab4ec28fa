#!/bin/sh
# Cost of scenarios compared with wrk, JMeter and k6, on one nginx: dev/bench/src/bin/scenarios.rs. JMeter and k6 come from
# their registries; a row without its tool is SKIPPED.
set -eu
. tools/lib.sh
set -- "$1" --rounds 5 --seconds 30
k6=$BUILT/k6/k6
if sh tools/jmeter.sh "$BUILT/jmeter"; then set -- "$@" --jmeter "$BUILT/jmeter"; fi
if [ ! -x "$k6" ] && has go; then GOBIN=$BUILT/k6 go install go.k6.io/k6@v1.8.1 || true; fi
if [ -x "$k6" ]; then set -- "$@" --k6 "$k6"; fi
out=$1
shift
cargo run --release --locked -p brunt-bench --bin brunt-bench-scenarios -- --brunt "$BRUNT_BIN" --check \
    --out "$out/scenarios.md" --json "$out/scenarios.json" "$@"

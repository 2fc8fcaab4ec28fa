#!/bin/sh
# The performance targets (dev/bench/src/cases.rs), seven rounds, compared with wrk, ab, h2load and a bare loop.
set -eu
cargo run --release --locked -p brunt-bench -- --brunt "$BRUNT_BIN" --rounds 7 --check \
    --out "$1/performance.md" --json "$1/performance.json"

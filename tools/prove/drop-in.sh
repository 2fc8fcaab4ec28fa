#!/bin/sh
# Compares the cost of the drop-ins with the original tools on one nginx: dev/bench/src/bin/drop_ins.rs.
set -eu
cargo run --release --locked -p brunt-bench --bin brunt-bench-drop-ins -- --brunt "$BRUNT_BIN" --rounds 7 --check \
    --out "$1/drop-in.md" --json "$1/drop-in.json"

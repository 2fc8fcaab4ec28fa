#!/bin/sh
# Lag of requests and spacing of arrivals: the pacing case of dev/bench with its targets, seven rounds.
set -eu
cargo run --release --locked -p brunt-bench -- --brunt "$BRUNT_BIN" --lab "$BRUNT_LAB_BIN" --case pacing --rounds 7 \
    --check --out "$1/pacing.md" --json "$1/pacing.json"

#!/bin/sh
# How late requests leave, and how their arrivals are spaced: the pacing case of bench/ against its targets, seven rounds.
set -eu
cargo run --release --locked -p brunt-bench -- --brunt "$BRUNT_BIN" --lab "$BRUNT_LAB_BIN" --case pacing --rounds 7 \
    --check --out "$1/pacing.md" --json "$1/pacing.json"

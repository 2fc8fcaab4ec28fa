#!/bin/sh
# Cost of HTTP/3, gRPC and WebSocket compared with oha, ghz and k6, and the lag of each protocol in an open loop compared with
# HTTP/1.1: dev/bench/src/bin/protocols. The tools come from their registries; a row without its tool is SKIPPED.
set -eu
. tools/lib.sh
out=$1
set -- --rounds 5 --lag-rounds 15 --seconds 3
peers=$BUILT/peers
if has go; then
    [ -x "$peers/k6" ] || GOBIN=$peers go install go.k6.io/k6@v1.8.1 || true
    [ -x "$peers/ghz" ] || GOBIN=$peers go install github.com/bojand/ghz/cmd/ghz@v0.93.0 || true
fi
[ -x "$peers/bin/oha" ] || cargo install oha --version 1.16.0 --features http3 --locked --root "$peers" || true
if [ -x "$peers/k6" ]; then set -- "$@" --k6 "$peers/k6"; fi
if [ -x "$peers/ghz" ]; then set -- "$@" --ghz "$peers/ghz"; fi
if [ -x "$peers/bin/oha" ]; then set -- "$@" --oha "$peers/bin/oha"; fi
cargo run --release --locked -p brunt-bench --bin brunt-bench-protocols -- --brunt "$BRUNT_BIN" --lab "$BRUNT_LAB_BIN" --check \
    --out "$out/protocols.md" --json "$out/protocols.json" "$@"

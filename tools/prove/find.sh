#!/bin/sh
# Searches for a capacity: 1,000 with each simulated server, as JSON lines, then with real ones: dev/tests/it/find.rs, capacities.rs.
set -eu
code=0
rm -f "$1/find-simulated.jsonl"
cargo test --locked -p brunt-search --test it busy:: -- --nocapture || code=$?
BRUNT_PROVE_OUT=$1/find-simulated.jsonl cargo test --locked -p brunt-search --test it capacity:: -- --nocapture || code=$?
rm -f "$1/find-shapes.jsonl"
BRUNT_PROVE=1 BRUNT_PROVE_OUT=$1/find-shapes.jsonl cargo test --locked -p brunt-search --test it shapes:: -- --nocapture || code=$?
for module in find capacities; do sh tools/prove_tests.sh $module "$1" || code=$?; done
exit $code

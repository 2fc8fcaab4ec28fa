#!/bin/sh
# Whole experiments with Debian's servers: expected limits, named bottlenecks, no remaining processes: dev/tests/it/examples.rs.
exec sh tools/prove_tests.sh examples "$1"

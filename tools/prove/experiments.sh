#!/bin/sh
# Whole experiments with Debian's servers: limits where they must be, bottlenecks named, nothing left behind: dev/tests/it/examples.rs.
exec sh tools/prove_tests.sh examples "$1"

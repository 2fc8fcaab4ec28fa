#!/bin/sh
# Consistency checks of 50 runs and of one with a million requests, and runs that end at a target precision: dev/tests/it/truth.rs.
exec sh tools/prove_tests.sh truth "$1"

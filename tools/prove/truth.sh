#!/bin/sh
# Consistency checks of 50 sound runs and in one of a million requests, and runs that end when they know enough: dev/tests/it/truth.rs.
exec sh tools/prove_tests.sh truth "$1"

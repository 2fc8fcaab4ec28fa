#!/bin/sh
# Compares the figures of brunt with the truth of brunt-lab: dev/tests/it/accuracy.rs.
exec sh tools/prove_tests.sh accuracy "$1"

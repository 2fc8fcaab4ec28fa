#!/bin/sh
# What brunt reports against what brunt-lab knows: dev/tests/it/accuracy.rs.
exec sh tools/prove_tests.sh accuracy "$1"

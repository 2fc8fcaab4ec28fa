#!/bin/sh
# Causes each limit of the generator; the verdict must name only this one, and none for a healthy run: dev/tests/it/verdict.rs.
exec sh tools/prove_tests.sh verdict "$1"

#!/bin/sh
# In CI, a skipped test must be in dev/tests/needs.txt; elsewhere a skip is only reported.
# Reads the lines `SKIPPED name: why` of the file that BRUNT_SKIPS names.
set -eu
[ "${CI:-}" = true ] || exit 0

allowed() { awk '!/^#/ && $2 != "long" { print $1 }' dev/tests/needs.txt | grep -Fqx -- "$1"; }

surprises=0
while read -r line; do
    name=${line#SKIPPED }
    if ! allowed "${name%%: *}"; then
        echo "not allowed in CI (dev/tests/needs.txt): $line" >&2
        surprises=1
    fi
done <"$BRUNT_SKIPS"
exit $surprises

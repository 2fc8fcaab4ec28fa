#!/bin/sh
# In CI, a test may be skipped only if .ci/allowed-skips names it; elsewhere a skip is told and no more.
# Reads the lines `SKIPPED name: why` of the file that BRUNT_SKIPS names.
set -eu
[ "${CI:-}" = true ] || exit 0

allowed() { sed 's/[[:space:]]*#.*//; /^$/d' .ci/allowed-skips | grep -Fqx -- "$1"; }

surprises=0
while read -r line; do
    name=${line#SKIPPED }
    if ! allowed "${name%%: *}"; then
        echo "not allowed in CI (.ci/allowed-skips): $line" >&2
        surprises=1
    fi
done <"$BRUNT_SKIPS"
exit $surprises

#!/bin/sh
# Prints how many statistical promises (dev/tests/promises.txt) a run of all tests checked, simulated and in real time:
# tools/promises.sh FAILED LOG…, FAILED a file with one test a line. Fails if a simulated test did not run and pass.
set -eu
failed=$1
shift
seen=$(mktemp)
trap 'rm -f "$seen"' EXIT
# If a test prints something, its `ok` is on a later line. It passed if it ran, did not fail and was not skipped.
sed -n 's/^test \([^ ]*\) \.\.\. .*/\1/p' "$@" | sort -u | grep -Fvx -f "$failed" >"$seen" || true

awk -F ' *[|] *' -v seen="$seen" -v skips="${BRUNT_SKIPS:-/dev/null}" '
    BEGIN {
        while ((getline line <seen) > 0) ran[line] = 1
        while ((getline line <skips) > 0) if (split(line, part, /SKIPPED |: /) > 1) delete ran[part[2]]
    }
    /^#/ || NF < 3 { next }
    { promises++ }
    $2 in ran { simulated++ }
    !($2 in ran) { missing = missing "\n  " $1 ": " $2 }
    $3 != "-" { measurable++ }
    $3 != "-" && $3 in ran { measured++ }
    $3 != "-" && !($3 in ran) { unmeasured = unmeasured "\n  " $1 ": " $3 }
    END {
        printf "statistical promises: %d of %d checked in simulation, %d of %d in real time\n", simulated, promises, measured, measurable
        if (unmeasured) print "not checked in real time on this machine:" unmeasured
        if (missing) { print "not checked in simulation:" missing; exit 1 }
    }' dev/tests/promises.txt

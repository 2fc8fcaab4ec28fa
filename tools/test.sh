#!/bin/sh
# Installs the packages that the tests need, checks the source, runs every test, and prints a summary. `make test` and CI run this.
set -eu
. tools/lib.sh
sh tools/need.sh check

# A single build needs no incremental state (3 GB less), and fewer code units (a tenth less work).
if [ "${CI:-}" = true ]; then
    export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_CODEGEN_UNITS=4
fi

mkdir -p "$BUILT"
log=$BUILT/test.log
BRUNT_SKIPS=$BUILT/skips
BRUNT_BIN=$BUILT/debug/brunt
BRUNT_LAB_BIN=$BUILT/debug/brunt-lab
export BRUNT_SKIPS BRUNT_BIN BRUNT_LAB_BIN
: >"$BRUNT_SKIPS"

packages="nginx apache2 caddy apache2-utils wrk nghttp2-client siege httperf procps iproute2 openssl curl php-fpm tomcat10
openssh-server openssh-client chromium nats-server python3 python3-pandas python3-venv"
echo "brunt: checking the source, building, running all tests. Installed with apt-get, where missing (no service is started):"
echo "$packages"
# shellcheck disable=SC2086 # a list of arguments
sh tools/packages.sh $packages
# Apache JMeter is 70 MB from Maven's registry. It is downloaded only if java and mvn are installed.
if sh tools/jmeter.sh "$BUILT/jmeter"; then BRUNT_JMETER=$BUILT/jmeter && export BRUNT_JMETER; fi
# For the tests of the pages in a browser. Without it, tools/page.sh and the test of the studio report a skip.
if sh tools/axe.sh "$BUILT/axe.js"; then BRUNT_AXE=$BUILT/axe.js && export BRUNT_AXE; fi
sh tools/check.sh || die "make check failed (see above), so the tests were not run."

sh tools/page.sh --browser || die "the report page failed (see above), so the tests were not run."

say "the programs and their tests"
# shellcheck disable=SC2086 # a list of arguments
cargo build $ALL --bins --tests

sh tools/python.sh || die "the Python package failed (see above), so the other tests were not run."

# Tests marked `quiet` (dev/tests/needs.txt) measure in real time, and may disturb each other on two cores. A failed one runs
# again, alone, at most twice. The last result counts, and a retry is reported. Other tests have no retry.
beside=$BUILT/test-beside.log
left=$BUILT/test-left
: >"$log"

# failed LOG: prints the failed tests, one per line. A name in cargo's list of failures counts if it is the name of a test.
failed() {
    sed -n 's/^test \(.*\) \.\.\. .*/\1/p' "$1" | sort -u >"$BUILT/test-names"
    sed -n 's/^    \([^ ].*\)/\1/p' "$1" | sort -u | comm -12 - "$BUILT/test-names"
}

# unquiet FILE: prints the tests in the file that are not marked `quiet`.
unquiet() {
    awk '!/^#/ && ("," $2 ",") ~ /,quiet,/ { print $1 }' dev/tests/needs.txt | sort -u | comm -23 "$1" -
}

# passed LOG…: prints the number of passed tests.
passed() { cat "$@" | sed -n 's/^test result:.* \([0-9]*\) passed;.*/\1/p' | awk '{ n += $1 } END { print n + 0 }'; }

# alone: runs each test in "$left" alone, and leaves those in "$left" that failed or did not run.
alone() {
    { xargs -d '\n' cargo test $ALL --test it -- --exact --test-threads=1 <"$left" || true; } 2>&1 | tee "$log"
    sed -n 's/^test \(.*\) \.\.\. ok$/\1/p' "$log" | sort -u | comm -23 "$left" - >"$left.unseen"
    failed "$log" | sort -u - "$left.unseen" >"$left.again"
    mv "$left.again" "$left"
}

# timed: copies the output of tests, and lists tests of 20 s or longer in "$BUILT/slow". Parallel tests extend these times.
timed() {
    name='' last=$(date +%s)
    while IFS= read -r line; do
        printf '%s\n' "$line"
        case $line in
        "test "*" ... "*) name=${line#test } && name=${name%% *} ;;
        esac
        case $line in
        "running "*" test"*) last=$(date +%s) ;;
        "test "*" ... ok" | "test "*" ... FAILED" | ok | FAILED)
            took=$(($(date +%s) - last))
            if [ "$took" -ge 20 ]; then printf '%4d s  %s\n' "$took" "$name" >>"$BUILT/slow"; fi
            last=$((last + took))
            ;;
        esac
    done
}

say "all tests"
: >"$BUILT/slow"
{
    code=0
    # First the tests that may run in parallel, then those that measure alone.
    cargo test $ALL --no-fail-fast --lib --bins --test '[!i]*' || code=$?
    cargo test $ALL --no-fail-fast --doc || code=$?
    cargo test $ALL --no-fail-fast --test it -- \
        --skip accuracy:: --skip verdict:: --skip find:: --skip compare:: --skip capacities:: --skip examples:: || code=$?
    for module in accuracy verdict find compare capacities examples; do
        cargo test $ALL --test it "$module::" -- --test-threads=1 --nocapture || code=$?
    done
    # sh has no pipefail: a file carries the exit code around tee.
    echo $code >"$BUILT/test.code"
} 2>&1 | timed | tee "$beside"
code=$(cat "$BUILT/test.code")
failed "$beside" >"$left"
cp "$left" "$left.first"
# If the build failed, or a test ended its process, later tests did not run and no list contains them.
whole() { [ "$(grep -c '^running [0-9]* test' "$1")" = "$(grep -c '^test result: ' "$1")" ]; }
unquiet "$left" >"$left.unquiet"
if [ -s "$left" ] && [ ! -s "$left.unquiet" ] && whole "$beside" && ! grep -q 'could not compile' "$beside"; then
    for turn in first second; do
        if [ -s "$left" ]; then say "$turn retry, alone, of tests that need a quiet machine" && cat "$left" && alone; fi
    done
    code=0
    if [ -s "$left" ]; then code=1; fi
fi

# CI fuzzes each parser for a minute; elsewhere use `make fuzz`. A finding is a failure.
if [ "$code" = 0 ] && [ "${CI:-}" = true ]; then sh tools/fuzz.sh all 60 --if-possible || code=$?; fi

# reasons: copies the list of slow tests, with the reasons of those that took more than a minute.
reasons() {
    while read -r took unit name; do
        reason=
        if [ "$took" -gt 60 ]; then
            reason=$(awk -v name="$name" '$1 == name && $2 ~ /long/ { sub(/^[^#]*/, ""); print }' dev/tests/needs.txt)
            : "${reason:=# longer than a minute, and dev/tests/needs.txt has no reason}"
        fi
        printf '%4d %s  %s  %s\n' "$took" "$unit" "$name" "$reason"
    done
}
if [ -s "$BUILT/slow" ]; then say "slow tests" && sort -rn "$BUILT/slow" | reasons; fi
if [ -s "$BRUNT_SKIPS" ]; then say "skipped" && sort -u "$BRUNT_SKIPS"; fi
say "$(passed "$beside" "$log") tests passed, $(wc -l <"$left") failed, $(sort -u "$BRUNT_SKIPS" | wc -l) skipped, in $((($(date +%s) - STARTED + 59) / 60)) min"
mended=$(comm -23 "$left.first" "$left")
if [ -n "$mended" ]; then printf 'failed at first, passed alone:\n%s\n' "$mended"; fi

if [ -s "$left" ]; then echo "failed:" && cat "$left"; fi
sh tools/promises.sh "$left" "$beside" "$log" || code=1

if [ "$code" != 0 ]; then
    die "tests failed. Look for FAILED in $beside and $log; one alone: cargo test --workspace NAME (CONTRIBUTING.md)"
fi
sh tools/skips.sh
echo "all tests passed. Next: make demo (see it work), make bench (beside wrk, ab and h2load), CONTRIBUTING.md"

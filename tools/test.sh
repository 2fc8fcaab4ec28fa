#!/bin/sh
# Installs what the tests need, checks the source, runs every test, and sums up. `make test` and CI are this.
set -eu
. tools/lib.sh
sh tools/need.sh check

began=$(date +%s)
mkdir -p "$BUILT"
log=$BUILT/test.log
BRUNT_SKIPS=$BUILT/skips
BRUNT_BIN=$BUILT/release/brunt
BRUNT_LAB_BIN=$BUILT/release/brunt-lab
export BRUNT_SKIPS BRUNT_BIN BRUNT_LAB_BIN
: >"$BRUNT_SKIPS"

echo "brunt: installing what the tests need, checking the source, building in release, running all tests"
sh tools/packages.sh nginx apache2 apache2-utils wrk nghttp2-client siege httperf procps iproute2 openssl curl \
    php-fpm tomcat10 openssh-server openssh-client chromium
sh tools/check.sh || die "make check failed (see above), so the tests were not run."

sh tools/page.sh --browser || die "the report page failed (see above), so the tests were not run."

say "the programs, as they are shipped"
build_programs

say "all tests"
# What may measure beside others. Many of these tests hold servers and clocks to instants, and two cores are few for all of
# them: what fails here is tried once more below, alone, and that counts.
beside=$BUILT/test-beside.log
{
    code=0
    cargo test --workspace --exclude brunt-tests --locked --no-fail-fast || code=$?
    cargo test --locked -p brunt-tests --no-fail-fast -- \
        --skip accuracy:: --skip verdict:: --skip find:: --skip compare:: --skip capacities:: --skip examples:: || code=$?
    # sh knows no pipefail: the exit code goes around tee, by way of a file.
    echo $code >"$BUILT/test.code"
} 2>&1 | tee "$beside" | sed -u 's/^\(test .*\) \.\.\. FAILED$/\1 ... once more, alone, below/'
beside_code=$(cat "$BUILT/test.code")
again=$BUILT/test.again
sed -n 's/^test \(.*\) \.\.\. FAILED$/\1/p' "$beside" | sort -u >"$again"

{
    code=0
    if [ -s "$again" ]; then
        say "once more and alone: what failed beside others" && cat "$again"
        # The same two as above: with all at once, cargo would build with other features.
        for those in '--workspace --exclude brunt-tests' '-p brunt-tests'; do
            # shellcheck disable=SC2086 # its words
            xargs -d '\n' cargo test $those --locked --no-fail-fast -- --exact --test-threads=1 <"$again" || code=$?
        done
    fi
    # It did not build, or a test ended its process, and those behind it were not run.
    if grep -q 'could not compile\|(signal: ' "$beside"; then code=$beside_code; fi
    # What measures alone.
    for module in accuracy verdict find compare capacities examples; do
        cargo test --locked -p brunt-tests --test it "$module::" -- --test-threads=1 --nocapture || code=$?
    done
    echo $code >"$BUILT/test.code"
} 2>&1 | tee "$log"

# total WHAT FILE…: `test result: ok. 12 passed; 0 failed; 3 ignored; …`, over all of them
total() {
    what=$1 && shift
    cat "$@" | sed -n "s/^test result:.* \([0-9]*\) $what;.*/\1/p" | awk '{ n += $1 } END { print n + 0 }'
}

if [ -s "$BRUNT_SKIPS" ]; then say "skipped" && sort -u "$BRUNT_SKIPS"; fi
failed=$(total failed "$log")
# Those of "$again" that are fine alone: their lines in the second log.
alone=$(sed 's/.*/test & ... ok/' "$again" | grep -Fx -f - "$log" | sed 's/^test \(.*\) \.\.\. ok$/  \1/' | sort -u)
say "$(total passed "$beside" "$log") tests passed, $failed failed, $(sort -u "$BRUNT_SKIPS" | wc -l) skipped, in $((($(date +%s) - began + 59) / 60)) min"
if [ -n "$alone" ]; then printf 'failed beside others, passed alone:\n%s\n' "$alone"; fi

if [ "$(cat "$BUILT/test.code")" != 0 ]; then
    die "tests failed. Look for FAILED in $log (and in $beside); one alone: cargo test --workspace NAME (CONTRIBUTING.md)"
fi
sh tools/skips.sh
echo "all is well. Next: make demo (see it work), make bench (beside wrk, ab and h2load), CONTRIBUTING.md"

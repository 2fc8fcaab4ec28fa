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
# sh knows no pipefail: the exit code goes around tee, by way of a file.
{
    code=0
    # What measures alone, and what may measure beside others.
    cargo test --workspace --exclude brunt-tests --locked --no-fail-fast || code=$?
    cargo test --locked -p brunt-tests --no-fail-fast -- \
        --skip accuracy:: --skip verdict:: --skip find:: --skip compare:: --skip capacities:: --skip examples:: || code=$?
    for module in accuracy verdict find compare capacities examples; do
        cargo test --locked -p brunt-tests --test it "$module::" -- --test-threads=1 --nocapture || code=$?
    done
    echo $code >"$BUILT/test.code"
} 2>&1 | tee "$log"

# total WHAT: `test result: ok. 12 passed; 0 failed; 3 ignored; …`, over all of them
total() { sed -n "s/^test result:.* \([0-9]*\) $1;.*/\1/p" "$log" | awk '{ n += $1 } END { print n + 0 }'; }

if [ -s "$BRUNT_SKIPS" ]; then say "skipped" && sort -u "$BRUNT_SKIPS"; fi
failed=$(total failed)
say "$(total passed) tests passed, $failed failed, $(sort -u "$BRUNT_SKIPS" | wc -l) skipped, in $((($(date +%s) - began + 59) / 60)) min"

if [ "$(cat "$BUILT/test.code")" != 0 ]; then
    die "tests failed. Look for FAILED in $log; one alone: cargo test --workspace NAME (CONTRIBUTING.md)"
fi
sh tools/skips.sh
echo "all is well. Next: make demo (see it work), make bench (beside wrk, ab and h2load), CONTRIBUTING.md"

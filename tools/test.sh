#!/bin/sh
# Installs the packages that the tests need, checks the source, runs every test, and prints a summary. `make test` and CI run this.
# tools/test.sh PART… runs only parts: check, pages, unit, integration, measured (tests that need a quiet machine).
set -eu
. tools/lib.sh
sh tools/need.sh test

[ $# -gt 0 ] || set -- check pages unit integration measured
parts=" $* "
for part; do
    case " check pages unit integration measured " in
    *" $part "*) ;;
    *) die "there is no part \`$part\` of the tests; there are: check, pages, unit, integration, measured" ;;
    esac
done
includes() { case $parts in *" $1 "*) ;; *) return 1 ;; esac }

# A single build needs no incremental state (3 GB less), and fewer code units (a tenth less work).
if [ "${CI:-}" = true ]; then
    export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_CODEGEN_UNITS=4
fi

mkdir -p "$BUILT"
BRUNT_STAGES=$BUILT/stage-times.tsv
BRUNT_SKIPS=$BUILT/skips
BRUNT_BIN=$BUILT/debug/brunt
BRUNT_LAB_BIN=$BUILT/debug/brunt-lab
export BRUNT_STAGES BRUNT_SKIPS BRUNT_BIN BRUNT_LAB_BIN
: >"$BRUNT_STAGES"
: >"$BRUNT_SKIPS"

packages="nginx apache2 caddy apache2-utils wrk nghttp2-client siege httperf procps iproute2 openssl curl php-fpm tomcat10
openssh-server openssh-client chromium nats-server python3 python3-pandas python3-venv"
echo "brunt: $*. Installed with apt-get, where missing (no service is started):"
echo "$packages"
say "packages"
# shellcheck disable=SC2086 # a list of arguments
sh tools/packages.sh $packages
# Apache JMeter is 70 MB from Maven's registry. It is downloaded only if java and mvn are installed.
if sh tools/jmeter.sh "$BUILT/jmeter"; then BRUNT_JMETER=$BUILT/jmeter && export BRUNT_JMETER; fi
# For the tests of the pages in a browser, which report a skip without it.
if sh tools/axe.sh "$BUILT/axe.js"; then BRUNT_AXE=$BUILT/axe.js && export BRUNT_AXE; fi

if includes check; then sh tools/check.sh; fi
if includes pages; then sh tools/page.sh; fi

if ! includes unit && ! includes integration && ! includes measured && ! includes pages; then exit 0; fi

say "the programs and their tests"
programs=$BUILT/test-programs.json
# shellcheck disable=SC2086 # a list of arguments
cargo build $ALL --bins --tests --example made_up --message-format=json-render-diagnostics >"$programs"

say "tests"
code=0
python3 tools/tests.py "$programs" $parts || code=$?

# CI fuzzes each parser for a minute; elsewhere use `make fuzz`. A finding is a failure.
if [ "$code" = 0 ] && [ "${CI:-}" = true ] && includes unit; then sh tools/fuzz.sh all 60 --if-possible || code=$?; fi

python3 tools/test_report.py $parts || code=$?
elapsed=$((($(date +%s) - STARTED + 59) / 60))
if [ "$code" != 0 ]; then
    die "tests failed after $elapsed min (see above). One alone: cargo test --workspace NAME (CONTRIBUTING.md)"
fi
echo "all tests passed in $elapsed min. Next: make demo (see it work), make bench (beside wrk, ab and h2load), CONTRIBUTING.md"

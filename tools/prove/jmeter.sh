#!/bin/sh
# Elapsed times of `brunt jmeter` and Apache JMeter 5.6.3 on ten plans, five runs of each; and equal samples on all plans of
# dev/tests/data/jmeter. SKIPPED without JMeter.
set -eu
. tools/lib.sh
if ! sh tools/jmeter.sh "$BUILT/jmeter"; then
    skipped jmeter "Apache JMeter cannot be had: it needs java, mvn and Maven's registry"
    exit 0
fi
BRUNT_JMETER=$BUILT/jmeter
BRUNT_JMETER_EVIDENCE=$1/jmeter.md
export BRUNT_JMETER BRUNT_JMETER_EVIDENCE
cargo test --locked -p brunt-tests --test it -- compat::jmeter:: --nocapture --test-threads=1

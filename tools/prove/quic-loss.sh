#!/bin/sh
# Compares the QUIC packets that brunt reports as lost with those that a UDP proxy dropped, in each direction, for the lab and caddy:
# dev/tests/it/http3/loss.rs. Fails if a count differs by more than 10 %, or fewer than 2,000 packets were lost.
set -eu
. tools/lib.sh
out=$1/quic-loss.md
rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
code=0
BRUNT_PROVE_OUT=$rows cargo test --locked -p brunt-tests --test it -- http3::loss::loss_ --nocapture --test-threads=1 || code=$?
grep -q '^| brunt-lab ' "$rows" || { echo "no test of http3::loss:: has passed, so nothing is proved" >&2; exit 1; }
has caddy || skipped "quic-loss: caddy" "caddy is not installed (apt-get install caddy)"
{
    echo "# QUIC packets reported as lost, and packets that were dropped"
    echo
    echo "A UDP proxy between brunt and the server drops each datagram with the same chance: one in ten with brunt-lab (replies of 10"
    echo "bytes), one in 100 with caddy (replies of 200 kB). Both count for themselves. Loopback, $(nproc) CPUs, $(date -u +%Y-%m-%d)."
    echo "A server skips some packet numbers on purpose (RFC 9000 section 21.4, RFC 9002 section 6.2.4); they count as lost on the way"
    echo "from it. Target: within 10 %, with at least 2,000 lost packets in each direction."
    echo
    echo "| server | direction | datagrams | dropped | reported as lost | deviation |"
    echo "|---|---|---:|---:|---:|---:|"
    cat "$rows"
} >"$out"
cat "$out"
exit $code

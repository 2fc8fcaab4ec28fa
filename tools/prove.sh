#!/bin/sh
# Runs the proofs: all targets of the project, each with its evidence in docs/proof/.
#
# A proof is a file tools/prove/NAME.sh. It is started with the directory for its evidence as $1 and with BRUNT_BIN,
# BRUNT_LAB_BIN and BRUNT_PROVE=1 in its environment; it writes $1/NAME.*, and it fails if a target is missed.
# tools/prove.sh NAME… runs only these. docs/proof/README.md has a row for each proof, with its latest result.
set -eu
. tools/lib.sh
sh tools/need.sh
sh tools/packages.sh nginx apache2 caddy apache2-utils wrk nghttp2-client siege httperf procps iproute2 openssl curl \
    php-fpm tomcat10

proof=$PWD/docs/proof
BRUNT_PROVE=1
BRUNT_BIN=$BUILT/release/brunt
BRUNT_LAB_BIN=$BUILT/release/brunt-lab
export BRUNT_PROVE BRUNT_BIN BRUNT_LAB_BIN
[ $# -gt 0 ] || set -- $(basename -s .sh -a tools/prove/*.sh)
for name in "$@"; do
    [ -f "tools/prove/$name.sh" ] || die "there is no proof \`$name\`; there are: $(basename -s .sh -a tools/prove/*.sh | xargs)"
done
mkdir -p "$proof"
build_programs

commit() { git describe --always --dirty --abbrev=12 2>/dev/null || echo "no git here"; }

# record NAME RESULT SECONDS: replaces the row of a proof.
record() {
    page=$proof/README.md
    touch "$page"
    {
        echo "# What was proved"
        echo
        echo "Each proof is \`tools/prove/NAME.sh\`; its evidence stands beside this page. \`make prove\` makes all of them."
        echo
        echo "| proof | result | took | date | commit | machine |"
        echo "|---|---|---|---|---|---|"
        {
            grep '^| ' "$page" | grep -v -e '^| proof ' -e "^| $1 " || true
            echo "| $1 | $2 | $3 s | $(date -u +%Y-%m-%d) | $(commit) | $(uname -sr), $(nproc) CPUs |"
        } | sort
    } >"$page.new"
    mv "$page.new" "$page"
}

missed=
for name in "$@"; do
    say "proof: $name"
    began=$(date +%s)
    if sh "tools/prove/$name.sh" "$proof"; then result=met; else result=missed missed="$missed $name"; fi
    record "$name" "$result" $(($(date +%s) - began))
done

say "the proofs" && tail -n +5 "$proof/README.md"
[ -z "$missed" ] || die "missed:$missed. The evidence is in docs/proof/"
echo "all targets are met. The evidence is in docs/proof/"

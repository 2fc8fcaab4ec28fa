#!/bin/sh
# Compares brunt with wrk, ab and h2load on an nginx that the script starts. Arguments go to brunt-bench (dev/bench/README.md).
set -eu
. tools/lib.sh
sh tools/need.sh
sh tools/packages.sh nginx wrk apache2-utils nghttp2-client

mkdir -p docs
build_programs
# Rewrites the page, except for its last section, the figures of the builds.
builds=$(sed -n '/^## Builds/,$p' docs/performance.md 2>/dev/null || true)
code=0
cargo run --release --locked -p brunt-bench -- --brunt "$BUILT/release/brunt" "$@" || code=$?
if [ -n "$builds" ] && ! grep -q '^## Builds' docs/performance.md; then printf '\n%s\n' "$builds" >>docs/performance.md; fi
exit $code

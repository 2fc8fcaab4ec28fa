#!/bin/sh
# brunt beside wrk, ab and h2load on an nginx of the suite's own; arguments go to brunt-bench (bench/README.md).
set -eu
. tools/lib.sh
sh tools/need.sh
sh tools/packages.sh nginx wrk apache2-utils nghttp2-client

mkdir -p docs
build_programs
cargo run --release --locked -p brunt-bench -- --brunt "$BUILT/release/brunt" "$@"

#!/bin/sh
# Fuzzes one target for some time: tools/fuzz.sh reply 60
set -eu
. tools/lib.sh
sh tools/need.sh
has_nightly || die "missing: a nightly toolchain. Run: rustup toolchain install nightly"
cargo +nightly fuzz --version >/dev/null 2>&1 || die "missing: cargo-fuzz. Run: cargo install cargo-fuzz"
has c++ || die "missing: a C++ compiler. Run: apt-get install g++"
cargo +nightly fuzz run "$1" -- -max_total_time="$2"

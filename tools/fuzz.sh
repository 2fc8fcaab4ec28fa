#!/bin/sh
# Fuzzes one target or all targets for a number of seconds each: tools/fuzz.sh reply 60, tools/fuzz.sh all 60
# With --if-possible, skips a machine without the tools.
set -eu
. tools/lib.sh
target=$1
seconds=$2
sh tools/need.sh

missing() {
    has_nightly || { echo "a nightly toolchain. Run: rustup toolchain install nightly" && return; }
    cargo +nightly fuzz --version >/dev/null 2>&1 || { echo "cargo-fuzz. Run: cargo install cargo-fuzz" && return; }
    has c++ || echo "a C++ compiler. Run: apt-get install g++"
}

why=$(missing)
if [ -n "$why" ] && [ "${3:-}" = --if-possible ]; then
    skipped fuzz-targets "missing: $why"
    exit 0
fi
if [ -n "$why" ]; then die "missing: $why"; fi

if [ "$target" = all ]; then target=$(sed -n 's/^name = "\(.*\)"$/\1/p' dev/fuzz/Cargo.toml | grep -v '^brunt-fuzz$'); fi
for one in $target; do
    say "fuzzing $one, $seconds s"
    cargo +nightly fuzz run --fuzz-dir dev/fuzz --dev --features link "$one" -- -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048
done

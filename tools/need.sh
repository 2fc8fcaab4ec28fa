#!/bin/sh
# Prints one line for each tool that the build lacks, with its remedy. Installs nothing.
set -eu
. tools/lib.sh

missing=0
miss() {
    echo "missing: $*" >&2
    missing=1
}

# at_least HAVE WANT
at_least() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$2" ]; }

want=$(sed -n 's/^rust-version *= *"\(.*\)".*/\1/p' Cargo.toml)

if ! has cargo; then
    miss "cargo. Install Rust $want or newer from https://rustup.rs, then open a new shell."
elif ! have=$(rustc --version 2>/dev/null); then
    miss "a Rust toolchain. Run: rustup default stable"
else
    have=$(echo "$have" | cut -d ' ' -f 2 | cut -d - -f 1)
    at_least "$have" "$want" || miss "Rust $want or newer; this is $have. Run: rustup update stable && rustup default stable"
fi
has cc || miss "a C compiler. Run: apt-get install build-essential"
if [ "${1:-}" = test ]; then has python3 || has apt-get || miss "python3, which starts the tests"; fi
if [ $# -gt 0 ] && has cargo; then
    cargo fmt --version >/dev/null 2>&1 || miss "rustfmt. Run: rustup component add rustfmt"
    cargo clippy --version >/dev/null 2>&1 || miss "clippy. Run: rustup component add clippy"
fi
exit $missing

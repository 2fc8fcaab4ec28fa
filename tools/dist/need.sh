#!/bin/sh
# Prints one line for each tool that `make dist` lacks, with its remedy. Installs nothing. Reads TARGET.
set -eu
. tools/lib.sh

missing=0
need() {
    has "$1" || {
        echo "missing: $1. Run: $2" >&2
        missing=1
    }
}

need ar "apt-get install binutils"
need node "apt-get install nodejs"
need python3 "apt-get install python3 (3.11 or later)"
case $TARGET in *-musl) need musl-gcc "apt-get install musl-tools" ;; esac
if has rustup; then
    rustup target list --installed | grep -Fqx "$TARGET" || {
        echo "missing: the Rust standard library for $TARGET. Run: rustup target add $TARGET" >&2
        missing=1
    }
fi
exit $missing

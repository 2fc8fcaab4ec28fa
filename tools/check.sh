#!/bin/sh
# Runs all static checks, and stops at the first failure.
set -eu
. tools/lib.sh
sh tools/need.sh check

say "shell scripts"
for script in .ci/run tools/*.sh tools/dist/*.sh tools/prove/*.sh; do sh -n "$script"; done

say "format"
cargo fmt --all --check

# with_node NAME TITLE SCRIPT [ARGUMENT]: runs a check that is written for node.
with_node() {
    name=$1
    say "$2"
    shift 2
    if has node; then
        node "$@"
    else
        skipped "$name" "no node (apt-get install nodejs): $1 was not run"
    fi
}

with_node modules "circles of modules" tools/modules.mjs --check
with_node style "texts" tools/style.mjs
with_node plain "plain code" tools/plain.mjs
with_node book "the book" tools/book.mjs
if has mdbook; then
    mdbook build
else
    skipped mdbook "not installed (cargo install mdbook): links and the list of pages were checked without it"
fi

say "the rules of the house"
# shellcheck disable=SC2086 # a list of arguments
cargo test $ALL --test rules -- --nocapture

say "lints"
# The fuzz targets are linted without being linked.
# shellcheck disable=SC2086
cargo clippy $ALL --all-targets --features brunt-fuzz/targets -- -D warnings

say "the program without optional features"
cargo clippy -p brunt-cli -p brunt-script --no-default-features --locked -- -D warnings

say "the program without other tools"
cargo clippy -p brunt-cli --no-default-features --features certify,dom,fleet,grpc,http3,record,scripts --locked -- -D warnings

say "docs"
# With an example, which needs the dependencies of tests: then dependencies have the features that the lints have checked them with.
# shellcheck disable=SC2086
RUSTDOCFLAGS="-D warnings" cargo doc $ALL --no-deps --lib --bin brunt --example made_up

say "dependencies"
if cargo deny --version >/dev/null 2>&1; then
    cargo deny --locked check licenses bans sources
else
    skipped cargo-deny "not installed (cargo install cargo-deny); the licences were checked without it"
fi

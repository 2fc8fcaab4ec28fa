#!/bin/sh
# Everything that can be said about the source without running brunt. Ends at the first thing that is wrong.
set -eu
. tools/lib.sh
sh tools/need.sh check

say "shell scripts"
for script in .ci/run tools/*.sh tools/dist/*.sh tools/prove/*.sh; do sh -n "$script"; done

say "format"
cargo fmt --all --check

say "lints"
cargo clippy --workspace --all-targets --locked -- -D warnings

say "the rules of the house"
cargo test --locked -p brunt-tests --test it house::

say "the picture of crates and modules"
if has node; then
    node tools/modules.mjs --check
else
    skipped modules "no node (apt-get install nodejs): the picture in ARCHITECTURE.md was not held to the source"
fi

say "texts"
if has node; then
    node tools/style.mjs
else
    skipped style "no node (apt-get install nodejs): texts were not checked against tools/style-words.txt"
fi

say "the book"
if has node; then
    node tools/book.mjs
else
    skipped book "no node (apt-get install nodejs): links in docs/ were not checked"
fi
if has mdbook; then mdbook build; fi

say "docs"
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

say "fuzz targets"
if has c++; then
    # Fuzzing needs a nightly toolchain; checking that the targets still fit does not.
    cargo check --locked --manifest-path fuzz/Cargo.toml --target-dir "$BUILT/fuzz-check"
else
    skipped fuzz-check "no C++ compiler, which libfuzzer needs (apt-get install g++)"
fi

say "dependencies"
if cargo deny --version >/dev/null 2>&1; then
    cargo deny --locked check licenses bans sources
else
    skipped cargo-deny "not installed (cargo install cargo-deny); the licences were checked without it"
fi

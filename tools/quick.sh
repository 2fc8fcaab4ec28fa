#!/bin/sh
# Formats, lints and tests the crates that changed since the branch left main, and checks the house rules. Installs
# nothing and needs no node. `make quick BASE=COMMIT` compares with another commit.
set -eu
. tools/lib.sh
sh tools/need.sh check

base=${1:-}
if [ -z "$base" ]; then
    for main in origin/main main; do
        if base=$(git merge-base HEAD "$main" 2>/dev/null); then break; fi
    done
fi
git rev-parse --quiet --verify "${base:-none}^{commit}" >/dev/null ||
    die "no commit to compare with: there is neither origin/main nor main. Write: make quick BASE=COMMIT"

# Prints paths of files that changed since $base, committed or not.
changed_files() {
    git diff --name-only "$base"
    git ls-files --others --exclude-standard
}

# package_of FILE: prints the package of the file; nothing for files without a package.
package_of() {
    directory=$(dirname "$1")
    while [ "$directory" != . ]; do
        if [ -f "$directory/Cargo.toml" ]; then
            sed -n 's/^name *= *"\(.*\)"/\1/p' "$directory/Cargo.toml" | head -n 1
            return
        fi
        directory=$(dirname "$directory")
    done
}

# The fuzz targets need a C++ compiler to link. `make test` runs tests of whole programs and long simulations.
packages=$(changed_files | while read -r file; do package_of "$file"; done | sort -u | grep -vx brunt-fuzz || true)
selected=
for package in $packages; do selected="$selected -p $package"; done

say "format"
cargo fmt --all

if [ -n "$packages" ]; then
    say "lints:" $packages
    # shellcheck disable=SC2086 # a list of arguments
    cargo clippy --quiet --locked --all-targets $selected -- -D warnings
fi
say "unit tests:" $packages
# brunt-tests is always selected: cargo refuses --lib if no selected package has a library.
# shellcheck disable=SC2086
cargo test --quiet --locked --lib --bins -p brunt-tests $selected
say "the rules of the house"
cargo test --quiet --locked -p brunt-house
echo "quick checks passed. Next: make test (all checks and tests)"

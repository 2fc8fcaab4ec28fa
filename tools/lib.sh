# Functions shared by the other scripts. This file is sourced. The scripts are plain sh and start in the project's directory.

export RUSTUP_AUTO_INSTALL=0  # what is missing is told, not downloaded
export PATH="$PATH:/usr/sbin:/sbin:${HOME:-/root}/.cargo/bin"  # where Debian keeps servers, and rustup cargo
unset MAKEFLAGS MFLAGS  # cargo shares its cores out itself

BUILT="${CARGO_TARGET_DIR:-target}"
case $BUILT in /*) ;; *) BUILT="$PWD/$BUILT" ;; esac

# say TITLE: begins a section, with the time since the first one in minutes and seconds. Appends its start to the file BRUNT_STAGES.
STARTED=${STARTED:-$(date +%s)}
export STARTED
say() {
    elapsed=$(($(date +%s) - STARTED))
    printf '\n== %s (%d:%02d)\n' "$*" $((elapsed / 60)) $((elapsed % 60))
    if [ -n "${BRUNT_STAGES:-}" ]; then printf '%s\t%s\n' "$(date +%s)" "$*" >>"$BRUNT_STAGES"; fi
}

die() {
    printf '%s\n' "$*" >&2
    exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# skipped NAME REASON: prints a skip, and records it for tools/test_report.py.
skipped() {
    echo "SKIPPED $1: $2"
    if [ -n "${BRUNT_SKIPS:-}" ]; then echo "SKIPPED $1: $2" >>"$BRUNT_SKIPS"; fi
}

# Selects a toolchain that rustup has, without a download.
has_nightly() { has rustup && rustup toolchain list | grep -q '^nightly'; }

# One selection of packages for everything that `make test` builds. Another selection may have other features, and cargo would
# rebuild the dependencies.
ALL="--locked --workspace"

build_programs() { cargo build --release --locked -p brunt-cli -p brunt-lab; }

# Same speed per request as `release`, but a much faster build (Cargo.toml, profile `demo`).
build_quickly() { cargo build --profile demo --locked "$@"; }

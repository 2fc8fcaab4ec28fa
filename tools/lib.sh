# What the scripts beside it share; sourced, not run. They are plain sh and are started from the project's directory.

export RUSTUP_AUTO_INSTALL=0  # what is missing is told, not downloaded
export PATH="$PATH:/usr/sbin:/sbin:${HOME:-/root}/.cargo/bin"  # where Debian keeps servers, and rustup cargo
unset MAKEFLAGS MFLAGS  # cargo shares its cores out itself

BUILT="${CARGO_TARGET_DIR:-target}"
case $BUILT in /*) ;; *) BUILT="$PWD/$BUILT" ;; esac

# say TITLE: begins a part, with the minutes and seconds since the first of them.
STARTED=${STARTED:-$(date +%s)}
export STARTED
say() {
    elapsed=$(($(date +%s) - STARTED))
    printf '\n== %s (%d:%02d)\n' "$*" $((elapsed / 60)) $((elapsed % 60))
}

die() {
    printf '%s\n' "$*" >&2
    exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# skipped NAME WHY: told here, and noted for whoever decides whether that may be (tools/skips.sh).
skipped() {
    echo "SKIPPED $1: $2"
    if [ -n "${BRUNT_SKIPS:-}" ]; then echo "SKIPPED $1: $2" >>"$BRUNT_SKIPS"; fi
}

# A toolchain that rustup has, without asking for it.
has_nightly() { has rustup && rustup toolchain list | grep -q '^nightly'; }

# One selection of packages for whatever `make test` builds: another selection may have other features, and then cargo builds their
# dependencies once more. The fuzz targets are only checked: linking them needs a C++ compiler (tools/fuzz.sh).
ALL="--locked --workspace --exclude brunt-fuzz"

build_programs() { cargo build --release --locked -p brunt-cli -p brunt-lab; }

# As quick per request, and built in a fraction of the time (Cargo.toml, profile `demo`).
build_quickly() { cargo build --profile demo --locked "$@"; }

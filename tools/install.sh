#!/bin/sh
# Builds brunt, and installs it to ~/.cargo/bin (or `bin` of CARGO_INSTALL_ROOT or CARGO_HOME). The program is stripped; perf and gdb find its
# line tables beside it, in brunt.debug. PROFILE=demo builds quickly.
set -eu
. tools/lib.sh
sh tools/need.sh
has objcopy || die "objcopy is missing. Run: apt-get install binutils"

PROFILE=${PROFILE:-release}
bin=${CARGO_INSTALL_ROOT:-${CARGO_HOME:-${HOME:-/root}/.cargo}}/bin
cargo build --profile "$PROFILE" --locked -p brunt-cli
brunt=$BUILT/$PROFILE/brunt
mkdir -p "$bin"
objcopy --only-keep-debug "$brunt" "$bin/brunt.debug"
chmod 644 "$bin/brunt.debug"
# In the directory of the debug file, because its link has a checksum of it. The rename replaces a brunt that runs.
(cd "$bin" && objcopy --strip-all --add-gnu-debuglink=brunt.debug "$brunt" brunt.new && mv brunt.new brunt)
echo "installed $bin/brunt ($(du -h "$bin/brunt" | cut -f1)), line tables in brunt.debug"

#!/bin/sh
# Installs axe-core, which finds violations of accessibility, from its published package (npm) to the file $1, if it is missing.
# It is no dependency: its license (MPL-2.0) is not in deny.toml, and nothing of it is shipped. Exit code 1 without npm, its
# registry, or with another content than this checksum.
set -eu
. tools/lib.sh
version=4.14.1
sha512=1477dafa598d8d065f273d6af302aa203c02e83131707b7fa648cd41bd3d6b734f8c22a0dab86ee6a6f64b8afbe804b214d36db85a2826965edfb3a0b9d546b5
file=$1
[ ! -f "$file" ] || exit 0
has npm || exit 1

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
archive=$work/axe-core-$version.tgz
(cd "$work" && npm pack --silent "axe-core@$version" >"$work/log" 2>&1) || exit 1
echo "$sha512  $archive" | sha512sum --check --status || die "axe-core $version has another checksum than tools/axe.sh"
tar -xzf "$archive" -C "$work" package/axe.min.js
mkdir -p "$(dirname "$file")"
mv "$work/package/axe.min.js" "$file"

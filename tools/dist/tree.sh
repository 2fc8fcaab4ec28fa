#!/bin/sh
# Installs the files of a package below DIR/usr, with the binary stripped: tools/dist/tree.sh BRUNT DIR. Runs the binary.
set -eu
brunt=$1 usr=$2/usr
mkdir -p "$usr/bin" "$usr/share/man/man1" "$usr/share/doc/brunt" "$usr/share/bash-completion/completions" \
    "$usr/share/zsh/vendor-completions" "$usr/share/fish/vendor_completions.d"
install -m 755 "$brunt" "$usr/bin/brunt"
strip "$usr/bin/brunt"
"$brunt" completions bash >"$usr/share/bash-completion/completions/brunt"
"$brunt" completions zsh >"$usr/share/zsh/vendor-completions/_brunt"
"$brunt" completions fish >"$usr/share/fish/vendor_completions.d/brunt.fish"
"$brunt" man --dir "$usr/share/man/man1"
gzip -9n "$usr"/share/man/man1/*.1
install -m 644 README.md GLOSSARY.md CHANGELOG.md "$usr/share/doc/brunt/"
# Debian's name of the license file, with both licenses.
cat LICENSE-MIT LICENSE-APACHE >"$usr/share/doc/brunt/copyright"
chmod 755 "$2"
find "$2" -type d -exec chmod 755 {} +
find "$usr/share" -type f -exec chmod 644 {} +

#!/bin/sh
# Installs the missing Debian packages of the named programs: tools/packages.sh nginx wrk …
# Starts no service, not even those that a package starts by itself. Without the right to install, it prints what to do and
# continues: tests that lack a program report it.
set -eu
. tools/lib.sh

# Program that shows that a package is installed, from whatever source.
program_of() {
    case $1 in
    apache2-utils) echo ab ;;
    nghttp2-client) echo h2load ;;
    procps) echo ps ;;
    iproute2) echo ss ;;
    openssh-server) echo sshd ;;
    openssh-client) echo ssh ;;
    *) echo "$1" ;;
    esac
}

is_there() {
    case $1 in
    php-fpm) ls /usr/sbin/php-fpm* >/dev/null 2>&1 ;; # its name has the version in it
    tomcat10) [ -d /usr/share/tomcat10/lib ] ;;
    *) has "$(program_of "$1")" ;;
    esac
}

wanted=
for package in "$@"; do
    is_there "$package" || wanted="$wanted $package"
done
[ -n "$wanted" ] || exit 0

if ! has apt-get; then
    echo "not here, and this is no Debian; install them if you can:$wanted" >&2
    exit 0
elif [ "$(id -u)" = 0 ]; then
    as_root=
elif has sudo && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
    as_root=sudo
else
    echo "not here, and only root may install them; run: apt-get install$wanted" >&2
    exit 0
fi

# Package scripts ask this file whether they may start a service (invoke-rc.d(8)); 101 is no.
policy=/usr/sbin/policy-rc.d
saved=$policy.before-brunt

forbid_starts() {
    # A killed run may have left our file. Then the original is $saved, or there was none.
    if [ -e $policy ] && ! grep -q "From brunt" $policy; then $as_root mv $policy $saved; fi
    printf '#!/bin/sh\n# From brunt, tools/packages.sh: gone when that ends.\nexit 101\n' | $as_root tee $policy >/dev/null
    $as_root chmod 755 $policy
}

allow_starts() {
    $as_root rm -f $policy
    if [ -e $saved ]; then $as_root mv $saved $policy; fi
}

say "installing$wanted (no service is started)"
trap allow_starts EXIT
trap 'exit 130' INT TERM HUP
forbid_starts
install="$as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0"
$install update && $install install -y --no-install-recommends $wanted >/dev/null ||
    echo "apt-get could not install:$wanted; what needs them says so" >&2

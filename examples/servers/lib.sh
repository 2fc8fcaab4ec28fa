# What the server scripts of this folder share. They are started by brunt (`server: {start: …}` in a plan) as a process
# group of their own, stay in the foreground and end on SIGTERM to the group. All they write is in $DIR.
set -eu
: "${DIR:?a folder for the files of this server}"
here=$(cd "$(dirname "$0")" && pwd)

need() { # need PROGRAM PACKAGE
    command -v "$1" >/dev/null 2>&1 || [ -x "/usr/sbin/$1" ] || { echo "missing: $1. Run: apt-get install $2" >&2; exit 1; }
}

# A pool or a thread for each of many connections needs descriptors: as many as this process may have.
ulimit -n "$(ulimit -Hn)" 2>/dev/null || :
files=$(ulimit -n)

# Servers that were started by root give that up; then they must be able to read what is here.
account=www-data
id "$account" >/dev/null 2>&1 || account=nobody
mkdir -p "$DIR"
chmod a+rx "$DIR"
# The folder that brunt made around it is private.
case $(dirname "$DIR") in */brunt-*) chmod a+x "$(dirname "$DIR")" ;; esac

# The pages: copied, because the folder of the examples may not be readable to everybody.
pages() {
    [ -d "$DIR/www" ] && return
    mkdir -p "$DIR/www.new"
    cp "$here"/../www/* "$DIR/www.new/"
    # Bodies of known length, with words in them that do not compress to nothing.
    body() { awk -v n="$1" 'BEGIN { srand(1); for (i = 0; i < n; i += 8) printf "%07d\n", int(rand() * 9999999) }' | head -c "$1"; }
    body 10 >"$DIR/www.new/10"
    body 1000 >"$DIR/www.new/1k"
    body 48576 >"$DIR/www.new/48k"
    body 123784 >"$DIR/www.new/page.html"
    body 1048576 >"$DIR/www.new/1M"
    chmod -R a+rX "$DIR/www.new"
    mv "$DIR/www.new" "$DIR/www"
}

# A certificate for 127.0.0.1 that nobody but this experiment trusts.
certificate() {
    [ -s "$DIR/tls.key" ] && return
    need openssl openssl
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "/CN=localhost" \
        -addext "subjectAltName=DNS:localhost,IP:127.0.0.1" -keyout "$DIR/tls.key" -out "$DIR/tls.pem" 2>/dev/null
    chmod a+r "$DIR/tls.key" "$DIR/tls.pem"
}

# The client certificate that a server wants, without its key: it is its own authority.
client_certificate() {
    need openssl openssl
    openssl x509 -in "$CLIENT_CERT" -out "$DIR/client.pem"
    chmod a+r "$DIR/client.pem"
}

# The only user, ann, and her PASSWORD, in the form that the server wants: `password basic` (or form) is htpasswd's
# default form, 1000 rounds of MD5, for nginx and Apache httpd; `password digest` is for Apache httpd. Writes $DIR/password.
password() {
    need openssl openssl
    case $1 in
    basic | form) echo "ann:$(printf '%s\n' "$PASSWORD" | openssl passwd -apr1 -stdin)" ;;
    digest) echo "ann:brunt:$(printf 'ann:brunt:%s' "$PASSWORD" | openssl md5 -r | cut -d ' ' -f 1)" ;;
    esac >"$DIR/password"
    chmod a+r "$DIR/password"
}

# login_page FILE: the form that a browser is shown, with the names that Tomcat gives its fields.
login_page() {
    echo '<form method="post" action="j_security_check"><input name="j_username"><input name="j_password"></form>' >"$1"
    chmod a+r "$1"
}

# start COMMAND…: a server in the background; stay: until one of them ends, or this script is told to. Each is told by
# itself, because php-fpm leaves the process group that it was started in.
servers=
start() {
    "$@" &
    servers="$servers $!"
}
stay() {
    trap 'kill $servers 2>/dev/null; wait; exit 0' TERM INT
    while alive; do
        sleep 0.2 &
        wait $!
    done
    echo "a server ended by itself" >&2
    kill $servers 2>/dev/null
    exit 1
}
alive() {
    for server in $servers; do kill -0 "$server" 2>/dev/null || return 1; done
}

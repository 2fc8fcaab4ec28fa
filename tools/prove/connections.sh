#!/bin/sh
# Opens 60,000 concurrent keep-alive connections to nginx with one command, although a process may have only 20,000 open
# files. nginx must count all of them, none may be lost, and no request may fail. CONNECTIONS=20000 opens fewer.
set -eu
connections=${CONNECTIONS:-60000}
least_seen=$((connections * 999 / 1000))
out=$1/connections
dir=$(mktemp -d)
trap 'end' EXIT INT TERM

end() {
    for pid in "$dir/nginx.pid" "$dir/brunt.pid"; do
        [ ! -s "$pid" ] || kill "$(cat "$pid")" 2>/dev/null || true
    done
    rm -rf "$dir"
}

# nginx reports its open connections on a separate port.
active() {
    curl -s "http://127.0.0.1:$((port + 1))/status" | sed -n 's/^Active connections: \([0-9]*\).*/\1/p'
}

configure() {
    cat >"$dir/nginx.conf" <<CONF
daemon on; worker_processes 4; worker_rlimit_nofile $(ulimit -Hn); pid $dir/nginx.pid; error_log $dir/error.log warn;
$([ "$(id -u)" != 0 ] || echo 'user root;')
events { worker_connections 19000; }
http {
    access_log off; client_header_timeout 1h; keepalive_timeout 1h; keepalive_requests 100000000; client_body_temp_path $dir/t; proxy_temp_path $dir/t;
    fastcgi_temp_path $dir/t; uwsgi_temp_path $dir/t; scgi_temp_path $dir/t;
    server { listen 127.0.0.1:$port reuseport backlog=4096; location / { return 200 "held\n"; } }
    server { listen 127.0.0.1:$((port + 1)); location /status { stub_status; } }
}
CONF
}

for port in 18180 18190 18200 18210; do
    configure
    ! nginx -c "$dir/nginx.conf" -e "$dir/error.log" 2>/dev/null || break
done
until [ -s "$dir/nginx.pid" ] && [ -n "$(active)" ]; do
    tries=$((${tries:-0} + 1))
    [ "$tries" -lt 50 ] || { cat "$dir/error.log"; exit 1; }
    sleep 0.1
done

"$BRUNT_BIN" -c "$connections" --think 20s..40s --warmup 10s -d 60s -o text -o "json=$out.json" "http://127.0.0.1:$port/" \
    >"$out.txt" 2>"$dir/told" &
brunt=$!
echo $brunt >"$dir/brunt.pid"

# Counted every second: connections in nginx, connections in the kernel, descriptors of all brunt processes.
seen=0 kilobytes=0
while kill -0 $brunt 2>/dev/null; do
    now=$(active)
    [ "${now:-0}" -le "$seen" ] || seen=$now
    memory=$(ps -o rss= -p "$brunt" --ppid "$brunt" | awk '{ sum += $1 } END { print sum + 0 }')
    if [ "$memory" -gt "$kilobytes" ]; then
        kilobytes=$memory
        sockets=$(ss -s | sed -n 's/^TCP: *//p')
    fi
    sleep 1
done
code=0
wait $brunt || code=$?
rm "$dir/brunt.pid"

value() { tr -d ' \n' <"$out.json" | sed -n "s/.*\"$1\":{[^}]*\"$2\":\([0-9]*\).*/\1/p"; }
peak=$(value connections peak)
good=$(value requests good)
begun=$(value requests begun)
{
    cat "$dir/told"
    echo
    echo "asked for $connections connections; open at once by brunt's count $peak, by nginx's $seen (its stub_status, with the connection that asks)"
    echo "the kernel, while most were open: TCP $sockets"
    echo "memory of all of brunt's processes $kilobytes kB at most: $((kilobytes * 1024 / connections)) bytes a connection"
    echo "$good of $begun requests good; nginx's log: $(wc -l <"$dir/error.log") lines"
} >>"$out.txt"
cat "$out.txt"
[ "$code" = 0 ] && [ "$peak" -ge "$connections" ] && [ "$seen" -ge "$least_seen" ] && [ "$good" = "$begun" ]

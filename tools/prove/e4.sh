#!/bin/sh
# Requests the home page of Tomcat 10 with ab, siege and JMeter, originals and drop-ins: hits, errors, times, CPU time
# of the client. 149 users with 671 requests each, fewer than the connector's 150 threads; LOOPS=50 reduces the requests.
# Fails if brunt has errors that the original has not, or another number of hits.
set -eu
. tools/lib.sh
users=149
loops=${LOOPS:-671}
hits=$((users * loops))
out=$1/e4.md
dir=$(mktemp -d)
server=
trap 'end' EXIT
trap 'exit 130' INT TERM

end() {
    [ -z "$server" ] || { kill "$server" 2>/dev/null && wait "$server"; } || true
    rm -rf "$dir"
}

for tool in java:default-jre-headless ab:apache2-utils siege:siege; do
    has "${tool%:*}" || { skipped e4 "${tool%:*} is not installed (apt-get install ${tool#*:})"; exit 0; }
done
[ -d /usr/share/tomcat10/lib ] || { skipped e4 "Tomcat is not installed (apt-get install tomcat10)"; exit 0; }

# Finds three consecutive free ports.
port=18280
while ss -Htln | grep -Eq ":($port|$((port + 1))|$((port + 2))) "; do port=$((port + 10)); done
home=http://127.0.0.1:$port/
mkdir -p "$dir/tomcat/webapps/ROOT"
cp /usr/share/tomcat10-root/default_root/index.html "$dir/tomcat/webapps/ROOT/"
env DIR="$dir" NIO_PORT="$port" NIO2_PORT=$((port + 1)) TLS_PORT=$((port + 2)) sh examples/servers/tomcat.sh >"$dir/server.log" 2>&1 &
server=$!
tries=0
until curl -sf "$home" >"$dir/page"; do
    tries=$((tries + 1))
    [ "$tries" -lt 120 ] && kill -0 "$server" 2>/dev/null || { cat "$dir/server.log"; exit 1; }
    sleep 0.5
done

# run NAME COMMAND…: writes the output to $dir/NAME, and the CPU seconds of the command to $dir/NAME.cpu.
run() {
    name=$1
    shift
    say "$*"
    (
        HOME=$dir timeout 180 "$@" >"$dir/$name" 2>&1 || { tail -5 "$dir/$name"; exit 1; }
        times >"$dir/$name.times"
    )
    awk 'NR == 2 { split($1 " " $2, t, /[ms ]+/); printf "%.2f\n", t[1] * 60 + t[2] + t[3] * 60 + t[4] }' "$dir/$name.times" >"$dir/$name.cpu"
    "figures_of_${name%%-*}" <"$dir/$name" >"$dir/$name.row"
    cat "$dir/$name.row"
}

# Extracts hits, errors, seconds, mean and longest response in ms from each tool's report.
figures_of_ab() {
    awk '/^Complete requests:/ { hits = $3 } /^Failed requests:/ { errors = $3 } /^Time taken for tests:/ { seconds = $5 }
        /^Time per request:.*\(mean\)/ { mean = $4 } /\(longest request\)/ { longest = $2 }
        END { print hits, errors, seconds, mean, longest }'
}
figures_of_siege() {
    awk '/^Transactions:/ { hits = $2 } /^Failed transactions:/ { errors = $3 } /^Elapsed time:/ { seconds = $3 }
        /^Response time:/ { mean = $3 * 1000 } /^Longest transaction:/ { longest = $3 * 1000 }
        END { print hits, errors, seconds, mean, longest }'
}
figures_of_jmeter() {
    awk '/^summary =/ { split($5, t, ":"); for (i = 6; i < NF; i++) f[$i] = $(i + 1); hits = $3
            rate = $7; sub("/s", "", rate); seconds = rate > 0 ? sprintf("%.1f", hits / rate) : t[1] * 3600 + t[2] * 60 + t[3] }
        END { print hits, f["Err:"], seconds, f["Avg:"], f["Max:"] }'
}

# Without images, style sheets and pauses, and without a limit below 149 users; failures do not end it.
printf '%s\n' 'parser = false' 'json_output = false' 'limit = 255' 'failures = 100000' 'verbose = false' 'protocol = HTTP/1.1' \
    'connection = close' 'logging = false' >"$dir/siegerc"
cp dev/bench/scenarios/home.jmx "$dir/home.jmx"
jmeter=$BUILT/jmeter
plan="-n -t $dir/home.jmx -Jusers=$users -Jloops=$loops -Jport=$port"

# Warms up the JVM's compiler; this run is not measured.
ab -q -n 50000 -c $users -k "$home" >"$dir/warmup" 2>&1 || { cat "$dir/warmup"; exit 1; }
run ab-real ab -n $hits -c $users "$home"
run ab-brunt "$BRUNT_BIN" ab -n $hits -c $users "$home"
run siege-real siege -R "$dir/siegerc" -b -r "$loops" -c $users "$home"
run siege-brunt "$BRUNT_BIN" siege -R "$dir/siegerc" -b -r "$loops" -c $users "$home"
if sh tools/jmeter.sh "$jmeter"; then
    run jmeter-real java -Xms128m -Xmx512m -Djava.awt.headless=true -jar "$jmeter/bin/ApacheJMeter.jar" $plan \
        -j "$dir/jmeter.log" -l "$dir/real.jtl"
else
    skipped "e4: jmeter" "it needs java, mvn and the registry (tools/jmeter.sh)"
fi
run jmeter-brunt "$BRUNT_BIN" jmeter $plan -j "$dir/brunt.log" -l "$dir/brunt.jtl"

missed=0
{
    echo "# The home page of Tomcat 10"
    echo
    echo "$users users × $loops requests = $hits, $(wc -c <"$dir/page") bytes each; client and server on one machine with $(nproc) CPUs, $(date -u +%Y-%m-%d)."
    echo "ab and siege open a connection for each request, JMeter keeps them. Throughput and times depend on the load of the machine"
    echo "(load average at the end: $(cut -d ' ' -f 1-3 /proc/loadavg)); compare the CPU time of the client."
    echo
    echo "| tool | hits | errors | s | requests/s | mean ms | longest ms | CPU s of the client | CPU µs per request |"
    echo "|---|---:|---:|---:|---:|---:|---:|---:|---:|"
    for tool in ab siege jmeter; do
        for who in real brunt; do
            [ -f "$dir/$tool-$who.row" ] || continue
            read -r did errors seconds mean longest <"$dir/$tool-$who.row"
            cpu=$(cat "$dir/$tool-$who.cpu")
            [ $who = real ] && name=$tool || name="brunt $tool"
            awk -v OFS=' | ' -v n="$did" -v s="$seconds" -v cpu="$cpu" -v row="$name | $did | $errors | $seconds" -v rest="$mean | $longest | $cpu" \
                'BEGIN { printf "| %s | %.0f | %s | %.1f |\n", row, n / s, rest, cpu * 1e6 / n }'
        done
    done
} >"$out"
cat "$out"

for tool in ab siege jmeter; do
    read -r did errors _ <"$dir/$tool-brunt.row"
    wanted=$hits allowed=0
    [ ! -f "$dir/$tool-real.row" ] || read -r wanted allowed _ <"$dir/$tool-real.row"
    [ "$did" = "$wanted" ] && [ "$errors" -le "$allowed" ] || {
        echo "missed: brunt $tool has $did hits and $errors errors, $tool $wanted and $allowed" >&2
        missed=1
    }
done
exit $missed

#!/bin/sh
# CPU time of nginx, Apache httpd and Tomcat per authenticated request: examples/authentication.yaml.
# Fails if a request failed or the CPU time was not read every second. DURATION=3s and REPETITIONS=1 shorten it.
set -eu
. tools/lib.sh
out=$1/authentication
for there in /usr/share/tomcat10/lib /usr/sbin/nginx /usr/sbin/apache2; do
    [ -e "$there" ] || { skipped authentication "no $there (apt-get install nginx apache2 tomcat10)"; exit 0; }
done

code=0
"$BRUNT_BIN" run examples/authentication.yaml --no-store --set cooldown=0s --set "repetitions=${REPETITIONS:-3}" \
    --set "load.duration=${DURATION:-5s}" --set load.warmup=4s -o "text=$out.txt" -o "csv=$out.csv" -o "json=$out.json" || code=$?
# 5: brunt calls runs doubtful because server and load share this machine. It has measured.
case $code in 0 | 5) ;; *) exit 1 ;; esac

{
    echo "# The cost of authentication"
    echo
    echo "[examples/authentication.yaml](../../examples/authentication.yaml): 20 users, sessions of ten requests on a connection each, medians of ${REPETITIONS:-3} runs"
    echo "of ${DURATION:-5s}; servers and load on one machine with $(nproc) CPUs, load average $(cut -d ' ' -f 1-3 /proc/loadavg), $(date -u +%Y-%m-%d). Throughput depends on what else"
    echo "runs there; compare the CPU time of the server."
    echo
    echo "| contender | requests/s | server CPU per request, µs | least–most | difference to none, µs | ratio to none | failed |"
    echo "|---|---:|---:|---:|---:|---:|---:|"
    awk -F , '
        function middle(list, n,   i, j, one) { # sorts it, too
            for (i = 2; i <= n; i++) { one = list[i]; for (j = i - 1; j && list[j] > one; j--) list[j + 1] = list[j]; list[j + 1] = one }
            return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
        }
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        {
            name = $at["contender"]
            if (!(name in count)) names[++contenders] = name
            n = ++count[name]
            rate[name, n] = $at["throughput_per_second"]
            cores = $at["process:server cpu_system_seconds_per_second"] + $at["process:server cpu_user_seconds_per_second"]
            cpu[name, n] = rate[name, n] > 0 ? cores / rate[name, n] * 1e6 : 0
            failed[name] += $at["failed"]
        }
        END {
            for (c = 1; c <= contenders; c++) {
                name = names[c]
                for (i = 1; i <= count[name]; i++) { r[i] = rate[name, i] + 0; u[i] = cpu[name, i] + 0 }
                server = name; sub(/-.*/, "", server)
                used[name] = middle(u, count[name])
                printf "| %s | %.0f | %.1f | %.1f–%.1f | %.1f | %.2f | %d |\n", name, middle(r, count[name]), used[name], u[1], \
                    u[count[name]], used[name] - used[server], used[name] / used[server], failed[name]
            }
        }' "$out.csv"
} >"$out.md"
cat "$out.md"
[ "$(grep -c "| 0 |\$" "$out.md")" = 16 ] && ! grep -q '| 0\.0–' "$out.md"

# php-fpm in the background, for the script that sources this: FPM_PORT, FPM_STATUS_PORT, CHILDREN (20).
# The status page has a port of its own, so that it answers while all children are busy.
fpm=$(ls /usr/sbin/php-fpm* 2>/dev/null | sort | tail -1)
[ -n "$fpm" ] || { echo "missing: php-fpm. Run: apt-get install php-fpm" >&2; exit 1; }
cat >"$DIR/php-fpm.conf" <<CONF
[global]
error_log = $DIR/php-fpm.log
daemonize = no
rlimit_files = $files
[www]
user = $account
group = $account
listen = 127.0.0.1:$FPM_PORT
listen.backlog = 4096
pm = static
pm.max_children = ${CHILDREN:-20}
pm.status_path = /fpm-status
pm.status_listen = 127.0.0.1:$FPM_STATUS_PORT
CONF
# -n: no php.ini, so that every machine has the same settings.
start "$fpm" -n -F -y "$DIR/php-fpm.conf"

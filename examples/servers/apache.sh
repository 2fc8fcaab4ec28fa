#!/bin/sh
# Apache httpd with the event MPM. PORT; STATUS_PORT; with FPM_PORT and FPM_STATUS_PORT also php-fpm behind it; with
# API_PORT /api goes there; with TOMCAT_PORT everything does. WORKERS (400): requests served at once. LOGIN=basic or digest:
# only ann with PASSWORD.
. "$(dirname "$0")/lib.sh"
need apache2 apache2
pages
modules=/usr/lib/apache2/modules
workers=${WORKERS:-400}
threads=50
[ "$workers" -lt $threads ] && threads=$workers
extra= status=
if [ -n "${FPM_PORT:-}" ]; then
    . "$here/php-fpm.sh"
    extra="<Proxy \"fcgi://127.0.0.1:$FPM_PORT/\" max=$workers>
</Proxy>
<FilesMatch \"\.php\$\">
    SetHandler \"proxy:fcgi://127.0.0.1:$FPM_PORT\"
</FilesMatch>"
    status="ProxyPass \"/fpm-status\" \"fcgi://127.0.0.1:$FPM_STATUS_PORT/fpm-status\""
fi
if [ -n "${API_PORT:-}" ]; then extra="ProxyPass \"/api\" \"http://127.0.0.1:$API_PORT/api\" max=$workers"; fi
if [ -n "${TOMCAT_PORT:-}" ]; then extra="ProxyPass \"/\" \"http://127.0.0.1:$TOMCAT_PORT/\" max=$workers"; fi
auth=
case ${LOGIN:-} in
basic | digest)
    password "$LOGIN"
    [ "$LOGIN" = basic ] && name=Basic || name=Digest
    modules_of_auth="LoadModule authn_core_module $modules/mod_authn_core.so
LoadModule authn_file_module $modules/mod_authn_file.so
LoadModule authz_user_module $modules/mod_authz_user.so
LoadModule auth_${LOGIN}_module $modules/mod_auth_$LOGIN.so"
    auth="<Location \"/\">
        AuthType $name
        AuthName brunt
        Auth${name}Provider file
        AuthUserFile $DIR/password
        Require valid-user
    </Location>"
    ;;
esac
cat >"$DIR/apache.conf" <<CONF
LoadModule mpm_event_module $modules/mod_mpm_event.so
LoadModule authz_core_module $modules/mod_authz_core.so
LoadModule mime_module $modules/mod_mime.so
LoadModule status_module $modules/mod_status.so
LoadModule proxy_module $modules/mod_proxy.so
LoadModule proxy_http_module $modules/mod_proxy_http.so
LoadModule proxy_fcgi_module $modules/mod_proxy_fcgi.so
${modules_of_auth:-}
ServerName localhost
ServerRoot $DIR
PidFile $DIR/apache.pid
ErrorLog $DIR/apache-error.log
LogLevel warn
User $account
Group $account
DefaultRuntimeDir $DIR
Listen 127.0.0.1:$PORT
Listen 127.0.0.1:$STATUS_PORT
ListenBacklog 4096
ServerLimit $(((workers + threads - 1) / threads))
ThreadLimit $threads
ThreadsPerChild $threads
StartServers $(((workers + threads - 1) / threads))
MinSpareThreads $threads
MaxSpareThreads $((workers + threads))
MaxRequestWorkers $((workers / threads * threads))
AsyncRequestWorkerFactor 50
KeepAlive On
KeepAliveTimeout 300
MaxKeepAliveRequests 0
Timeout 300
ExtendedStatus On
TypesConfig /etc/mime.types
DocumentRoot $DIR/www
<VirtualHost 127.0.0.1:$PORT>
    $extra
    $auth
</VirtualHost>
<VirtualHost 127.0.0.1:$STATUS_PORT>
    <Location "/status">
        SetHandler server-status
    </Location>
    $status
</VirtualHost>
CONF
. "$here/api.sh"
start apache2 -D FOREGROUND -f "$DIR/apache.conf"
stay

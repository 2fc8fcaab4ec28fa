#!/bin/sh
# Apache httpd with the event MPM. PORT; STATUS_PORT; with FPM_PORT and FPM_STATUS_PORT also php-fpm behind it; with
# API_PORT /api goes there; with TOMCAT_PORT everything does. WORKERS (400): requests served at once. LOGIN=basic,
# digest or form: only ann with PASSWORD. TLS_PORT; CLIENT_CERT: the client certificate that it wants there.
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
auth= more=
load() { # load MODULE…
    for module in "$@"; do echo "LoadModule ${module}_module $modules/mod_$module.so"; done
}
login=${LOGIN:-none}
if [ "$login" != none ]; then
    password "$login"
    more=$(load authn_core authn_file authz_user "auth_$login")
    auth="AuthName brunt
        AuthUserFile $DIR/password
        Require valid-user"
fi
case $login in
basic) auth="AuthType Basic
        AuthBasicProvider file
        $auth" ;;
digest) auth="AuthType Digest
        AuthDigestProvider file
        $auth" ;;
form)
    login_page "$DIR/www/login.html"
    more="$more
$(load request session session_cookie)"
    auth="AuthType Form
        AuthFormProvider file
        AuthFormUsername j_username
        AuthFormPassword j_password
        ErrorDocument 401 /login.html
        Session On
        SessionCookieName session path=/
        $auth
    </Location>
    <Location \"/login.html\">
        Require all granted
    </Location>
    <Location \"/j_security_check\">
        SetHandler form-login-handler
        AuthFormLoginSuccessLocation /1k" ;;
esac
if [ -n "$auth" ]; then
    auth="<Location \"/\">
        $auth
    </Location>"
fi
tls=
if [ -n "${TLS_PORT:-}" ]; then
    certificate
    more="$more
$(load socache_shmcb ssl)
Listen 127.0.0.1:$TLS_PORT https"
    tls="<VirtualHost 127.0.0.1:$TLS_PORT>
    SSLEngine on
    SSLCertificateFile $DIR/tls.pem
    SSLCertificateKeyFile $DIR/tls.key"
    if [ -n "${CLIENT_CERT:-}" ]; then
        client_certificate
        tls="$tls
    SSLVerifyClient require
    SSLCACertificateFile $DIR/client.pem"
    fi
    tls="$tls
</VirtualHost>"
fi
cat >"$DIR/apache.conf" <<CONF
LoadModule mpm_event_module $modules/mod_mpm_event.so
LoadModule authz_core_module $modules/mod_authz_core.so
LoadModule mime_module $modules/mod_mime.so
LoadModule status_module $modules/mod_status.so
LoadModule proxy_module $modules/mod_proxy.so
LoadModule proxy_http_module $modules/mod_proxy_http.so
LoadModule proxy_fcgi_module $modules/mod_proxy_fcgi.so
$more
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
$tls
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

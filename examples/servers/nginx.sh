#!/bin/sh
# nginx. PORT; STATUS_PORT; with FPM_PORT and FPM_STATUS_PORT also php-fpm behind it; with API_PORT /api goes there.
# WORKERS (one for each core), CONNECTIONS of each worker (4096), TLS_PORT; CLIENT_CERT: the client certificate that it wants
# there. LOGIN=basic: only ann with PASSWORD.
. "$(dirname "$0")/lib.sh"
need nginx nginx
pages
php= status= api= tls= auth=
if [ -n "${FPM_PORT:-}" ]; then
    . "$here/php-fpm.sh"
    php="location ~ \.php\$ {
            fastcgi_pass 127.0.0.1:$FPM_PORT;
            fastcgi_param SCRIPT_FILENAME \$document_root\$fastcgi_script_name;
            include /etc/nginx/fastcgi_params;
        }"
    status="location = /fpm-status {
            fastcgi_pass 127.0.0.1:$FPM_STATUS_PORT;
            fastcgi_param SCRIPT_NAME /fpm-status;
            fastcgi_param SCRIPT_FILENAME /fpm-status;
            include /etc/nginx/fastcgi_params;
        }"
fi
if [ -n "${API_PORT:-}" ]; then
    api="location /api { proxy_pass http://api; proxy_http_version 1.1; proxy_set_header Connection ''; }"
fi
if [ -n "${TLS_PORT:-}" ]; then
    certificate
    tls="listen 127.0.0.1:$TLS_PORT ssl reuseport backlog=4096; ssl_certificate $DIR/tls.pem; ssl_certificate_key $DIR/tls.key;"
    if [ -n "${CLIENT_CERT:-}" ]; then
        client_certificate
        tls="$tls ssl_verify_client on; ssl_client_certificate $DIR/client.pem;"
    fi
fi
if [ "${LOGIN:-}" = basic ]; then
    password basic
    auth="auth_basic brunt; auth_basic_user_file $DIR/password;"
fi
cat >"$DIR/nginx.conf" <<CONF
daemon off;
user $account;
pid $DIR/nginx.pid;
error_log $DIR/nginx-error.log warn;
worker_processes ${WORKERS:-auto};
worker_rlimit_nofile $files;
events { worker_connections ${CONNECTIONS:-4096}; }
http {
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_timeout 300s;
    keepalive_requests 1000000;
    client_body_temp_path $DIR/nginx-body;
    proxy_temp_path $DIR/nginx-proxy;
    fastcgi_temp_path $DIR/nginx-fastcgi;
    uwsgi_temp_path $DIR/nginx-uwsgi;
    scgi_temp_path $DIR/nginx-scgi;
    types { text/html html; }
    default_type application/octet-stream;
    open_file_cache max=1000;
    upstream api { server 127.0.0.1:${API_PORT:-9}; keepalive 256; }
    server {
        listen 127.0.0.1:$PORT reuseport backlog=4096;
        $tls
        $auth
        root $DIR/www;
        $php
        $api
    }
    server {
        listen 127.0.0.1:$STATUS_PORT;
        location = /status { stub_status; }
        $status
    }
}
CONF
. "$here/api.sh"
start nginx -p "$DIR" -c "$DIR/nginx.conf"
stay

#!/bin/sh
# Tomcat 10 with three connectors: NIO_PORT, NIO2_PORT and TLS_PORT (NIO, https); THREADS (150) each. With PORT and
# STATUS_PORT also Apache httpd in front of the first. CLIENT_CERT: the client certificate that TLS_PORT wants. LOGIN=basic,
# digest or form: only ann with PASSWORD.
. "$(dirname "$0")/lib.sh"
need java default-jre-headless
home=/usr/share/tomcat10
[ -d $home ] || { echo "missing: Tomcat. Run: apt-get install tomcat10" >&2; exit 1; }
pages
certificate
base=$DIR/tomcat
mkdir -p "$base/conf" "$base/logs" "$base/temp" "$base/work" "$base/webapps/ROOT"
cp "$DIR"/www/[0-9]* "$DIR"/www/*.html "$base/webapps/ROOT/"
cp "$here"/../www/*.jsp "$base/webapps/ROOT/" 2>/dev/null || :
cp /etc/tomcat10/web.xml "$base/conf/"
# The status page of the manager application, without the application: /status/all?XML=true
mkdir -p "$base/webapps/status/WEB-INF" "$base/webapps/status/META-INF"
echo '<Context privileged="true"/>' >"$base/webapps/status/META-INF/context.xml"
cat >"$base/webapps/status/WEB-INF/web.xml" <<CONF
<web-app xmlns="https://jakarta.ee/xml/ns/jakartaee" version="5.0">
  <servlet>
    <servlet-name>status</servlet-name>
    <servlet-class>org.apache.catalina.manager.StatusManagerServlet</servlet-class>
  </servlet>
  <servlet-mapping><servlet-name>status</servlet-name><url-pattern>/*</url-pattern></servlet-mapping>
</web-app>
CONF
client= realm=
if [ -n "${CLIENT_CERT:-}" ]; then
    client_certificate
    need keytool default-jre-headless
    rm -f "$DIR/trusted.p12"
    keytool -importcert -noprompt -file "$DIR/client.pem" -keystore "$DIR/trusted.p12" -storetype PKCS12 -storepass trusted
    client="certificateVerification=\"required\" truststoreFile=\"$DIR/trusted.p12\" truststorePassword=\"trusted\""
fi
if [ "${LOGIN:-none}" != none ]; then
    mkdir -p "$base/webapps/ROOT/WEB-INF"
    login_page "$base/webapps/ROOT/login.html"
    cat >"$base/conf/tomcat-users.xml" <<CONF
<tomcat-users><user username="ann" password="$PASSWORD" roles="user"/></tomcat-users>
CONF
    cat >"$base/webapps/ROOT/WEB-INF/web.xml" <<CONF
<web-app xmlns="https://jakarta.ee/xml/ns/jakartaee" version="5.0">
  <security-constraint>
    <web-resource-collection><web-resource-name>all</web-resource-name><url-pattern>/*</url-pattern></web-resource-collection>
    <auth-constraint><role-name>user</role-name></auth-constraint>
  </security-constraint>
  <login-config>
    <auth-method>$(echo "$LOGIN" | tr '[:lower:]' '[:upper:]')</auth-method>
    <realm-name>brunt</realm-name>
    <form-login-config><form-login-page>/login.html</form-login-page><form-error-page>/login.html</form-error-page></form-login-config>
  </login-config>
  <security-role><role-name>user</role-name></security-role>
</web-app>
CONF
    realm='<Realm className="org.apache.catalina.realm.MemoryRealm"/>'
fi
threads=${THREADS:-150}
common="maxThreads=\"$threads\" maxConnections=\"10000\" acceptCount=\"1000\" maxKeepAliveRequests=\"-1\" keepAliveTimeout=\"300000\" address=\"127.0.0.1\""
cat >"$base/conf/server.xml" <<CONF
<Server port="-1">
  <Service name="Catalina">
    <Connector port="$NIO_PORT" protocol="org.apache.coyote.http11.Http11NioProtocol" $common/>
    <Connector port="$NIO2_PORT" protocol="org.apache.coyote.http11.Http11Nio2Protocol" $common/>
    <Connector port="$TLS_PORT" protocol="org.apache.coyote.http11.Http11NioProtocol" SSLEnabled="true" scheme="https" secure="true" $common>
      <SSLHostConfig $client><Certificate certificateFile="$DIR/tls.pem" certificateKeyFile="$DIR/tls.key"/></SSLHostConfig>
    </Connector>
    <Engine name="Catalina" defaultHost="localhost">
      $realm
      <Host name="localhost" appBase="webapps" autoDeploy="false" deployOnStartup="true"/>
    </Engine>
  </Service>
</Server>
CONF
if [ -n "${PORT:-}" ]; then
    start env TOMCAT_PORT="$NIO_PORT" TLS_PORT= DIR="$DIR/httpd" sh "$here/apache.sh"
fi
start java -Xms256m -Xmx512m -Dcatalina.home=$home -Dcatalina.base="$base" -Djava.io.tmpdir="$base/temp" \
    -cp $home/bin/bootstrap.jar:$home/bin/tomcat-juli.jar org.apache.catalina.startup.Bootstrap start
stay

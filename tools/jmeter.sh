#!/bin/sh
# Installs Apache JMeter 5.6.3 from its published artifacts (Maven Central) to the folder $1, if it is missing. Exit code 1
# without java, mvn, jar (JDK) or the registry.
set -eu
. tools/lib.sh
version=5.6.3
home=$1
[ ! -f "$home/bin/ApacheJMeter.jar" ] || exit 0
has java && has mvn && has jar || exit 1

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
{
    echo '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>jmeter</groupId>'
    echo '<artifactId>jmeter</artifactId><version>1</version><dependencies>'
    for part in ApacheJMeter ApacheJMeter_core ApacheJMeter_http ApacheJMeter_components ApacheJMeter_functions \
        ApacheJMeter_java ApacheJMeter_config; do
        echo "<dependency><groupId>org.apache.jmeter</groupId><artifactId>$part</artifactId><version>$version</version></dependency>"
    done
    echo '</dependencies></project>'
} >"$work/pom.xml"
mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DincludeScope=runtime "-DoutputDirectory=$work/lib" \
    >"$work/log" 2>&1 || exit 1

mkdir -p "$work/home/bin" "$work/home/lib/ext"
mv "$work/lib/ApacheJMeter-$version.jar" "$work/home/bin/ApacheJMeter.jar"
(cd "$work/home" && jar xf "$work/lib/ApacheJMeter_config-$version.jar" bin)
for part in core http components functions java; do
    mv "$work/lib/ApacheJMeter_$part-$version.jar" "$work/home/lib/ext/"
done
mv "$work"/lib/*.jar "$work/home/lib/"
mkdir -p "$(dirname "$home")"
rm -rf "$home"
mv "$work/home" "$home"

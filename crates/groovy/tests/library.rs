//! The library: what the Java and Groovy classes give.

mod common;

use brunt_groovy::Dialect;
use common::{TestHost, groovy, run_in};

/// Checks scripts against what Java or Groovy gives for them.
fn check(cases: &[(&str, &str)]) {
    for (source, expected) in cases {
        assert_eq!(groovy(source), *expected, "{source}");
    }
}

#[test]
fn dates_and_times() {
    // 1700000000000 ms is 2023-11-14T22:13:20Z.
    check(&[
        ("new Date(0).format('yyyy-MM-dd HH:mm:ss')", "1970-01-01 00:00:00"),
        ("new Date().format(\"yyyy-MM-dd'T'HH:mm:ss.SSSXXX\")", "2023-11-14T22:13:20.000Z"),
        ("new java.text.SimpleDateFormat('EEE, d MMM yyyy hh:mm a').format(new Date())", "Tue, 14 Nov 2023 10:13 PM"),
        ("new java.text.SimpleDateFormat('dd/MM/yyyy').parse('05/02/2024').time", "1707091200000"),
        ("Date.parse('yyyy-MM-dd', '2024-01-31').plus(1).format('dd.MM.')", "01.02."),
        (
            "def c = Calendar.getInstance(); c.add(Calendar.DATE, 1); c.add(Calendar.MONTH, 1); c.getTime().format('yyyyMMdd')",
            "20231215",
        ),
        ("Calendar.instance.get(Calendar.YEAR)", "2023"),
        ("java.time.LocalDate.now().plusDays(20)", "2023-12-04"),
        ("java.time.LocalDate.of(2024, 2, 28).plusDays(2).toString()", "2024-03-01"),
        ("java.time.LocalDateTime.now().format(java.time.format.DateTimeFormatter.ofPattern('HH:mm'))", "22:13"),
        ("java.time.Instant.now().toString()", "2023-11-14T22:13:20Z"),
        ("java.time.Instant.now().plus(1, java.time.temporal.ChronoUnit.HOURS).toEpochMilli()", "1700003600000"),
        ("java.time.ZonedDateTime.now(java.time.ZoneId.of('+02:00')).hour", "0"),
        ("java.time.Duration.ofMinutes(5).toMillis()", "300000"),
        (
            "java.time.temporal.ChronoUnit.DAYS.between(java.time.LocalDate.of(2024, 1, 1), java.time.LocalDate.of(2024, 3, 1))",
            "60",
        ),
        ("java.time.LocalDate.parse('2024-05-06').dayOfWeek", "MONDAY"),
        (
            "java.time.LocalDate.parse('06.05.2024', java.time.format.DateTimeFormatter.ofPattern('dd.MM.yyyy'))",
            "2024-05-06",
        ),
    ]);
}

#[test]
fn periods_and_zones() {
    check(&[
        ("java.time.Duration.ofSeconds(3675).toString()", "PT1H1M15S"),
        ("java.time.Duration.ZERO.toString() + java.time.Duration.ofMillis(1500)", "PT0SPT1.5S"),
        ("java.time.Period.of(1, 2, 3).toString() + java.time.Period.ofDays(0)", "P1Y2M3DP0D"),
        ("use(groovy.time.TimeCategory) { (new Date(0) + 3.days - 1.hour).time }", "255600000"),
        ("use(groovy.time.TimeCategory) { (new Date(0) + 1.month).time }", "2678400000"),
        (
            "java.time.ZonedDateTime.parse('2020-01-01T10:00:00+02:00').withZoneSameInstant(java.time.ZoneOffset.UTC)",
            "2020-01-01T08:00Z",
        ),
        (
            "java.time.ZonedDateTime.of(2020, 1, 2, 3, 4, 5, 0, java.time.ZoneId.of('+01:00'))\
             .format(java.time.format.DateTimeFormatter.ISO_INSTANT)",
            "2020-01-02T02:04:05Z",
        ),
        ("java.util.concurrent.TimeUnit.SECONDS.convert(5000, java.util.concurrent.TimeUnit.MILLISECONDS)", "5"),
    ]);
}

#[test]
fn small_helpers() {
    check(&[
        ("new Scanner('a b 5').with { next() + next() + nextInt() }", "ab5"),
        ("java.text.MessageFormat.format(\"{0} isn''t {1}\", 'a', 5)", "a isn't 5"),
        ("Eval.me('3 * 4') + new GroovyShell().evaluate('1 + 1')", "14"),
        ("def p = new Properties(); p.load(new StringReader('a=1\\n# c\\nb = 2')); p.a + p.b + p.size()", "122"),
        (
            "def q = new java.util.concurrent.LinkedBlockingQueue(); q.put('a'); q.put('b'); q.take() + q.poll() + q.poll()",
            "abnull",
        ),
        ("Byte.MAX_VALUE + Short.MIN_VALUE", "-32641"),
        ("1.23456.trunc(2)", "1.23"),
        ("'xay'.find(/(a)(y)/) { all, a, y -> y + a }", "ya"),
        ("new com.fasterxml.jackson.databind.ObjectMapper().readValue('{\"a\":[1,2]}', Map).a[1]", "2"),
        ("def r = new org.apache.jmeter.samplers.SampleResult(); r.setSampleLabel('x'); r.getSampleLabel()", "x"),
        (
            "import org.apache.commons.lang3.StringUtils as S; [S.abbreviate('abcdefghijkl', 8), S.mid('abcd', 1, 2), \
             S.stripEnd('a..', '.'), S.removeStart('abc', 'a'), S.swapCase('aB'), S.difference('abc', 'abd'), \
             S.chomp('a\\n'), S.getDigits('a1b2'), S.containsAny('abc', 'x', 'c')].join('|')",
            "abcde...|bc|a|bc|Ab|d|a|12|true",
        ),
    ]);
}

#[test]
fn json() {
    check(&[
        ("new groovy.json.JsonSlurper().parseText('{\"a\": [1, {\"b\": \"x\"}]}').a[1].b", "x"),
        (
            "groovy.json.JsonOutput.toJson([a: 1, b: [true, null, 'x\"y'], c: 1.5])",
            r#"{"a":1,"b":[true,null,"x\"y"],"c":1.5}"#,
        ),
        ("groovy.json.JsonOutput.prettyPrint('{\"a\":1}')", "{\n    \"a\": 1\n}"),
        (
            "def b = new groovy.json.JsonBuilder(); b { name 'x'; list 1, 2; inner { y 3 } }; b.toString()",
            r#"{"name":"x","list":[1,2],"inner":{"y":3}}"#,
        ),
        ("new groovy.json.JsonBuilder([a: 1]).toString()", r#"{"a":1}"#),
        (
            "new groovy.json.JsonSlurper().parseText('[1.10, 12345678901, 5]').collect { it.class.simpleName }.join(' ')",
            "BigDecimal Long Integer",
        ),
    ]);
}

#[test]
fn codes_and_digests() {
    check(&[
        ("Base64.getEncoder().encodeToString('hi'.getBytes('UTF-8'))", "aGk="),
        ("new String(Base64.decoder.decode('aGk='))", "hi"),
        ("java.net.URLEncoder.encode('a b&c/ü', 'UTF-8')", "a+b%26c%2F%C3%BC"),
        ("java.net.URLDecoder.decode('a+b%26', 'UTF-8')", "a b&"),
        (
            "org.apache.commons.codec.digest.DigestUtils.sha256Hex('abc')",
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        ),
        (
            "java.security.MessageDigest.getInstance('MD5').digest('abc'.bytes).encodeHex().toString()",
            "900150983cd24fb0d6963f7d28e17f72",
        ),
        (
            "def mac = javax.crypto.Mac.getInstance('HmacSHA256'); mac.init(new javax.crypto.spec.SecretKeySpec('key'.bytes, 'HmacSHA256')); mac.doFinal('The quick brown fox jumps over the lazy dog'.bytes).encodeHex().toString()",
            "f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8",
        ),
        ("UUID.nameUUIDFromBytes('abc'.bytes).toString()", "90015098-3cd2-3fb0-9696-3f7d28e17f72"),
        ("UUID.randomUUID().toString().length()", "36"),
        ("new Random(42).nextInt(10) + ' ' + new Random(42).nextInt()", "0 -1170105035"),
    ]);
}

#[test]
fn numbers_and_formats() {
    check(&[
        ("new BigDecimal('1.005').setScale(2, java.math.RoundingMode.HALF_UP)", "1.01"),
        ("(10 / 3).setScale(2, BigDecimal.ROUND_HALF_UP).toString()", "3.33"),
        ("Integer.parseInt('12') + Integer.valueOf('3') + '5'.toInteger()", "20"),
        ("Integer.toHexString(255)", "ff"),
        ("Math.floor(2.7d) + Math.pow(2, 3)", "10.0"),
        ("new java.text.DecimalFormat('#,##0.00').format(1234.5)", "1,234.50"),
        ("Double.parseDouble('1.5') * 2", "3.0"),
        ("new java.util.concurrent.atomic.AtomicInteger(5).incrementAndGet()", "6"),
        ("org.apache.commons.lang3.StringUtils.substringBetween('a[b]c', '[', ']')", "b"),
        ("org.apache.commons.lang3.RandomStringUtils.randomAlphanumeric(8).length()", "8"),
        ("new StringBuilder('ab').append(1).reverse().toString()", "1ba"),
    ]);
}

#[test]
fn json_objects_of_org_json() {
    check(&[
        (
            "def o = new org.json.JSONObject('{\"a\": {\"b\": [1, 2]}, \"s\": \"x\"}'); o.getJSONObject('a').getJSONArray('b').length() + o.getString('s')",
            "2x",
        ),
        ("def o = new org.json.JSONObject(); o.put('a', 1).put('b', true); o.toString()", r#"{"a":1,"b":true}"#),
        ("new org.json.JSONObject('{}').optString('x', 'none')", "none"),
    ]);
}

#[test]
fn xml() {
    check(&[
        (
            "def x = new XmlSlurper().parseText('<r><i id=\"1\">a</i><i id=\"2\">b</i></r>'); x.i[1].text() + x.i[0].@id + x.i.size()",
            "b12",
        ),
        ("new XmlSlurper().parseText('<r><i id=\"1\">a</i></r>').i.find { it.@id == '1' }.text()", "a"),
    ]);
}

#[test]
fn files_go_through_the_host() {
    let mut host = TestHost::default();
    let script = "def f = new File('/tmp/a.csv')\nf << 'x,1\\n'\nf.append('y,2\\n')\nnew FileWriter('/tmp/b', true).with { write('z'); close() }\nf.readLines().collect { it.split(',')[0] }.join('')";
    let value = run_in(&mut host, script, Dialect::Groovy).expect("files can be written");
    assert_eq!(value.to_text().as_deref(), Some("xy"));
    assert_eq!(host.files["/tmp/b"], b"z");
}

#[test]
fn directories_are_made_and_listed() {
    let source = "def d = new File('/tmp/d')\nassert !d.exists() && d.mkdirs() && !d.mkdirs() && d.isDirectory() && !d.isFile()\n['b.txt', 'a.csv'].each { new File(d, it).text = it }\ndef seen = []\nd.eachFile { seen << it.name }\nassert seen == ['a.csv', 'b.txt']\nassert d.list().toList() == seen && d.listFiles()[0].path == '/tmp/d/a.csv'\nassert d.listFiles({ dir, name -> name.endsWith('.txt') } as FilenameFilter)*.name == ['b.txt']\nassert new File('/none').listFiles() == null\nnew File(d, 'a.csv').delete() && !new File(d, 'a.csv').delete()";
    let mut host = TestHost::default();
    let value = run_in(&mut host, source, Dialect::Groovy).expect("directories can be listed");
    assert_eq!((value.to_text().as_deref(), host.files.len()), (Some("true"), 1));
}

#[test]
fn streams_write_into_files() {
    let mut host = TestHost::default();
    let source = "f = new FileOutputStream(\"/tmp/a\", true); p = new PrintStream(f); p.println(\"one\"); this.interpreter.setOut(p); print(\"two\"); p.close(); f.close();";
    run_in(&mut host, source, Dialect::BeanShell).expect("a stream can be written");
    assert_eq!(host.files["/tmp/a"], b"one\ntwo\n");
    assert_eq!(groovy("def w = new StringWriter(); new PrintWriter(w).print('x'); w.toString()"), "x");
}

#[test]
fn of_classes_of_one_name_the_imported_package_decides() {
    for package in ["lang3", "lang"] {
        let source = format!("import org.apache.commons.{package}.*\nStringUtils.substringBetween('a[b]c', '[', ']')");
        let value = run_in(&mut TestHost::default(), &source, Dialect::Groovy).expect("the class is known");
        assert_eq!(value.to_text().as_deref(), Some("b"), "{package}");
    }
}

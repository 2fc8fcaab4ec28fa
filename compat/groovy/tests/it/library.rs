//! The library: what the Java and Groovy classes give.

use crate::common::{TestHost, groovy, run_in, thrown};
use brunt_groovy::Dialect;

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
        (
            "new java.text.SimpleDateFormat('EEE, d MMM yyyy hh:mm a').format(new Date())",
            "Tue, 14 Nov 2023 10:13 PM",
        ),
        ("new java.text.SimpleDateFormat('dd/MM/yyyy').parse('05/02/2024').time", "1707091200000"),
        ("Date.parse('yyyy-MM-dd', '2024-01-31').plus(1).format('dd.MM.')", "01.02."),
        (
            "def c = Calendar.getInstance(); c.add(Calendar.DATE, 1); c.add(Calendar.MONTH, 1); c.getTime().format('yyyyMMdd')",
            "20231215",
        ),
        ("Calendar.instance.get(Calendar.YEAR)", "2023"),
        ("java.time.LocalDate.now().plusDays(20)", "2023-12-04"),
        ("java.time.LocalDate.of(2024, 2, 28).plusDays(2).toString()", "2024-03-01"),
        (
            "java.time.LocalDateTime.now().format(java.time.format.DateTimeFormatter.ofPattern('HH:mm'))",
            "22:13",
        ),
        ("java.time.Instant.now().toString()", "2023-11-14T22:13:20Z"),
        (
            "java.time.Instant.now().plus(1, java.time.temporal.ChronoUnit.HOURS).toEpochMilli()",
            "1700003600000",
        ),
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
        (
            "java.util.concurrent.TimeUnit.SECONDS.convert(5000, java.util.concurrent.TimeUnit.MILLISECONDS)",
            "5",
        ),
    ]);
}

#[test]
fn small_helpers() {
    check(&[
        ("new Scanner('a b 5').with { next() + next() + nextInt() }", "ab5"),
        ("java.text.MessageFormat.format(\"{0} isn''t {1}\", 'a', 5)", "a isn't 5"),
        ("Eval.me('3 * 4') + new GroovyShell().evaluate('1 + 1')", "14"),
        (
            "def p = new Properties(); p.load(new StringReader('a=1\\n# c\\nb = 2')); p.a + p.b + p.size()",
            "122",
        ),
        (
            "def q = new java.util.concurrent.LinkedBlockingQueue(); q.put('a'); q.put('b'); q.take() + q.poll() + q.poll()",
            "abnull",
        ),
        ("Byte.MAX_VALUE + Short.MIN_VALUE", "-32641"),
        ("1.23456.trunc(2)", "1.23"),
        ("'xay'.find(/(a)(y)/) { all, a, y -> y + a }", "ya"),
        (
            "new com.fasterxml.jackson.databind.ObjectMapper().readValue('{\"a\":[1,2]}', Map).a[1]",
            "2",
        ),
        (
            "def r = new org.apache.jmeter.samplers.SampleResult(); r.setSampleLabel('x'); r.getSampleLabel()",
            "x",
        ),
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
        (
            "def o = new org.json.JSONObject(); o.put('a', 1).put('b', true); o.toString()",
            r#"{"a":1,"b":true}"#,
        ),
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
        (
            "new XmlSlurper().parseText('<r><i id=\"1\">a</i></r>').i.find { it.@id == '1' }.text()",
            "a",
        ),
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

/// Expected values are those of the same scripts in Apache JMeter 5.6.3 (Groovy 3.0.20), unless a standard is named.
#[test]
fn checksums_and_gzip() {
    check(&[
        // The check values of CRC-32/ISO-HDLC and, for Adler-32, of RFC 1950's algorithm.
        (
            "def c = new java.util.zip.CRC32(); c.update('123456789'.bytes); Long.toHexString(c.value)",
            "cbf43926",
        ),
        (
            "def c = new java.util.zip.CRC32(); c.update('xabcx'.bytes, 1, 3); c.update(65); c.reset(); c.getValue()",
            "0",
        ),
        ("def a = new java.util.zip.Adler32(); a.update('Wikipedia'.bytes); a.value", "300286872"),
        (
            "def b = new ByteArrayOutputStream(); def z = new java.util.zip.GZIPOutputStream(b); z.write('hé'.getBytes('UTF-8')); \
             z.close(); def p = b.toByteArray(); \
             [p[0], p[1], new java.util.zip.GZIPInputStream(new ByteArrayInputStream(p)).getText('UTF-8')]",
            "[31, -117, hé]",
        ),
        (
            "def b = new ByteArrayOutputStream(); new java.util.zip.GZIPOutputStream(b).withStream { it << 'x' }; \
             new java.util.zip.GZIPInputStream(new ByteArrayInputStream(b.toByteArray())).text",
            "x",
        ),
        (
            "try { new java.util.zip.GZIPInputStream(new ByteArrayInputStream('no'.bytes)) } catch (IOException e) { e.message }",
            "Not in GZIP format",
        ),
    ]);
}

#[test]
fn aes() {
    let key = "def key = new javax.crypto.spec.SecretKeySpec('0123456789abcdef'.bytes, 'AES'); \
               def iv = new javax.crypto.spec.IvParameterSpec('fedcba9876543210'.bytes); \
               def seal = { String name, data -> def c = javax.crypto.Cipher.getInstance(name); \
               name.contains('ECB') || name == 'AES' ? c.init(1, key) : c.init(1, key, iv); c.doFinal(data.bytes).encodeHex().toString() }; ";
    for (script, expected) in [
        (
            "seal('AES/CBC/PKCS5Padding', 'secret text, more than a block')",
            "1dc188c640b9401b4be5984cf05ebdf9aa057638d554125c0ab00f919d83e7f6",
        ),
        ("seal('AES', 'short').decodeHex().encodeBase64().toString()", "DCYFNxflSsTpz2tSOBFANQ=="),
        (
            "seal('AES/CTR/NoPadding', 'counter mode has no padding')",
            "6824a31f82150d29d557a7b3ea740b4e620b8319dfc6e9eb8f9636",
        ),
        (
            "def c = javax.crypto.Cipher.getInstance('AES/CBC/PKCS5Padding'); c.init(2, key, iv); \
             new String(c.doFinal(seal('AES/CBC/PKCS5Padding', 'secret').decodeHex()))",
            "secret",
        ),
        (
            "def c = javax.crypto.Cipher.getInstance('AES/CTR/NoPadding'); c.init(1, key, iv); \
             c.update('counter'.bytes).encodeHex().toString() + c.update(' mode has'.bytes).encodeHex() + c.doFinal(' no padding'.bytes).encodeHex()",
            "6824a31f82150d29d557a7b3ea740b4e620b8319dfc6e9eb8f9636",
        ),
        (
            "try { seal('AES/ECB/NoPadding', 'short') } catch (e) { e.message }",
            "Input length not multiple of 16 bytes",
        ),
        (
            "try { seal('RSA', 'short') } catch (e) { e.message }",
            "RSA is not available to scripts here; AES with ECB, CBC or CTR is",
        ),
    ] {
        assert_eq!(groovy(&format!("{key}{script}")), expected, "{script}");
    }
    // FIPS 197, appendix C: one block with keys of 128, 192 and 256 bits.
    for (length, expected) in [
        (16, "69c4e0d86a7b0430d8cdb78070b4c55a"),
        (24, "dda97ca4864cdfe06eaf70a0ec0d7191"),
        (32, "8ea2b7ca516745bfeafc49904b496089"),
    ] {
        let script = format!(
            "def c = javax.crypto.Cipher.getInstance('AES/ECB/NoPadding'); \
             c.init(1, new javax.crypto.spec.SecretKeySpec((0..<{length}).collect {{ it as byte }} as byte[], 'AES')); \
             c.doFinal('00112233445566778899aabbccddeeff'.decodeHex()).encodeHex().toString()"
        );
        assert_eq!(groovy(&script), expected);
    }
}

#[test]
fn tuples() {
    check(&[
        (
            "def t = new Tuple2('a', 2); [t.first, t.v2, t.getSecond(), t[0], t.size(), t == new Tuple2('a', 2)]",
            "[a, 2, 2, a, 2, true]",
        ),
        ("def (x, y) = new Tuple2('a', 2); \"$x$y\"", "a2"),
        (
            "new Tuple('p', 'q', 'r').toString() + Tuple.tuple(1, 2).v2 + (new Tuple3(1, 2, 3) instanceof List)",
            "[p, q, r]2true",
        ),
    ]);
}

#[test]
fn markup_is_built() {
    let built = |script: &str| {
        groovy(&format!(
            "def w = new StringWriter(); def xml = new groovy.xml.MarkupBuilder(w); {script}; w.toString()"
        ))
    };
    for (script, expected) in [
        (
            "xml.a(id: 7, t: 'x \"<&\\'') { b('<t>'); c(); 'd:e'(k: 1) { 'g:h' { i() }; [1, 2].each { n -> f(no: n, \"l$n\") } } }",
            "<a id='7' t='x \"&lt;&amp;&apos;'>\n  <b>&lt;t&gt;</b>\n  <c />\n  <d:e k='1'>\n    <g:h>\n      <i />\n    </g:h>\n    <f no='1'>l1</f>\n    <f no='2'>l2</f>\n  </d:e>\n</a>",
        ),
        (
            "xml.doubleQuotes = true; xml.mkp.xmlDeclaration(version: '1.0'); xml.a(n: null, q: '\"') { b(1); mkp.yield('t<x'); c { mkp.yieldUnescaped('<raw/>') }; d(''); e(null) }",
            "<?xml version=\"1.0\"?>\n<a n=\"\" q=\"&quot;\">\n  <b>1</b>t&lt;x\n  <c><raw/></c>\n  <d></d>\n  <e />\n</a>",
        ),
    ] {
        assert_eq!(built(script), expected, "{script}");
    }
    let mixed = "xml.a { b('t'); mkp.yield('x') }; xml.c('text') { d() }";
    assert_eq!(built(mixed), "<a>\n  <b>t</b>x\n</a>\n<c>text\n  <d />\n</c>");
    let streamed = "new groovy.xml.StreamingMarkupBuilder().bind { root(t: \"a'b\") { item('x < y'); empty() } }.toString()";
    assert_eq!(groovy(streamed), "<root t='a&apos;b'><item>x &lt; y</item><empty/></root>");
    // An attribute's text that comes back to the builder.
    let odd = "class Odd { def xml; String toString() { xml.inner(); 'v' } }; xml.a(b: new Odd(xml: xml)) { c() }";
    assert!(built(odd).contains("<a b='v'>"), "{}", built(odd));
}

#[test]
fn json_is_streamed() {
    for (script, expected) in [
        (
            "json.person { name 'Ann'; tags 'a', 'b'; address { zip 3000 }; list([1, 2]) }",
            r#"{"person":{"name":"Ann","tags":["a","b"],"address":{"zip":3000},"list":[1,2]}}"#,
        ),
        ("json(a: 1, b: [true, null])", r#"{"a":1,"b":[true,null]}"#),
        ("json([1, 2]) { n -> no n }", r#"[{"no":1},{"no":2}]"#),
        ("json.named(a: 1) { b 2 }", r#"{"named":{"a":1,"b":2}}"#),
        ("json.empty()", r#"{"empty":{}}"#),
    ] {
        let script = format!(
            "def w = new StringWriter(); def json = new groovy.json.StreamingJsonBuilder(w); {script}; w.toString()"
        );
        assert_eq!(groovy(&script), expected, "{script}");
    }
}

#[test]
fn templates_are_evaluated() {
    let made = |template: &str, binding: &str| {
        groovy(&format!(
            "new groovy.text.SimpleTemplateEngine().createTemplate('''{template}''').make({binding}).toString()"
        ))
    };
    for (template, binding, expected) in [
        (
            "Dear <%= name %>, \"$name\" ${name.toUpperCase()}",
            "name: 'Ann'",
            "Dear Ann, \"Ann\" ANN",
        ),
        ("<% if (n > 1) { %>many ${n}<% } else { %>one<% } %>.", "n: 3", "many 3."),
        ("<% all.each { %>[${it}]<% } %>", "all: ['x', 'y']", "[x][y]"),
        ("${[1, 2].join(\"-\")}", "[:]", "1-2"),
        ("plain", "", "plain"),
    ] {
        assert_eq!(made(template, binding), expected, "{template}");
    }
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
    assert_eq!(
        groovy("def w = new StringWriter(); new PrintWriter(w).print('x'); w.toString()"),
        "x"
    );
}

#[test]
fn the_import_decides_between_classes_of_the_same_name() {
    for package in ["lang3", "lang"] {
        let source = format!(
            "import org.apache.commons.{package}.*\nStringUtils.substringBetween('a[b]c', '[', ']')"
        );
        let value =
            run_in(&mut TestHost::default(), &source, Dialect::Groovy).expect("the class is known");
        assert_eq!(value.to_text().as_deref(), Some("b"), "{package}");
    }
}

#[test]
fn base64_of_groovy_and_java() {
    let bytes = "([0xfb, 0xff, 0xfe, 1] as byte[])";
    for (call, expected) in [
        ("encodeBase64Url()", "-__-AQ"),
        ("encodeBase64Url(true)", "-__-AQ=="),
        ("encodeBase64()", "+//+AQ=="),
        ("encodeBase64(true)", "+//+AQ==\n"),
        ("encodeHex()", "fbfffe01"),
    ] {
        assert_eq!(groovy(&format!("{bytes}.{call}.toString()")), expected, "{call}");
    }
    check(&[
        ("'ab??>>'.bytes.encodeBase64Url()", "YWI_Pz4-"),
        (
            "['', 'x' * 57, 'x' * 58].collect { it.bytes.encodeBase64(true).toString().size() }",
            "[0, 78, 82]",
        ),
        ("'-__-AQ'.decodeBase64Url().encodeHex()", "fbfffe01"),
        ("'+//+AQ'.decodeBase64().encodeHex()", "fbfffe01"),
        ("Base64.mimeDecoder.decode('aG\\r\\nk=\\n').encodeHex()", "6869"),
        ("Base64.mimeEncoder.encodeToString(('x' * 80).bytes).size()", "110"),
        ("Base64.urlEncoder.withoutPadding().encode('?>'.bytes).encodeHex()", "507a34"),
        (
            "new org.apache.commons.codec.binary.Base64(true).encodeToString('ab??>>'.bytes)",
            "YWI_Pz4-\r\n",
        ),
        ("org.apache.commons.codec.binary.Base64.decodeBase64('aG*k=').encodeHex()", "6869"),
        ("org.apache.commons.codec.binary.Hex.encodeHexString([251] as byte[], false)", "FB"),
    ]);
    assert_eq!(
        thrown("'-__-AQ'.decodeBase64()"),
        "java.lang.RuntimeException: bad character in base64 value"
    );
    assert_eq!(
        thrown("Base64.decoder.decode('-__-AQ==')"),
        "java.lang.IllegalArgumentException: Illegal base64 character 2d"
    );
}

#[test]
fn text_compared_without_case_and_by_affixes() {
    check(&[
        ("['x', 'ab'].collect { 'abc'.startsWithAny(it) }", "[false, true]"),
        ("'abc'.startsWithAny('x', 'ab')", "true"),
        ("'abc'.startsWithAny('AB')", "false"),
        ("'abc'.endsWithAny('x', 'bc')", "true"),
        ("'abc'.endsWithAny('BC')", "false"),
        ("['abc'.startsWithIgnoreCase('AB'), 'abc'.startsWithIgnoreCase('')]", "[true, false]"),
        ("'abc'.endsWithIgnoreCase('BC')", "true"),
        (
            "['abc'.containsIgnoreCase('BC'), 'abc'.containsIgnoreCase(null), 'a'.containsIgnoreCase('')]",
            "[true, false, false]",
        ),
        ("['straße'.equalsIgnoreCase('STRASSE'), 'ä'.equalsIgnoreCase('Ä')]", "[false, true]"),
        ("'aaa'.count('aa') + 'aaa'.count('')", "6"),
        (
            "[' a '.trim().size(), '\\u00a0a'.trim().size(), '\\u2003a'.strip().size(), '\\u2003a'.trim().size()]",
            "[1, 2, 1, 2]",
        ),
        ("def l = []; 'a\\nb'.eachLine { s, i -> l << i + s }; l", "[0a, 1b]"),
        ("def l = []; 'a\\nb'.eachLine(5) { s, i -> l << i + s }; l", "[5a, 6b]"),
        ("'  #a\\n b'.stripMargin('#')", "a\n b"),
        ("'a\\r\\nb\\rc'.normalize()", "a\nb\nc"),
    ]);
}

#[test]
fn arrays_are_copied_as_if_through_a_buffer() {
    check(&[
        (
            "int[] a = [1, 2, 3, 4, 5]; System.arraycopy(a, 0, a, 1, 4); a.toList()",
            "[1, 1, 2, 3, 4]",
        ),
        (
            "int[] a = [1, 2, 3, 4, 5]; System.arraycopy(a, 1, a, 0, 4); a.toList()",
            "[2, 3, 4, 5, 5]",
        ),
        ("byte[] a = [1, 2, 3]; System.arraycopy(a, 0, a, 1, 2); a.encodeHex()", "010102"),
    ]);
    assert_eq!(
        thrown("byte[] a = [1, 2, 3]; System.arraycopy(a, 1, a, 0, 4)"),
        "java.lang.ArrayIndexOutOfBoundsException: arraycopy: last source index 5 out of bounds for length 3"
    );
    assert_eq!(
        thrown("byte[] a = [1]; System.arraycopy(a, 0, a, 0, -1)"),
        "java.lang.ArrayIndexOutOfBoundsException: arraycopy: length -1 is negative"
    );
}

#[test]
fn random_numbers_of_a_seed_are_those_of_java() {
    for (calls, expected) in [
        ("(1..5).collect { r.nextInt(100) }", "[30, 63, 48, 84, 70]"),
        (
            "r.nextGaussian(); r.setSeed(42); [r.nextInt(100), r.nextGaussian()]",
            "[30, 0.27686040089698144]",
        ),
        (
            "[r.nextGaussian(), r.nextGaussian(), r.nextGaussian()]",
            "[1.1419053154730547, 0.9194079489827879, -0.9498666368908959]",
        ),
        (
            "[r.nextLong(), r.nextDouble(), r.nextFloat(), r.nextBoolean()]",
            "[-5025562857975149833, 0.6832234717598454, 0.3087194, true]",
        ),
        ("[r.nextFloat(), r.nextFloat()]", "[0.7275637, 0.054665208]"),
        ("(1..5).collect { r.nextInt(5, 10) }", "[5, 8, 8, 9, 5]"),
        ("(1..5).collect { r.nextInt(0, 16) }", "[5, 7, 1, 8, 4]"),
        (
            "(1..3).collect { r.nextInt(Integer.MIN_VALUE, Integer.MAX_VALUE) }",
            "[-1170105035, 234785527, -1360544799]",
        ),
        (
            "(1..5).collect { r.nextInt(2000000000) }",
            "[1562431130, 117392763, 1467211248, 102948884, 662969970]",
        ),
        ("(1..5).collect { r.nextLong(100) }", "[91, 40, 97, 98, 17]"),
        ("(1..5).collect { r.nextLong(5, 100) }", "[21, 10, 72, 88, 62]"),
        ("(1..3).collect { r.nextLong(1L << 40) }", "[227868052215, 966573539368, 979003751243]"),
        (
            "def b = new byte[5]; r.nextBytes(b); [b.encodeHex().toString(), r.nextInt()]",
            "[359d41baf7, -1360544799]",
        ),
        ("r.ints(5, 5, 10).toArray().toList()", "[5, 8, 8, 9, 5]"),
        ("r.longs(3, 0, 1000).toArray().toList()", "[891, 940, 997]"),
        ("r.doubles(2).toArray().toList()", "[0.7275636800328681, 0.6832234717598454]"),
        (
            "def l = (1..10).toList(); Collections.shuffle(l, r); l",
            "[5, 7, 3, 2, 8, 10, 9, 6, 4, 1]",
        ),
    ] {
        assert_eq!(groovy(&format!("def r = new Random(42); {calls}")), expected, "{calls}");
    }
    assert_eq!(
        thrown("java.util.concurrent.ThreadLocalRandom.current().setSeed(1)"),
        "java.lang.UnsupportedOperationException: setSeed"
    );
}

#[test]
fn character_sets() {
    for (text, charset, hex) in [
        ("a€ü–", "windows-1252", "6180fc96"),
        ("a€", "Cp1252", "6180"),
        ("a€ü", "latin1", "613ffc"),
        ("a€ü", "ISO-8859-15", "61a4fc"),
        ("ğ\\u0085€", "ISO-8859-9", "f0853f"),
        ("日本", "Shift_JIS", "93fa967b"),
        ("日本", "EUC-JP", "c6fccbdc"),
        ("中文", "GBK", "d6d0cec4"),
        ("中文", "Big5", "a4a4a4e5"),
        ("한국☺", "EUC-KR", "c7d1b1b93f"),
        ("да", "KOI8-R", "c4c1"),
        ("да€☃", "windows-1251", "e4e0883f"),
        ("aü", "UTF-16", "feff006100fc"),
        ("aü", "UTF-16LE", "6100fc00"),
        ("aü", "UTF-32", "00000061000000fc"),
        ("a😀é", "ASCII", "613f3f"),
    ] {
        assert_eq!(
            groovy(&format!("'{text}'.getBytes('{charset}').encodeHex()")),
            hex,
            "{text} in {charset}"
        );
    }
    for (bytes, charset, codes) in [
        ("0x61, 0x80, 0xfc, 0x96, 0x81", "windows-1252", "[97, 8364, 252, 8211, 65533]"),
        ("0x61, 0xe9", "US-ASCII", "[97, 65533]"),
        ("0x61, 0, 0xfc, 0", "UTF-16LE", "[97, 252]"),
        ("0xff, 0xfe, 0x61, 0", "UTF-16", "[97]"),
        ("0xfe, 0xff, 0, 0x61", "UTF-16BE", "[65279, 97]"),
        ("0, 0x61, 0", "UTF-16", "[97, 65533]"),
    ] {
        let source = format!("new String([{bytes}] as byte[], '{charset}').collect {{ (int) it }}");
        assert_eq!(groovy(&source), codes, "{bytes} in {charset}");
    }
    check(&[
        ("java.net.URLEncoder.encode('aü €', 'ISO-8859-1')", "a%FC+%3F"),
        ("java.net.URLDecoder.decode('a%FC+', 'ISO-8859-1')", "aü "),
        ("java.nio.charset.Charset.forName('cp1252').name()", "windows-1252"),
        ("java.nio.charset.Charset.isSupported('nope')", "false"),
    ]);
    for (source, error) in [
        ("'a'.getBytes('nope')", "java.io.UnsupportedEncodingException: nope"),
        ("new String([97] as byte[], 'nope')", "java.io.UnsupportedEncodingException: nope"),
        ("java.net.URLEncoder.encode('a', 'nope')", "java.io.UnsupportedEncodingException: nope"),
        (
            "java.nio.charset.Charset.forName('nope')",
            "java.nio.charset.UnsupportedCharsetException: nope",
        ),
        (
            "java.nio.charset.Charset.forName('no pe')",
            "java.nio.charset.IllegalCharsetNameException: no pe",
        ),
    ] {
        assert_eq!(thrown(source), error, "{source}");
    }
}

#[test]
fn files_in_a_character_set() {
    let mut host = TestHost::default();
    let script = "def f = new File('/tmp/a'); f.write('ü\\n', 'ISO-8859-1'); f.append('€', 'windows-1252')\n\
        f.withWriterAppend('UTF-16') { it << 'a'; it << 'b' }\n\
        new File('/tmp/b').setText('é', 'latin1')\n\
        [new File('/tmp/b').getText('latin1'), new InputStreamReader(new FileInputStream('/tmp/b'), 'latin1').readLine(), \
        org.apache.commons.io.FileUtils.readFileToString(new File('/tmp/b'), 'latin1')].join('')";
    let value = run_in(&mut host, script, Dialect::Groovy).expect("files can be written");
    assert_eq!(value.to_text().as_deref(), Some("ééé"));
    assert_eq!(host.files["/tmp/a"], b"\xfc\n\x80\xfe\xff\0a\0b");
}

#[test]
fn decimals_are_not_rounded_silently() {
    check(&[
        ("1.20.setScale(1)", "1.2"),
        ("new BigDecimal(0.1d)", "0.1000000000000000055511151231257827021181583404541015625"),
        ("1.2.setScale(3)", "1.200"),
        ("1.25.setScale(1, BigDecimal.ROUND_HALF_EVEN)", "1.2"),
        (
            "[10.0.divide(4.0), 1.00.divide(8.0), 10.00.divide(2.0), 100.0.divide(0.5)]",
            "[2.5, 0.125, 5.0, 200]",
        ),
        ("10.0.divide(3.0, java.math.RoundingMode.HALF_UP)", "3.3"),
        ("[(-7G) % 3, (-7G).mod(3G), (-7G).remainder(3G), -7 % 3]", "[2, 2, -1, -1]"),
        (
            "['1d'.toDouble(), '1e3'.toDouble(), 'Infinity'.toDouble(), '1.1'.toFloat(), '1d'.isDouble()]",
            "[1.0, 1000.0, Infinity, 1.1, true]",
        ),
        (
            "[2.5.round().class.simpleName, 2.5f.round().class.simpleName, 2.345f.round(2).class.simpleName]",
            "[BigDecimal, Integer, Float]",
        ),
        (
            "[1.20.hashCode(), 1.5d.hashCode(), 1.5f.hashCode(), 123456789012G.hashCode()]",
            "[3722, 1073217536, 1069547520, -1097261704]",
        ),
    ]);
    for source in [
        "1.25.setScale(1)",
        "1.20.setScale(0)",
        "1.25.setScale(1, java.math.RoundingMode.UNNECESSARY)",
    ] {
        assert_eq!(thrown(source), "java.lang.ArithmeticException: Rounding necessary", "{source}");
    }
    for (source, error) in [
        (
            "(10 as BigDecimal).divide(3 as BigDecimal)",
            "java.lang.ArithmeticException: Non-terminating decimal expansion; no exact representable decimal result.",
        ),
        ("'inf'.toDouble()", "java.lang.NumberFormatException: For input string: \"inf\""),
        (
            "3000000000G.intValueExact()",
            "java.lang.ArithmeticException: BigInteger out of int range",
        ),
        (
            "5.upto(1) { }",
            "groovy.lang.GroovyRuntimeException: The argument (1) to upto() cannot be less than the value (5) it's called on.",
        ),
    ] {
        assert_eq!(thrown(source), error, "{source}");
    }
}

#[test]
fn dates_in_text_and_calendar_fields() {
    check(&[
        ("new Date(1700000000000L).toGMTString()", "14 Nov 2023 22:13:20 GMT"),
        ("new Date(0).toGMTString()", "1 Jan 1970 00:00:00 GMT"),
        ("new Date(1700000000000L).with { [dateString, timeString] }", "[11/14/23, 10:13:20 PM]"),
        ("new Date(1700000000000L).dateTimeString", "11/14/23, 10:13:20 PM"),
        ("new java.sql.Timestamp(1700000000120L).toString()", "2023-11-14 22:13:20.12"),
        ("new java.sql.Timestamp(1700000000000L).toString()", "2023-11-14 22:13:20.0"),
        (
            "[2021, 2022, 2023, 2024].collect { def c = new GregorianCalendar(it, 11, 31); [c.get(3), c.get(4)] }",
            "[[1, 5], [53, 5], [1, 6], [1, 5]]",
        ),
        (
            "[2021, 2022, 2023].collect { new GregorianCalendar(it, 0, 1).get(Calendar.WEEK_OF_YEAR) }",
            "[1, 1, 1]",
        ),
        (
            "new GregorianCalendar(2024, 1, 3, 4, 5, 6).time.format('yyyy-MM-dd HH:mm:ss')",
            "2024-02-03 04:05:06",
        ),
        (
            "def c = new GregorianCalendar(2024, 0, 31); c.roll(Calendar.DATE, 1); c.time.format('MM-dd')",
            "01-01",
        ),
        (
            "def c = Calendar.instance; c.clear(); c.set(2024, 0, 1); c.time.format('MM-dd HH:mm:ss')",
            "01-01 00:00:00",
        ),
        (
            "def c = new GregorianCalendar(2024, 0, 31); c.set(Calendar.HOUR, 5); c.set(Calendar.AM_PM, Calendar.PM); c.time.format('HH')",
            "17",
        ),
    ]);
}

#[test]
fn addresses() {
    for (address, expected) in [
        ("http://[::1]:8080/a", "[[::1], 8080, [::1]:8080]"),
        ("http://[::1]/a", "[[::1], -1, [::1]]"),
        ("http://[2001:db8::1]", "[[2001:db8::1], -1, [2001:db8::1]]"),
        ("http://u:p@[::1]:90/x", "[[::1], 90, u:p@[::1]:90]"),
        ("http://h:80/a?b#c", "[h, 80, h:80]"),
        ("http://h:/a", "[h, -1, h:]"),
        ("http://h:99999/a", "[h, 99999, h:99999]"),
        ("http://user@host:80", "[host, 80, user@host:80]"),
    ] {
        for class in ["URL", "URI"] {
            let source = format!("new {class}('{address}').with {{ [host, port, authority] }}");
            assert_eq!(groovy(&source), expected, "{class} {address}");
        }
    }
    check(&[
        ("new URI('http://h_x/a').with { [host, port, authority] }", "[null, -1, h_x]"),
        ("new URI('/a/b?c').with { [scheme, host, authority, path] }", "[null, null, null, /a/b]"),
        ("new URI('http', 'u', 'h', 80, '/a b', 'q=1', 'f')", "http://u@h:80/a%20b?q=1#f"),
        ("new URI('http', 'h', '/a b', 'f')", "http://h/a%20b#f"),
        ("new URI('http', 'h:80', '/a', 'q', 'f')", "http://h:80/a?q#f"),
        ("new URI('http', '//h/a', 'f')", "http://h/a#f"),
        ("new URL('http', '::1', 80, '/f')", "http://[::1]:80/f"),
        ("new URL('http', 'h', -1, '/f?x')", "http://h/f?x"),
    ]);
    assert!(thrown("new URL('http://h:abc/a')").starts_with("java.net.MalformedURLException"));
    assert!(thrown("new URI('http://h/a b')").starts_with("java.net.URISyntaxException"));
}

#[test]
fn number_patterns() {
    for (pattern, number, expected) in [
        ("0", "-0.4", "-0"),
        ("0.00", "-0.001", "-0.00"),
        ("0.00", "-0.005", "-0.00"),
        ("0.00", "-0.005d", "-0.01"),
        ("0.00", "0", "0.00"),
        ("#.##", "0.5", "0.5"),
        ("#.00", "0.5", ".50"),
        ("#", "-0.4", "-0"),
        ("0%", "-0.001", "-0%"),
        ("$#,##0.00;($#,##0.00)", "-1.5", "($1.50)"),
        ("0.0;-", "-0.01", "-0.0"),
        ("''#''0", "5", "#5"),
        ("0.0#''%''", "0.5", "0.5%"),
        ("\\u2030 0", "0.5", "\u{2030} 500"),
        ("#,####", "123456789", "1,2345,6789"),
        ("0.", "5", "5."),
        ("#,##0", "Double.NEGATIVE_INFINITY", "-\u{221e}"),
    ] {
        let pattern_literal = pattern.replace("''", "\\'");
        let source = format!("new java.text.DecimalFormat('{pattern_literal}').format({number})");
        assert_eq!(groovy(&source), expected, "{pattern} of {number}");
    }
    check(&[
        (
            "def f = new java.text.DecimalFormat('0.0'); f.roundingMode = java.math.RoundingMode.HALF_UP; [f.format(0.25d), f.format(0.35d)]",
            "[0.3, 0.3]",
        ),
        (
            "def f = new java.text.DecimalFormat('#,##0.0'); [f.parse('1,234.5'), f.parse('12abc'), f.parse('-5'), f.parse('5.0')]",
            "[1234.5, 12, -5, 5]",
        ),
        (
            "def f = new java.text.DecimalFormat('#,##0.0'); f.groupingUsed = false; f.format(12345)",
            "12345.0",
        ),
        ("[String.format('%.0f', -0.4d), String.format('%.2f', -0.001)]", "[-0, -0.00]"),
    ]);
    assert_eq!(
        thrown("new java.text.DecimalFormat('0').parse('x')"),
        "java.text.ParseException: Unparseable number: \"x\""
    );
}

#[test]
fn parts_of_lists() {
    check(&[
        ("(1..7).collate(3)", "[[1, 2, 3], [4, 5, 6], [7]]"),
        ("(1..7).collate(3, 2)", "[[1, 2, 3], [3, 4, 5], [5, 6, 7], [7]]"),
        ("(1..7).collate(3, 2, false)", "[[1, 2, 3], [3, 4, 5], [5, 6, 7]]"),
        ("(1..7).collate(3, false)", "[[1, 2, 3], [4, 5, 6]]"),
        ("(1..6).collate(2, 4)", "[[1, 2], [5, 6]]"),
        ("[1, 2, 3, 4, 5].chop(1, 2)", "[[1], [2, 3]]"),
        ("[1, 2, 3, 4, 5].chop(1, -1)", "[[1], [2, 3, 4, 5]]"),
        ("[1, 2, 3].chop(2, 5)", "[[1, 2], [3]]"),
    ]);
}

#[test]
fn equality_and_hash_codes_of_java() {
    check(&[
        ("5.equals(5L) || 1.0.equals(1.00) || 5L.equals(5)", "false"),
        ("5.equals(5) && 1.0.equals(1.0) && 2.5d.equals(2.5d)", "true"),
        (
            "[[a: 1].hashCode(), ([1, 2] as Set).hashCode(), [x: null, y: [1]].hashCode()]",
            "[96, 3, 209]",
        ),
    ]);
}

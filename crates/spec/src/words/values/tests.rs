use super::*;

#[test]
fn headers_and_texts() {
    let pair = |name: &str, value: &str| Ok((name.to_owned(), value.to_owned()));
    assert_eq!(header("Accept: text/html"), pair("Accept", "text/html"));
    assert_eq!(header("Host:x:80"), pair("Host", "x:80"));
    assert_eq!(header("X-Empty:"), pair("X-Empty", ""));
    assert_eq!(header("X: {n}"), pair("X", "{n}"));
    for bad in ["Accept", ": x", "A b: c", "A\r\nB: c", "Ä: b", ""] {
        let error_text = header(bad).unwrap_err().to_string();
        assert!(error_text.contains("such as 'Accept: text/html'"), "{bad}: {error_text}");
    }
    assert!(header("A: b\nc").unwrap_err().to_string().contains("write it without"));
    assert_eq!(method("PURGE").unwrap(), "PURGE");
    assert!(method("G T").unwrap_err().to_string().contains("such as GET"));
    assert!(method("").is_err() && method("CONNECT").is_err());
}

#[test]
fn pairs() {
    assert_eq!(pair("a=b=c").unwrap(), ("a".into(), "b=c".into()));
    assert_eq!(cookie("a=1; b=2").unwrap(), "a=1; b=2");
    assert_eq!(basic("anna:a:b").unwrap(), ("anna".into(), "a:b".into()));
    assert!(pair("a").unwrap_err().to_string().contains("such as user=anna"));
    assert!(pair("=a").is_err() && cookie("a").is_err() && cookie("a=b\n").is_err());
    assert!(basic("anna").unwrap_err().to_string().contains("write USER:PASS"));
}

#[test]
fn addresses() {
    let read = |word| resolve(word).map(|r| format!("{} {} {}", r.host, r.port, r.address));
    assert_eq!(read("Example.org:443:127.0.0.1").unwrap(), "example.org 443 127.0.0.1");
    assert_eq!(read("h:80:[::1]").unwrap(), "h 80 ::1");
    assert_eq!(read("h:80:fe80::2").unwrap(), "h 80 fe80::2");
    assert_eq!(read("[::1]:80:127.0.0.2").unwrap(), "::1 80 127.0.0.2");
    for bad in ["", "h", "h:80", "h:x:127.0.0.1", "h:80:name", ":80:127.0.0.1", "h:99999:127.0.0.1"]
    {
        assert!(read(bad).unwrap_err().to_string().contains("write HOST:PORT:ADDR"), "{bad}");
    }
    assert!(address("127.0.0.2").is_ok() && address(" ::1").is_ok());
    assert!(address("eth0").unwrap_err().to_string().contains("such as 127.0.0.2,127.0.0.3"));
}

#[test]
fn proxies() {
    assert_eq!(proxy("http://127.0.0.1:3128", |_| None).unwrap(), "http://127.0.0.1:3128/");
    assert_eq!(proxy("proxy:3128", |_| None).unwrap(), "http://proxy:3128/");
    for bad in ["https://p:1", "socks5://p:1", "http://a:b@p:1", "http://p:1/x", "http://p:1/?q"] {
        let error_text = proxy(bad, |_| None).unwrap_err().to_string();
        assert!(error_text.contains("write http://"), "{bad}: {error_text}");
    }
}

#[test]
fn socks_proxies_are_refused_with_the_right_scheme() {
    for word in ["socks5://127.0.0.1:1080", "socks4a://h:1", "SOCKS5H://h:1"] {
        let error = proxy(word, |_| None).unwrap_err().to_string();
        assert!(error.contains("not to those of SOCKS; write http://"), "{word}: {error}");
    }
}

#[test]
fn versions_and_ciphers_of_tls_have_the_names_of_other_tools() {
    for word in ["1.2", "tlsv1.2", "TLS1.2", "TLSv1_2"] {
        assert_eq!(tls_version(word), Ok(TlsVersion::V12), "{word}");
    }
    for word in ["1.0", "TLSv1.1", "SSLv3", "tlsv1"] {
        let error = tls_version(word).unwrap_err().to_string();
        assert!(error.contains("TLS 1.2 and 1.3 only"), "{word}: {error}");
    }
    assert!(tls_version("new").unwrap_err().to_string().contains("write 1.2 or 1.3"));
    assert_eq!(
        tls_ciphers("ECDHE-RSA-AES128-GCM-SHA256:TLS_AES_128_GCM_SHA256").unwrap(),
        ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS13_AES_128_GCM_SHA256"]
    );
    for word in ["AES128-SHA", "RC4-MD5", "HIGH", "TLS_AES_128_GCM_SHA256,"] {
        let error = tls_ciphers(word).unwrap_err().to_string();
        assert!(error.contains("has no such cipher suite"), "{word}: {error}");
    }
}

#[test]
fn bodies_outputs_and_files() {
    assert_eq!(data("a=1", |_| None), Ok(Data::Text("a=1".into())));
    assert_eq!(data("@f", |_| None), Ok(Data::File("f".into())));
    assert_eq!(data("@-", |_| None), Ok(Data::Stdin));
    assert!(data("@", |_| None).unwrap_err().to_string().contains("write @body.json"));
    assert_eq!(output("json=a=b").unwrap().file, Some("a=b".into()));
    assert!(output("json=").unwrap_err().to_string().contains("json=run.json"));
    assert!(certificates("/no/such.pem").unwrap_err().to_string().contains("cannot be read"));
    let other = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    for (error, content) in [
        (certificates(other).unwrap_err(), "contains no certificate"),
        (private_key(other).unwrap_err(), "contains no private key"),
    ] {
        assert!(error.to_string().contains(content), "{error}");
    }
    assert!(regex("a+").is_ok());
    assert!(interval("100ms").is_ok() && interval("0").is_err() && interval("2h").is_err());
}

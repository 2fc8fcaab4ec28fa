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
fn bodies_outputs_and_files() {
    assert_eq!(data("a=1", |_| None), Ok(Data::Text("a=1".into())));
    assert_eq!(data("@f", |_| None), Ok(Data::File("f".into())));
    assert_eq!(data("@-", |_| None), Ok(Data::Stdin));
    assert!(data("@", |_| None).unwrap_err().to_string().contains("write @body.json"));
    assert_eq!(output("json=a=b").unwrap().file, Some("a=b".into()));
    assert!(output("json=").unwrap_err().to_string().contains("json=run.json"));
    assert!(pem("/no/such.pem").unwrap_err().to_string().contains("cannot be read"));
    assert!(
        pem(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
            .unwrap_err()
            .to_string()
            .contains("not PEM")
    );
    assert!(regex("a+").is_ok());
    assert!(interval("100ms").is_ok() && interval("0").is_err() && interval("2h").is_err());
}

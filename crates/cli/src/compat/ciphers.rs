//! Cipher suites by the names that OpenSSL has for them.

/// The suites that OpenSSL's names stand for; and the last name that stands for none.
pub fn known(list: &str) -> (Vec<String>, Option<String>) {
    let all = brunt_wire::tls::suites();
    let (mut found, mut unknown) = (Vec::new(), None);
    for name in list.split([':', ',', ' ']).filter(|name| !name.is_empty()) {
        match all.iter().find(|suite| openssl_name(suite) == name) {
            Some(suite) => found.push((*suite).to_owned()),
            None => unknown = Some(name.to_owned()),
        }
    }
    (found, unknown)
}

/// What OpenSSL calls a suite: `TLS_AES_256_GCM_SHA384`, `ECDHE-RSA-AES256-GCM-SHA384`.
pub fn openssl_name(suite: &str) -> String {
    if let Some(name) = suite.strip_prefix("TLS13_") {
        return format!("TLS_{name}");
    }
    let name = suite.trim_start_matches("TLS_").replace("_WITH_", "_").trim_end_matches("_SHA256").to_owned();
    let sha = if suite.contains("CHACHA20") || !suite.ends_with("_SHA256") { "" } else { "_SHA256" };
    format!("{name}{sha}").replace("AES_", "AES").replace('_', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_have_openssl_s_names() {
        for (suite, name) in [
            ("TLS13_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384"),
            ("TLS13_CHACHA20_POLY1305_SHA256", "TLS_CHACHA20_POLY1305_SHA256"),
            ("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384"),
            ("TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256"),
            ("TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305"),
        ] {
            assert_eq!(openssl_name(suite), name);
            assert!(brunt_wire::tls::suites().contains(&suite), "{suite}");
        }
    }

    #[test]
    fn what_is_unknown_is_told() {
        let (found, unknown) = known("ECDHE-RSA-AES256-GCM-SHA384:HIGH");
        assert_eq!(found, ["TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"]);
        assert_eq!(unknown.as_deref(), Some("HIGH"));
    }
}

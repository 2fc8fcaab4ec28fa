//! Translates OpenSSL's names of cipher suites.

pub use brunt_wire::tls::openssl_name;

/// Returns the suites that OpenSSL names in `list`, and the last name that matches no suite.
pub fn parse_list(list: &str) -> (Vec<String>, Option<String>) {
    let all = brunt_wire::tls::suites();
    let mut suites = Vec::new();
    let mut unknown = None;
    for name in list.split([':', ',', ' ']).filter(|name| !name.is_empty()) {
        match all.iter().find(|suite| openssl_name(suite) == name) {
            Some(suite) => suites.push((*suite).to_owned()),
            None => unknown = Some(name.to_owned()),
        }
    }
    (suites, unknown)
}

/// OpenSSL's keywords for groups of suites, and the components of
/// suite names, including unsupported ones.
const WORDS: &str = "ALL DEFAULT COMPLEMENTOFDEFAULT COMPLEMENTOFALL HIGH MEDIUM eNULL NULL aNULL kRSA aRSA RSA kDHE kEDH DHE EDH DH \
    ADH kECDHE kEECDH ECDHE EECDH ECDH AECDH aDSS DSS aECDSA ECDSA TLSv1.2 TLSv1.0 TLSv1 SSLv3 AES AES128 AES256 AESGCM AESCCM \
    AESCCM8 ARIA ARIA128 ARIA256 ARIAGCM CAMELLIA CAMELLIA128 CAMELLIA256 CHACHA20 SHA SHA1 SHA256 SHA384 PSK kPSK kRSAPSK \
    kDHEPSK kECDHEPSK aPSK SRP kSRP aSRP SUITEB128 SUITEB192";
const PARTS: &str = "ECDHE DHE RSA ECDSA DSS PSK SRP ADH AECDH AES128 AES256 GCM CCM CCM8 SHA SHA256 SHA384 CHACHA20 POLY1305 \
    CAMELLIA128 CAMELLIA256 ARIA128 ARIA256 NULL 3DES EDE CBC";

/// True if OpenSSL finds a suite for this list. If it finds none, ab ends with an error.
pub fn is_known_to_openssl(list: &str) -> bool {
    list.split([':', ',', ' ', ';']).any(adds_a_suite)
}

fn adds_a_suite(element: &str) -> bool {
    if element.is_empty() || element.starts_with(['!', '-', '+', '@']) {
        return false;
    }
    let is_ours = brunt_wire::tls::suites().iter().any(|suite| openssl_name(suite) == element);
    is_ours || is_suite_name(element) || element.split('+').all(is_keyword)
}

fn is_keyword(word: &str) -> bool {
    WORDS.split_whitespace().any(|keyword| keyword == word)
}

fn is_suite_name(name: &str) -> bool {
    name.contains('-')
        && name.split('-').all(|part| PARTS.split_whitespace().any(|known| known == part))
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

    /// Expected results are those of OpenSSL 3.0 (`openssl ciphers LIST`).
    #[test]
    fn lists_without_a_known_suite_are_detected() {
        for list in [
            "HIGH",
            "BOGUS:HIGH",
            "AES128-SHA:BOGUS",
            "ECDHE+AESGCM",
            "HIGH:!aNULL",
            "ECDHE-RSA-AES256-GCM-SHA384",
        ] {
            assert!(is_known_to_openssl(list), "{list}");
        }
        for list in ["BOGUS", "aes", "", "!aNULL", "@STRENGTH", "ECDHE+BOGUS", "high", "BOGUS-SHA"]
        {
            assert!(!is_known_to_openssl(list), "{list}");
        }
    }

    #[test]
    fn unknown_cipher_names_are_reported() {
        let (found, unknown) = parse_list("ECDHE-RSA-AES256-GCM-SHA384:HIGH");
        assert_eq!(found, ["TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"]);
        assert_eq!(unknown.as_deref(), Some("HIGH"));
    }
}

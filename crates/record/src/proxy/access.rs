//! User name and password of the proxy's clients (RFC 7617).

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::rand;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use brunt_model::numbers::hexadecimal;
use hyper::header::{HeaderMap, PROXY_AUTHORIZATION};

/// Bytes of a generated password.
const PASSWORD_BYTES: usize = 9;

/// A user name and a password.
#[derive(Clone)]
pub struct ProxyCredentials {
    user: String,
    password: String,
    is_generated: bool,
}

impl ProxyCredentials {
    /// Reads `NAME:PASSWORD`. Without a password, one is generated.
    ///
    /// # Errors
    ///
    /// A sentence with the reason, without the password.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (user, password) =
            text.split_once(':').map_or((text, None), |(user, rest)| (user, Some(rest)));
        if user.is_empty() || user.chars().any(char::is_control) {
            return Err("the user name is empty; write NAME or NAME:PASSWORD".to_owned());
        }
        let Some(password) = password else { return Self::generate(user) };
        if password.is_empty() {
            return Err("the password is empty; write NAME for a generated one".to_owned());
        }
        Ok(Self { user: user.to_owned(), password: password.to_owned(), is_generated: false })
    }

    /// Generates a password.
    pub fn generate(user: &str) -> Result<Self, String> {
        let mut bytes = [0; PASSWORD_BYTES];
        rand::fill(&mut bytes).map_err(|_| "the system provides no random numbers".to_owned())?;
        Ok(Self { user: user.to_owned(), password: hexadecimal(&bytes), is_generated: true })
    }

    /// User name.
    pub fn user(&self) -> &str {
        &self.user
    }

    /// The password if it was generated, for its user. Others are never shown.
    pub fn generated_password(&self) -> Option<&str> {
        self.is_generated.then_some(&self.password)
    }

    /// True if a request has this user name and password.
    pub(super) fn admit(&self, headers: &HeaderMap) -> bool {
        let mut fields = headers.get_all(PROXY_AUTHORIZATION).iter();
        let (Some(field), None) = (fields.next(), fields.next()) else { return false };
        let Some((scheme, encoded)) = field.to_str().ok().and_then(|text| text.split_once(' '))
        else {
            return false;
        };
        let Ok(pair) = STANDARD.decode(encoded.trim()) else { return false };
        let expected = format!("{}:{}", self.user, self.password);
        // Digests have equal lengths, and their comparison takes the same time for all of them.
        scheme.eq_ignore_ascii_case("basic")
            && verify_slices_are_equal(
                digest(&SHA256, &pair).as_ref(),
                digest(&SHA256, expected.as_bytes()).as_ref(),
            )
            .is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    fn request(value: &str) -> HeaderMap {
        HeaderMap::from_iter([(PROXY_AUTHORIZATION, HeaderValue::from_str(value).unwrap())])
    }

    #[test]
    fn only_the_exact_user_and_password_are_admitted() {
        let credentials = ProxyCredentials::parse("phone:pass:word").unwrap();
        let encoded = STANDARD.encode("phone:pass:word");
        for value in [format!("Basic {encoded}"), format!("bAsIc {encoded}")] {
            assert!(credentials.admit(&request(&value)), "{value}");
        }
        let wrong = ["phone:pass", "phone:pass:wor", "Phone:pass:word", ":pass:word", "phone:", ""];
        for pair in wrong {
            let value = format!("Basic {}", STANDARD.encode(pair));
            assert!(!credentials.admit(&request(&value)), "{pair}");
        }
        for value in [&format!("Bearer {encoded}"), &encoded, "Basic", "Basic %%"] {
            assert!(!credentials.admit(&request(value)), "{value}");
        }
        assert!(!credentials.admit(&HeaderMap::new()));
        let mut twice = request(&format!("Basic {encoded}"));
        twice.append(PROXY_AUTHORIZATION, HeaderValue::from_static("Basic eA=="));
        assert!(!credentials.admit(&twice));
    }

    #[test]
    fn a_password_is_generated_if_there_is_none() {
        let [one, other] = [0; 2].map(|_| ProxyCredentials::parse("phone").unwrap());
        assert_ne!(one.generated_password(), other.generated_password());
        assert_eq!(one.generated_password().map(str::len), Some(2 * PASSWORD_BYTES));
        assert_eq!(ProxyCredentials::parse("a:b").unwrap().generated_password(), None);
        assert!(ProxyCredentials::parse(":b").is_err());
        assert!(ProxyCredentials::parse("a:").is_err());
    }
}
